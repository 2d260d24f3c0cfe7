"""Recognises what people have that holds no objects, and names the command that prints them."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from kubesched.api import KUSTOMIZE_GROUP
from kubesched.config import quoted
from kubesched.documents import is_toml

SAVE_CLUSTER: Final = "kubesched snapshot -o cluster.json.gz"
_PROBE: Final = 4096
_TEXTS: Final = (
    (
        re.compile(rb"\AName:[ \t]+\S.*\n(?:.*\n)*?(?:Namespace|Roles|Labels|Annotations|Priority|CreationTimestamp):"),
        "what `kubectl describe` prints",
    ),
    (re.compile(rb"\ANAME +CPU\(cores\)"), "what `kubectl top` prints"),
    (re.compile(rb"\A(?:NAMESPACE +)?(?:NAME|LAST SEEN) +[A-Z][A-Z0-9 ()%/-]*\r?\n"), "a table of `kubectl get`"),
    (re.compile(rb"\A(?:\S+ +)?\S+ +(?:\d+/\d+ +[A-Z]\w+ +\d+|(?:Not)?Ready\S* +\S+ )"), "a table of `kubectl get`"),
    (re.compile(rb"\A[a-z0-9.]+/[a-z0-9.-]+\s*(?:\n|\Z)"), "the names that `kubectl get -o name` prints"),
    (re.compile(rb"\A\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE), "an HTML page, perhaps that of a login"),
)
_RELEASE: Final = re.compile(rb"\ANAME: .*\n(?:LAST DEPLOYED|NAMESPACE|STATUS): ")
_MESSAGE: Final = re.compile(
    rb"(?:error: |Error from server|Unable to connect to the server|The connection to the server|No resources found)"
    rb"[^\r\n]*"
)
_OBJECTS: Final = re.compile(rb"^\s*(?:[{\[]|apiVersion:|kind:|items:)", re.MULTILINE)
_KUSTOMIZE: Final = "`kustomize build FOLDER`"
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_PATCH: Final = re.compile(rb'"\$(?:patch|retainKeys|setElementOrder/[^"]+|deleteFromPrimitiveList/[^"]+)"\s*:')
_REQUIRED: Final = re.compile(rb'"(?:selector|labels|image|jobTemplate|serviceName)"\s*:')
"""Fields of which each whole object that has pods has one."""
PATCHED: Final = f"{_KUSTOMIZE} prints the patched objects"
_OPENSHIFT: Final = "template.openshift.io"
_KINDS: Final = {  # kind and group -> what was found, and what helps
    ("Config", ""): ("a kubeconfig", "expected {wanted}; `--kubeconfig FILE` reads the cluster that it names"),
    ("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io"): (
        "a KubeSchedulerConfiguration",
        "expected {wanted}; `--config FILE` takes the configuration",
    ),
    **{
        (kind, KUSTOMIZE_GROUP): (f"a {kind}", f"expected its objects, which {_KUSTOMIZE} prints")
        for kind in ("Kustomization", "Component")
    },
    ("PartialObjectMetadata", "meta.k8s.io"): ("only the metadata of objects", "expected {wanted}"),
    ("PartialObjectMetadataList", "meta.k8s.io"): ("only the metadata of objects", "expected {wanted}"),
    ("Table", "meta.k8s.io"): ("a Table, which has no objects", "expected {wanted}"),
    **{
        ("Template", group): ("a Template", "expected its objects, which `oc process -f FILE -o json` prints")
        for group in ("", _OPENSHIFT)
    },
}


def _wanted(*, is_manifest: bool) -> str:
    """What a command can read, with what writes it."""
    if is_manifest:
        return "manifests, such as `helm template CHART` or `kubectl get deploy NAME -o yaml` prints"
    return f"JSON or YAML, for example from `{SAVE_CLUSTER}`"


def text_hint(data: bytes, *, is_manifest: bool = False) -> str:
    """What a text is that holds no objects, with the command that prints them; empty for anything else."""
    head = data[:_PROBE].lstrip()
    wanted = _wanted(is_manifest=is_manifest)
    if _RELEASE.match(head):
        return "found what `helm install` or `helm status` prints; expected the objects, which `helm template` prints"
    if is_toml(head.decode(errors="replace")):
        return f"found TOML; expected {wanted}"
    for pattern, what in _TEXTS:
        if pattern.match(head):
            return f"found {what}; expected {wanted}"
    return _message_hint(data, head, wanted)


def _message_hint(data: bytes, head: bytes, wanted: str) -> str:
    """What to do about a message of kubectl before or after the objects, or in their place."""
    last = data[-_PROBE:].rstrip().rpartition(b"\n")[2]
    message = _MESSAGE.match(head) or _MESSAGE.match(last)
    if message is None:
        return ""
    found = f"found a message of kubectl: {quoted(message[0].decode(errors='replace'))}"
    if _OBJECTS.search(data):
        return f"{found}; expected only objects; add `2>/dev/null` to the command, if what it names may be missing"
    if message[0].startswith(b"No resources found"):
        return f"{found}; look in another namespace (-n, or -A for all), or in another --context"
    return f"{found}; expected {wanted}"


def kind_hint(kind: str | None, api_version: str | None, message: str = "", *, is_manifest: bool = False) -> str:
    """The same for a document that does not hold objects of a cluster.

    Args:
        message: the one in a Status.
    """
    wanted = _wanted(is_manifest=True) if is_manifest else f"a file such as `{SAVE_CLUSTER}` saves"
    if kind == "Status" and api_version == "v1":
        return f"found an answer of the API server without objects: {quoted(message)}; expected {wanted}"
    known = _KINDS.get((kind or "", (api_version or "").rpartition("/")[0]))
    return f"found {known[0]}; {known[1].format(wanted=wanted)}" if known else ""


def kustomize_hint(label: str, raw: bytes) -> str:
    """What to do about a manifest that is not valid and that kustomize would complete; empty for any other.

    Args:
        label: of its file.
        raw: its JSON.
    """
    if _PATCH.search(raw):
        return f"it is a patch; {PATCHED}"
    folder = Path(label).parent
    if any((folder / name).is_file() for name in _KUSTOMIZATIONS):
        return f"its folder has a kustomization, and {_KUSTOMIZE} prints the whole objects"
    return f"if it is a patch, {PATCHED}" if b'"spec"' in raw and not _REQUIRED.search(raw) else ""


def unnamed_hint(keys: Collection[str], label: str = "") -> str:
    """What to do about a document without a kind; empty for one that looks like an object.

    Args:
        keys: of the document.
        label: of its file.
    """
    if label.rpartition("/")[2] in _KUSTOMIZATIONS:
        return f"it is a Kustomization; {_KUSTOMIZE} prints its objects"
    if {"op", "path"} <= set(keys):
        return f"it is a JSON patch; if it belongs to a kustomization, {PATCHED}"
    if not keys or "metadata" in keys:
        return ""
    if "services" in keys and "apiVersion" not in keys:
        return "if it is a Compose file, `kompose convert` writes the objects"
    return "if it belongs to a Helm chart, `helm template CHART` prints the objects"


def broken_hint(data: bytes, *, is_manifest: bool = False) -> str:
    """What to do about a text that does not parse; empty where it looks like objects."""
    if _OPENSHIFT.encode() in data:
        return "it looks like a Template; print its objects with `oc process -f FILE -o json`"
    if is_template(data):
        return "it looks like a template; print its objects with `helm template CHART`"
    return "" if _OBJECTS.search(data) else f"it has no Kubernetes objects; expected {_wanted(is_manifest=is_manifest)}"


def is_template(data: bytes, line: int = 0) -> bool:
    """Whether a text that does not parse is the template of an object.

    Args:
        line: the one that does not parse, from 1; 0 to look at the whole text.
    """
    return b"{{" in (b"".join(data.splitlines()[max(line - 2, 0) : line + 1]) if line else data)
