"""Which facts of a device decide about an expression.

Devices differ in facts that selectors do not read, such as a UUID. `Reads.project` makes them equal.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kubesched.cel.device_paths import DEVICE_ALIASES, Aliases, is_fact, nodes_below, path_of, qualified
from kubesched.cel.device_value import DeviceValue
from kubesched.cel.syntax_tree import Constant, Expression, FunctionCall, MacroCall, MacroKind

_NOTHING: Final[frozenset[str]] = frozenset()


class Reads(msgspec.Struct, frozen=True):
    """Facts of a device.

    Attributes:
        attributes: `domain/identifier` of each; None for all of them.
        capacity: same.
    """

    driver: bool = False
    allow_multiple_allocations: bool = False
    attributes: frozenset[str] | None = _NOTHING
    capacity: frozenset[str] | None = _NOTHING

    def __or__(self, other: "Reads") -> "Reads":
        """What two selectors read together."""
        return Reads(
            self.driver or other.driver,
            self.allow_multiple_allocations or other.allow_multiple_allocations,
            _union(self.attributes, other.attributes),
            _union(self.capacity, other.capacity),
        )

    def project(self, device: DeviceValue) -> tuple[Any, ...]:
        """The facts of a device. Devices with equal ones get equal answers, and equal errors."""
        return (
            device.driver if self.driver else None,
            device.allow_multiple_allocations if self.allow_multiple_allocations else None,
            _projected(device.attributes, self.attributes),
            _projected(device.capacity, self.capacity),
        )


_EVERYTHING: Final = Reads(True, True, None, None)


def _union(left: frozenset[str] | None, right: frozenset[str] | None) -> frozenset[str] | None:
    return None if left is None or right is None else left | right


def _projected(domains: Mapping[str, Mapping[str, Any]], names: frozenset[str] | None) -> tuple[Any, ...]:
    """Values with their classes, because True is equal to 1."""
    if names is None:
        return tuple(
            (domain, identifier, type(value), value)
            for domain, values in sorted(domains.items())
            for identifier, value in sorted(values.items(), key=lambda item: item[0])
        )
    return tuple(_value(domains, name) for name in sorted(names))


def _value(domains: Mapping[str, Mapping[str, Any]], name: str) -> tuple[type, Any] | None:
    domain, _, identifier = name.partition("/")
    value = domains.get(domain, {}).get(identifier)
    return None if value is None else (type(value), value)


def reads_of(tree: Expression) -> Reads:
    """What an expression reads; more than that where it is not clear."""
    return _reads(tree, DEVICE_ALIASES)


def _reads(node: Expression, aliases: Aliases) -> Reads:
    path = path_of(node, aliases)
    if path is not None:
        return _read(path)
    match node:
        case FunctionCall(function="@in", arguments=[Constant(value=str(key)), collection]):
            whole = path_of(collection, aliases)
            if whole is not None and is_fact((*whole, key)):
                return _read((*whole, key))
        case MacroCall(kind=MacroKind.BIND) if path_of(node.operand, aliases) is not None:
            *_, (body, inner) = nodes_below(node, aliases)
            return _reads(body, inner)
        case _:
            pass
    result = Reads()
    for child, inner in nodes_below(node, aliases):
        result |= _reads(child, inner)
    return result


def _read(path: tuple[str, ...]) -> Reads:
    """What a part of the device reads: one fact, or all below it."""
    match path:
        case ("driver",):
            return Reads(driver=True)
        case ("allowMultipleAllocations",):
            return Reads(allow_multiple_allocations=True)
        case ("attributes", *_):
            return Reads(attributes=frozenset({qualified(path)}) if is_fact(path) else None)
        case ("capacity", *_):
            return Reads(capacity=frozenset({qualified(path)}) if is_fact(path) else None)
        case _:
            return _EVERYTHING
