"""Recognises text that people have and that holds no objects, and names the command that prints them."""

import re
from typing import Final

__all__ = ["SAVE_CLUSTER", "kind_hint", "text_hint"]

SAVE_CLUSTER: Final = "kubesched snapshot -o cluster.json.gz"
_PROBE: Final = 4096
_DESCRIBED: Final = re.compile(
    rb"\AName:[ \t]+\S.*\n(?:.*\n)*?(?:Namespace|Roles|Labels|Annotations|Priority|CreationTimestamp):"
)
_TABLE: Final = re.compile(rb"\A(?:NAMESPACE +)?NAME +[A-Z][A-Z0-9 ()%/-]*\r?\n")
_FAILURE: Final = re.compile(
    rb"\A(?:error: |Error from server|Unable to connect to the server|The connection to the server|No resources found)"
    rb"[^\r\n]*"
)
_OPENSHIFT: Final = "template.openshift.io"


def text_hint(data: bytes) -> str:
    """What a text is that holds no objects, with the command that prints them; empty for anything else."""
    head = data[:_PROBE].lstrip()
    if _DESCRIBED.match(head):
        return f"found what `kubectl describe` prints; expected JSON or YAML, for example from `{SAVE_CLUSTER}`"
    if _TABLE.match(head):
        return f"found a table of `kubectl get`; expected JSON or YAML, for example from `{SAVE_CLUSTER}`"
    if failure := _FAILURE.match(head):
        return f"found a message of kubectl: {failure[0].decode(errors='replace')!r}; expected JSON or YAML"
    return ""


def kind_hint(kind: str | None, api_version: str | None, message: str = "") -> str:
    """The same for a document that does not hold objects of a cluster.

    Args:
        message: the one in a Status.
    """
    group = (api_version or "").rpartition("/")[0]
    if kind == "Table" and group == "meta.k8s.io":
        return f"found a Table, which has no objects; expected a file such as `{SAVE_CLUSTER}` saves"
    if kind == "Template" and group in ("", _OPENSHIFT):
        return "found a Template; expected its objects, which `oc process -f FILE -o json` prints"
    if kind == "Status" and api_version == "v1":
        return f"found an answer of the API server without objects: {message!r}"
    return ""
