"""Edits objects: the decoded fields and the JSON that they were decoded from change together."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from kubesched.api.kinds import decode_object, kind_of
from kubesched.api.meta import KubeObject
from kubesched.api.pod import Pod

ObjectT = TypeVar("ObjectT", bound=KubeObject)


def edited(known: ObjectT, **fields: object) -> ObjectT:
    """The object with other fields. What they replace in its JSON changes; fields that are not decoded stay.

    Example:
        pod = edited(pod, spec=msgspec.structs.replace(pod.spec, node_name="n1"))
    """
    after = msgspec.structs.replace(known, **fields)
    source = known.__dict__.get("raw_source")
    if source is not None:
        if type(source) is _EditedJson:
            bytes(source)  # so that no chain of edits grows
        after.__dict__["raw_source"] = _EditedJson(known, after, fields)
    return after


class _EditedJson:
    """The JSON of an edited object. It is written when it is asked for, because most edits of a simulation are not."""

    __slots__ = ("_edit", "_json")

    def __init__(self, known: KubeObject, after: KubeObject, fields: Iterable[str]) -> None:
        self._json = b""
        self._edit: tuple[KubeObject, dict[str, tuple[object, object]]] | None = (
            known,
            {field: (getattr(known, field), getattr(after, field)) for field in fields},
        )

    def __bytes__(self) -> bytes:
        if self._edit is not None:
            known, fields = self._edit
            names = dict(zip(known.__struct_fields__, known.__struct_encode_fields__, strict=True))
            document = known.document
            for field, values in fields.items():
                name, (old, new) = names[field], map(msgspec.to_builtins, values)
                if old != new:
                    document[name] = _merged(document.get(name), old, new)
            self._json, self._edit = msgspec.json.encode(document), None
        return self._json


def rewritten(known: ObjectT, edit: Callable[[dict[str, Any]], object]) -> ObjectT:
    """The object that its JSON decodes to after an edit, for fields that are not decoded.

    Args:
        edit: changes the whole object, as plain dicts and lists, in place.

    Example:
        pod = rewritten(pod, lambda document: document["metadata"].pop("managedFields", None))
    """
    document = known.document
    edit(document)
    after = decode_object(kind_of(known), msgspec.json.encode(document))
    assert isinstance(after, type(known))
    return after


def on_node(pod: Pod, node: str) -> Pod:
    """The pod on a node, or on none if it is empty; without its nomination, which would keep room for it again.

    As two calls of `edited`, at half the time: a comparison takes all pods off their nodes.
    """
    spec = msgspec.structs.replace(pod.spec, node_name=node)
    after = msgspec.structs.replace(pod, spec=spec, status=msgspec.structs.replace(pod.status, nominated_node_name=""))
    if "raw_source" in pod.__dict__:
        document = pod.document
        spec_document = document["spec"] = document["spec"] or {}
        spec_document.pop("nodeName", None)
        spec_document |= {"nodeName": node} if node else {}
        (document.get("status") or {}).pop("nominatedNodeName", None)
        after.__dict__["raw_source"] = msgspec.json.encode(document)
    return after


def _merged(document: Any, old: Any, new: Any) -> Any:
    """The part of a document with what changed between two readings of it; fields that are not decoded stay."""
    if old == new:
        return document
    if isinstance(document, dict) and isinstance(old, dict) and isinstance(new, dict):
        kept = {name: value for name, value in document.items() if name in new or name not in old}
        changed = {name: value for name, value in new.items() if name not in old or old[name] != value}
        return kept | {name: _merged(document.get(name), old.get(name), value) for name, value in changed.items()}
    if isinstance(document, list) and isinstance(old, tuple) and isinstance(new, tuple) and len(document) == len(old):
        if len(old) == len(new):
            return [_merged(*three) for three in zip(document, old, new, strict=True)]
        return [document[old.index(item)] if item in old else item for item in new]
    return new
