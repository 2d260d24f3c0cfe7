"""Commands for a shell: those of kubectl that take the steps of a fix, and those to run next.

Names and values come from a cluster: a shell must not run them. What Kubernetes does not allow as a name is in none.
"""

import json
import shlex
from collections.abc import Iterator
from typing import Any, Literal

from msgspec.structs import replace

from kubesched.api import KubeObject, Namespace, Node, Patch, PatchTarget, Taint, is_label_value, is_object_key, type_of
from kubesched.controllers import CORDON
from kubesched.documents import on_one_line

Type = Literal["merge", "strategic"]


def target_of(known: KubeObject) -> PatchTarget:
    """An object as what a step changes."""
    version, kind = type_of(known)
    return PatchTarget(version, kind, known.namespace, known.name)


def command_lines(*words: str, names: tuple[str, ...] = (), comment: str = "") -> tuple[str, ...]:
    """A line for a shell, below its comment; none if Kubernetes does not allow one of the names in it.

    Args:
        words: quoted where that is needed, the names among them.
    """
    return (*comments(comment), shlex.join(words)) if all(map(is_object_key, names)) else ()


def command_about(command: str, *names: str) -> str:
    """A command with names of objects behind it, such as `kubesched explain cluster.json --pod shop/web-7`.

    Args:
        command: quoted for a shell; empty for none.
    Returns:
        empty without a command or a name, or if Kubernetes does not allow a name.
    """
    return " ".join([command, *names]) if command and names and all(map(is_object_key, names)) else ""


def comments(text: str) -> tuple[str, ...]:
    """A text as a comment for a shell; none for no text."""
    return (f"# {on_one_line(text)}",) if text else ()


def in_namespace(target: PatchTarget) -> tuple[str, ...]:
    """The option with the namespace of an object."""
    return ("-n", target.namespace) if target.namespace else ()


def names_of(target: PatchTarget) -> tuple[str, ...]:
    """The names in a command about an object."""
    return (target.name, *([target.namespace] if target.namespace else []))


def patching(
    text: str, target: PatchTarget, body: dict[str, Any], type: Type, comment: str = "", *, subresource: str = ""
) -> Patch:
    """The step that patches an object, or a subresource of it, such as its status."""
    kind, part = target.kind.lower(), ("--subresource", subresource) if subresource else ()
    words = ("kubectl", "patch", kind, target.name, *in_namespace(target), *part, "--type", type, "-p", _json(body))
    return Patch(text, target, "patch", body, type, command_lines(*words, names=names_of(target), comment=comment))


def only_shown(patch: Patch) -> Patch:
    """A step whose commands are comments: pasted with others, they change nothing."""
    return replace(patch, commands=tuple(line if line.startswith("# ") else f"# {line}" for line in patch.commands))


def creating(text: str, new: KubeObject) -> Patch:
    """The step that creates an object."""
    target = target_of(new)
    body = {**new.document, "apiVersion": target.api_version, "kind": target.kind}
    line = f"{shlex.join(['echo', _json(body)])} | kubectl create -f -"
    return Patch(text, target, "create", body, "merge", (line,) if all(map(is_object_key, names_of(target))) else ())


def recreating(text: str, target: PatchTarget, body: dict[str, Any], type: Type, comment: str) -> Patch:
    """The step that deletes an object and creates it with a patch."""
    get = shlex.join(["kubectl", "get", target.kind.lower(), target.name, *in_namespace(target), "-o", "yaml"])
    edit = shlex.join(["kubectl", "patch", "--local", "-f", "-", "--type", type, "-p", _json(body), "-o", "yaml"])
    line = f"{get} | {edit} | kubectl replace --force -f -"
    lines = (*comments(comment), line) if all(map(is_object_key, names_of(target))) else ()
    return Patch(text, target, "recreate", body, type, lines)


def deleting(text: str, target: PatchTarget, comment: str) -> Patch:
    """The step that deletes an object."""
    words = ("kubectl", "delete", target.kind.lower(), target.name, *in_namespace(target))
    return Patch(text, target, "delete", commands=command_lines(*words, names=names_of(target), comment=comment))


def on_object(text: str, target: PatchTarget, old: KubeObject, body: dict[str, Any]) -> Patch:
    """The step that patches an object of the cluster, with the command that kubectl has for it."""
    patch = patching(text, target, body, "merge")
    if not patch.commands:
        return patch
    lines: tuple[str, ...] = ()
    if isinstance(old, Node):
        lines = tuple(_node_commands(target.name, old, body))
    elif isinstance(old, Namespace):
        lines = tuple(_namespace_commands(target.name, body))
    return Patch(text, target, "patch", body, "merge", lines) if lines else patch


def _node_commands(name: str, old: Node, body: dict[str, Any]) -> Iterator[str]:
    spec, labels = body.get("spec") or {}, (body.get("metadata") or {}).get("labels") or {}
    if "unschedulable" in spec:
        yield f"kubectl uncordon {name}"
    if "taints" in spec:
        kept = [(one.get("key"), one.get("value") or "", one.get("effect")) for one in spec["taints"] or ()]
        gone = (one for one in old.taints if (one.key, one.value, one.effect) not in kept and one.key != CORDON.key)
        for one in gone:
            yield from comments("opens the node to every pod")
            yield shlex.join(["kubectl", "taint", "nodes", name, _removed(one)])
    for key, value in labels.items():
        change = ["--overwrite"] if key in old.labels else []
        yield from comments("" if is_label_value(value) else "fill in the value")
        yield shlex.join(["kubectl", "label", "nodes", name, f"{key}={value}", *change])


def _namespace_commands(name: str, body: dict[str, Any]) -> Iterator[str]:
    metadata = body.get("metadata") or {}
    for key, value in (metadata.get("labels") or {}).items():
        yield shlex.join(["kubectl", "label", "namespace", name, f"{key}={value}", "--overwrite"])
    for key, value in (metadata.get("annotations") or {}).items():
        yield shlex.join(["kubectl", "annotate", "namespace", name, f"{key}={value}", "--overwrite"])


def _removed(taint: Taint) -> str:
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}-"


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body, separators=(",", ":"), sort_keys=True)
