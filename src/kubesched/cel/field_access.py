"""Fields, indexes and membership: what an expression reads from a value."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Final

from kubesched.cel.cel_values import (
    LISTS,
    MAPS,
    NO_SUCH_OVERLOAD,
    NONE,
    DeviceDomains,
    OptionalValue,
    Uint,
    is_equal,
    key_of,
)
from kubesched.cel.device_value import DeviceValue
from kubesched.errors import CelRuntimeError

_ABSENT: Final = object()
_READERS: Final = {
    "driver": attrgetter("driver"),
    "attributes": attrgetter("attributes"),
    "capacity": attrgetter("capacity"),
    "allowMultipleAllocations": attrgetter("allow_multiple_allocations"),
}


def no_such_key(key: Any) -> CelRuntimeError:
    """The error of a field, index or key that is not there."""
    return CelRuntimeError(f"no such key: {shown(key)}")


def shown(value: Any) -> str:
    """A value as errors name it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def field_of(value: Any, name: str) -> Any:
    """`value.name`; of an optional value it is optional.

    Raises:
        CelRuntimeError: there is no such field.
    """
    if type(value) is OptionalValue:
        return optional_field_of(value, name)
    found = _field(value, name)
    if found is _ABSENT:
        raise no_such_key(name)
    return found


def _field(value: Any, name: str) -> Any:
    kind = type(value)
    if kind is dict:
        return value.get(name, _ABSENT)
    if kind is DeviceDomains:
        return value[name]
    if kind is DeviceValue and name in _READERS:
        return _READERS[name](value)
    return _ABSENT


def has_field(value: Any, name: str) -> bool:
    """`has(value.name)`."""
    if type(value) is OptionalValue:
        return value.is_there and has_field(value.value, name)
    return _field(value, name) is not _ABSENT


def optional_field_of(value: Any, name: str) -> OptionalValue:
    """`value.?name`."""
    if type(value) is OptionalValue:
        return optional_field_of(value.value, name) if value.is_there else NONE
    found = _field(value, name)
    return NONE if found is _ABSENT else _as_optional(found)


def _as_optional(value: Any) -> OptionalValue:
    return value if type(value) is OptionalValue else OptionalValue(value, is_there=True)


def element_of(value: Any, index: Any) -> Any:
    """`value[index]`; of an optional value it is optional.

    Raises:
        CelRuntimeError: there is no such element.
    """
    if type(value) is OptionalValue:
        return optional_element_of(value, index)
    found = _element(value, index)
    if found is _ABSENT:
        raise CelRuntimeError(f"index out of bounds: {index}") if type(value) in LISTS else no_such_key(index)
    return found


def optional_element_of(value: Any, index: Any) -> OptionalValue:
    """`value[?index]`."""
    if type(value) is OptionalValue:
        return optional_element_of(value.value, index) if value.is_there else NONE
    found = _element(value, index)
    return NONE if found is _ABSENT else _as_optional(found)


def _element(value: Any, index: Any) -> Any:
    kind = type(value)
    if kind is DeviceDomains and type(index) is str:
        return value[index]
    if kind in MAPS:
        return value.get(key_of(index), _ABSENT)
    if kind in LISTS:
        position = _position(index)
        return value[position] if 0 <= position < len(value) else _ABSENT
    return _ABSENT


def _position(index: Any) -> int:
    if type(index) in (int, Uint):
        return int(index)
    if type(index) is float and index.is_integer():
        return int(index)
    name = {str: "string", bool: "bool", float: "double", bytes: "bytes"}.get(type(index), "unknown")
    raise CelRuntimeError(f"unsupported index type '{name}' in list")


def is_element(value: Any, collection: Any) -> bool:
    """`value in collection`.

    Raises:
        CelRuntimeError: the collection is none.
    """
    kind = type(collection)
    if kind in MAPS:
        return key_of(value) in collection
    if kind in LISTS:
        return is_equal_to_any(value, collection)
    raise CelRuntimeError(NO_SUCH_OVERLOAD)


def is_equal_to_any(value: Any, elements: Iterable[Any]) -> bool:
    """Whether one of the elements is equal to a value."""
    return any(is_equal(value, element) for element in elements)
