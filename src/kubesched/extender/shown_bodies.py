"""Requests and answers for the debug log: the fields that scheduling reads, and `[hidden]` for everything else.

Pods carry passwords under any name: in env, args and annotations, and in fields that a later Kubernetes adds. So a
field is shown only if it belongs to the protocol, or if `kubesched.api` decodes it of a pod or a node.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import inspect

from kubesched.api import Node, Pod
from kubesched.wire import Body, HostPriority, MetaVictims

_HIDDEN: Final = "[hidden]"
_MAX_CHARACTERS: Final = 64 * 1024


class _Shown(msgspec.Struct, frozen=True):
    """What is shown of one JSON value; by default nothing.

    Attributes:
        is_plain: whether texts, numbers and booleans are.
        fields: what is shown of an object's fields, by lower-case name.
        entries: what is shown of an object's other fields.
        items: what is shown of a list's items.
    """

    is_plain: bool = False
    fields: Mapping[str, "_Shown"] = {}
    entries: "_Shown | None" = None
    items: "_Shown | None" = None


_NOTHING: Final = _Shown()
_KEYS_ONLY: Final = _Shown(entries=_NOTHING)
_NARROWED: Final = {"annotations": _KEYS_ONLY, "message": _NOTHING}  # fields whose values are free text


class _NodeList(msgspec.Struct):
    items: tuple[Node, ...]


class _Victims(msgspec.Struct, rename="pascal"):
    pods: tuple[Pod, ...]
    num_pdb_violations: int


class _Message(msgspec.Struct, rename="pascal"):
    """The fields of all requests and answers that are objects; the case of their letters does not matter."""

    pod: Pod
    nodes: _NodeList
    node_names: tuple[str, ...]
    node_name_to_victims: dict[str, _Victims]
    node_to_victims: dict[str, _Victims]
    node_name_to_meta_victims: dict[str, MetaVictims]
    pod_name: str
    pod_namespace: str
    pod_uid: str
    node: str
    failed_nodes: dict[str, str]
    failed_and_unresolvable_nodes: dict[str, str]
    error: str


def shown_body(body: Body) -> str:
    """Return the JSON of a request or an answer with what scheduling does not read hidden; never raises.

    Long text is cut. Of a body that is not JSON only the length is shown, since its content is unknown.
    """
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return f"[{len(body)} bytes that are not JSON]"
    except RecursionError:
        return f"[{len(body)} bytes of JSON that is nested too deep to be shown]"
    text = msgspec.json.encode(_visible(document, _BODY)).decode()
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[:_MAX_CHARACTERS]}... [{len(text) - _MAX_CHARACTERS} more characters]"


def _visible(value: object, shown: _Shown) -> object:
    """Copy a JSON value, no deeper than what is shown of it."""
    if isinstance(value, dict) and (shown.fields or shown.entries):
        others = shown.entries or _NOTHING
        return {key: _visible(entry, shown.fields.get(key.lower(), others)) for key, entry in value.items()}
    if isinstance(value, list) and shown.items:
        return [_visible(item, shown.items) for item in value]
    is_shown = value is None or (shown.is_plain and isinstance(value, str | int | float))
    return value if is_shown else _HIDDEN


def _all_of(kind: inspect.Type) -> _Shown:
    """Everything that a type decodes, but for free text."""
    if isinstance(kind, inspect.UnionType):
        return _all_of(next(one for one in kind.types if not isinstance(one, inspect.NoneType)))
    if isinstance(kind, inspect.StructType):
        names = {field.encode_name: field.type for field in kind.fields}
        return _Shown(fields={name.lower(): _NARROWED.get(name) or _all_of(one) for name, one in names.items()})
    if isinstance(kind, inspect.DictType):
        return _Shown(entries=_all_of(kind.value_type))
    if isinstance(kind, inspect.VarTupleType):
        return _Shown(items=_all_of(kind.item_type))
    return _Shown(is_plain=True)


_BODY: Final = _Shown(
    fields=_all_of(inspect.type_info(_Message)).fields, items=_all_of(inspect.type_info(HostPriority))
)
