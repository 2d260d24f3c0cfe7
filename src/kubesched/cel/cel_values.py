"""Values of expressions that Python has no type for, and equality between all of them.

Python's int, float, str, bytes, bool, None, list and dict are CEL's int, double, string, bytes, bool, null, list and
map. A bool as a key of a map is a `BoolKey`, because Python's True is its 1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.semantic_versions import Semver
from kubesched.errors import CelRuntimeError

NO_SUCH_OVERLOAD: Final = "no such overload"


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


class BoolKey(Enum):
    """A bool as the key of a map."""

    FALSE = False
    TRUE = True


class DeviceDomains(dict[str, Mapping[str, Any]]):
    """Attributes or capacities by domain. A domain that does not exist is empty, not an error."""

    def __missing__(self, domain: str) -> Mapping[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: `type(1) == int`."""

    name: str


@dataclass(frozen=True, slots=True)
class OptionalValue:
    """A value that may be absent."""

    value: Any = None
    is_there: bool = False


NONE: Final = OptionalValue()


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A timestamp.

    Attributes:
        nanos: since 1970, in UTC.
        offset: seconds from UTC of the zone that it was written in.
    """

    nanos: int
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class TimeSpan:
    """A duration."""

    nanos: int


NUMBERS: Final = frozenset({int, Uint, float})
LISTS: Final = frozenset({list})
MAPS: Final = frozenset({dict, DeviceDomains})
_LONGEST_KEY: Final = 1000
_PLAIN: Final = frozenset({str, int, bool, float, bytes, type(None), Uint, Moment, TimeSpan, TypeValue})
_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    dict: "map",
    DeviceDomains: "map",
    Moment: "google.protobuf.Timestamp",
    TimeSpan: "google.protobuf.Duration",
    TypeValue: "type",
    OptionalValue: "optional_type",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
}


_CLASSES: Final[dict[str, frozenset[type]]] = {
    "duration": frozenset({TimeSpan}),
    "list": LISTS,
    "map": MAPS,
    "null": frozenset({type(None)}),
    "timestamp": frozenset({Moment}),
}


def register_type(cls: type, name: str) -> None:
    """Give a class of values the name of its type."""
    _TYPE_NAMES[cls] = name


def classes_of(type_name: str) -> frozenset[type] | None:
    """The Python classes of the values of a type, None for types that any value has."""
    if type_name in _CLASSES:
        return _CLASSES[type_name]
    return frozenset(cls for cls, name in _TYPE_NAMES.items() if name == type_name) or None


def type_name(value: Any) -> str:
    """The name of a value's type. The device is a map, as upstream has it."""
    return _TYPE_NAMES[type(value)]


_TO_BOOL: Final = {
    "bytes": "type conversion error from Bytes to 'bool'",
    "double": "type conversion error from Double to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "string": "unsupported native conversion from string to 'bool'",
    "type": "type conversion not supported for 'type'",
    "uint": "unsupported type conversion from 'uint' to bool",
}


def not_a_bool(value: Any) -> CelRuntimeError:
    """The error of an expression whose value is not a bool."""
    name = type_name(value)
    reason = _TO_BOOL.get(name, f"type conversion error from '{name.rpartition('.')[2]}' to 'bool'")
    return CelRuntimeError(f"CEL result of type {name} could not be converted to bool: {reason}")


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal.

    Raises:
        CelRuntimeError: the left one is of a type of Kubernetes, such as a version, and the right one is not.
    Rule: cel-go v0.26 (types.Equal): numbers compare by value, different types are not equal. Types of Kubernetes
        compare with their own only, except with null.
    """
    kind, other = type(left), type(right)
    if kind in _PLAIN:
        return bool(left == right) and (kind is other or (kind in NUMBERS and other in NUMBERS))
    if kind in LISTS:
        return other in LISTS and len(left) == len(right) and all(map(equal, left, right))
    if kind in MAPS:
        return other in MAPS and _equal_maps(left, right)
    if kind is OptionalValue:
        return other is OptionalValue and left.is_there == right.is_there and equal(left.value, right.value)
    if other is not kind and right is not None:
        raise CelRuntimeError(NO_SUCH_OVERLOAD)
    return bool(left == right)


def is_equal(left: Any, right: Any) -> bool:
    """Whether two values are equal; those that cannot be compared are not."""
    try:
        return equal(left, right)
    except CelRuntimeError:
        return False


def _equal_maps(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    return len(left) == len(right) and all(key in right and equal(value, right[key]) for key, value in left.items())


def key_of(value: Any) -> Any:
    """A value as the key of a map.

    Raises:
        CelRuntimeError: it cannot be one, such as a map.
    """
    kind = type(value)
    if kind is str:
        return value
    if kind is bool:
        return BoolKey(value)
    if kind in LISTS:
        if len(value) > _LONGEST_KEY:
            raise CelRuntimeError("operation cancelled: actual cost limit exceeded", is_final=True)
        return tuple(map(key_of, value))
    try:
        hash(value)
    except TypeError:
        raise CelRuntimeError(f"unsupported key type: {type_name(value)}") from None
    return value


def keys_of(values: Mapping[Any, Any]) -> Iterator[Any]:
    """The keys of a map as values."""
    return map(_value_of, values)


def _value_of(key: Any) -> Any:
    if type(key) is BoolKey:
        return key.value
    return list(map(_value_of, key)) if type(key) is tuple else key
