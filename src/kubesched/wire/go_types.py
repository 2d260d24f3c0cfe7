"""Why kube-scheduler rejects an answer, in the words of Go's JSON decoder: users search for them.

The readers of answers do not use this module until one of them fails. Rule: encoding/json of Go 1.26 with the types of
k8s.io/kube-scheduler v0.36 extender/v1: an error of the syntax comes first, then the first value of a wrong type. Of a
node, only the fields that are read are checked.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubesched.wire.json_syntax import syntax_error
from kubesched.wire.protocol_values import Body, Raw
from kubesched.wire.reading import ANY, OBJECT, RAWS, folded

_MAX_SCANNED: Final = 4 * 2**20  # takes a second; the scheduler waits
_KINDS: Final = {b"{": "object", b"[": "array", b'"': "string", b"t": "bool", b"f": "bool", b"n": "null"}


class GoType(msgspec.Struct, frozen=True):
    """A Go type.

    Attributes:
        name: as Go writes it.
        kind: the JSON that it takes.
        items: what an array or the values of a map have to be.
        fields: those of a struct, by name.
    """

    name: str
    kind: str
    items: "GoType | None" = None
    fields: Mapping[str, "GoType"] = {}


_STRING: Final = GoType("string", "string")
_INT64: Final = GoType("int64", "number")
_REASONS: Final = GoType("v1.FailedNodesMap", "object", _STRING)
_META_POD: Final = GoType("v1.MetaPod", "object", fields={"UID": _STRING})
_META_VICTIMS: Final = GoType(
    "v1.MetaVictims",
    "object",
    fields={"Pods": GoType("[]*v1.MetaPod", "array", _META_POD), "NumPDBViolations": _INT64},
)
NODE: Final = GoType(
    "v1.Node", "object", fields={"metadata": GoType("v1.ObjectMeta", "object", fields={"name": _STRING})}
)
FILTER_RESULT: Final = GoType(
    "v1.ExtenderFilterResult",
    "object",
    fields={
        "Nodes": GoType("v1.NodeList", "object", fields={"items": GoType("[]v1.Node", "array", NODE)}),
        "NodeNames": GoType("[]string", "array", _STRING),
        "FailedNodes": _REASONS,
        "FailedAndUnresolvableNodes": _REASONS,
        "Error": _STRING,
    },
)
HOST_PRIORITIES: Final = GoType(
    "v1.HostPriorityList",
    "array",
    GoType("v1.HostPriority", "object", fields={"Host": _STRING, "Score": _INT64}),
)
PREEMPTION_RESULT: Final = GoType(
    "v1.ExtenderPreemptionResult",
    "object",
    fields={"NodeNameToMetaVictims": GoType("map[string]*v1.MetaVictims", "object", _META_VICTIMS)},
)
BINDING_RESULT: Final = GoType("v1.ExtenderBindingResult", "object", fields={"Error": _STRING})


def go_error(body: Body, value: Body | Raw, expected: GoType, field: str = "") -> str:
    """What Go's decoder says of an answer; empty where it accepts the answer.

    Args:
        body: what to check the syntax of.
        value: its first value, in UTF-8.
        field: where the value is: a struct, and the path to the value from the outermost struct.
    """
    try:
        return _syntax_error(body) or _type_error(value, expected, field)
    except (msgspec.DecodeError, ValueError, RecursionError):  # for example half a surrogate pair, which Go replaces
        return ""


def _syntax_error(body: Body) -> str:
    if len(body) <= _MAX_SCANNED:
        return syntax_error(bytes(body))
    try:
        ANY.decode(body)
    except msgspec.DecodeError as error:
        return "unexpected EOF" if "truncated" in str(error) else str(error)
    return ""


def _type_error(value: Body | Raw, expected: GoType, field: str) -> str:
    kind = _KINDS.get(bytes(memoryview(value)[:1]), "number")
    if kind == "null":
        return ""
    if kind != expected.kind:
        return _cannot(kind, expected, field)
    if expected is _INT64:
        text = bytes(value).decode()
        is_int64 = text.lstrip("-").isdecimal() and len(text) <= 20 and -(2**63) <= int(text) < 2**63
        return "" if is_int64 else _cannot(f"number {text}", expected, field)
    return next(filter(None, (_type_error(*part) for part in _parts(value, expected, field))), "")


def _parts(value: Body | Raw, expected: GoType, field: str) -> Iterator[tuple[Raw, GoType, str]]:
    """What a value consists of: values, their types, and where they are."""
    if expected.kind == "array" and expected.items:
        yield from ((item, expected.items, field) for item in RAWS.decode(value) or [])
    elif expected.kind == "object":
        fields = {folded(name): (name, type_) for name, type_ in expected.fields.items()}
        struct, path = expected.name.removeprefix("v1."), field.partition(".")[2]
        for key, part in OBJECT.decode(value).items():
            if expected.items:
                yield part, expected.items, field
            elif folded(key) in fields:
                name, type_ = fields[folded(key)]
                yield part, type_, f"{struct}.{path}.{name}" if path else f"{struct}.{name}"


def _cannot(kind: str, expected: GoType, field: str) -> str:
    place = f"Go struct field {field}" if field else "Go value"
    return f"json: cannot unmarshal {kind} into {place} of type {expected.name}"
