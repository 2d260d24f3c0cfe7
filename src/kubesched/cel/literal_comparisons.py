"""Finds the comparisons of a device's facts with literals, and where the literals are in the text.

A fix changes such a literal, and an explanation names it: memory is 40Gi, the claim wants >= 80Gi.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

import msgspec

from kubesched.cel.device_paths import DEVICE_ALIASES, Aliases, Path, is_fact, nodes_below, path_of, qualified
from kubesched.cel.device_value import AttributeValue, DeviceValue
from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.semantic_versions import Semver
from kubesched.cel.syntax_tree import Constant, Expression, FunctionCall, ListDisplay, MacroCall, Select
from kubesched.errors import CelRuntimeError


class DeviceFact(Enum):
    """What an expression can compare."""

    DRIVER = "driver"
    ATTRIBUTE = "attributes"
    CAPACITY = "capacity"
    ALLOW_MULTIPLE_ALLOCATIONS = "allowMultipleAllocations"


Literal = bool | int | float | str | Quantity | Semver
FactValue = AttributeValue | Quantity


class LiteralComparison(msgspec.Struct, frozen=True):
    """A fact of the device beside a literal.

    Attributes:
        name: `domain/identifier` of an attribute or capacity, else empty.
        operator: `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `startsWith`, `endsWith`, `contains`, `matches`, or `has`.
            `a.compareTo(b) >= 0` is `>=`; a bool alone is `==` true.
        literal: a tuple for `in`.
        start, end: of the literal in the text, with its quotes, and without `quantity(...)` around it; both are -1
            where none is written.
    """

    fact: DeviceFact
    name: str
    operator: str
    literal: Literal | tuple[Literal, ...]
    start: int = -1
    end: int = -1

    def value(self, device: DeviceValue) -> FactValue | None:
        """What a device has, None if it does not have that."""
        match self.fact:
            case DeviceFact.DRIVER:
                return device.driver
            case DeviceFact.ALLOW_MULTIPLE_ALLOCATIONS:
                return device.allow_multiple_allocations
            case _:
                domain, _, identifier = self.name.partition("/")
                domains = device.attributes if self.fact is DeviceFact.ATTRIBUTE else device.capacity
                found: FactValue | None = domains.get(domain, {}).get(identifier)
                return found


_FLIPPED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LOGIC: Final = frozenset({"_&&_", "_||_", "_?_:_", "!_"})
_METHODS: Final = frozenset({"startsWith", "endsWith", "contains", "matches"})
_ORDERS: Final = {"isGreaterThan": ">", "isLessThan": "<"}
_PARSED: Final[dict[str, Any]] = {"quantity": Quantity.parse, "semver": Semver.parse}


def comparisons_of(tree: Expression, aliases: Aliases = DEVICE_ALIASES) -> Iterator[LiteralComparison]:
    """All comparisons with literals in an expression, in the order of the text."""
    comparison = comparison_of(tree, aliases)
    if comparison is not None:
        yield comparison
        return
    for child, inner in nodes_below(tree, aliases):
        if _takes_bools(tree) or path_of(child, inner) is None:
            yield from comparisons_of(child, inner)


def _takes_bools(node: Expression) -> bool:
    """Whether a fact alone, as an operand, is a condition."""
    if isinstance(node, FunctionCall):
        return node.function in _LOGIC
    return isinstance(node, MacroCall)


def comparison_of(node: Expression, aliases: Aliases) -> LiteralComparison | None:
    """The comparison that a node is, None for anything else."""
    match node:
        case Select(is_test=True):
            return _fact_alone(path_of(node, aliases), "has", value=True)
        case FunctionCall(function="!_", arguments=[operand]):
            return _fact_alone(_fact_path(operand, aliases), "==", value=False)
        case FunctionCall(function="@in", arguments=[operand, ListDisplay() as choices]):
            return _membership(operand, choices, aliases)
        case FunctionCall(function=function, arguments=[left, right], target=None) if function[1:-1] in _FLIPPED:
            return _ordered(left, right, function[1:-1], aliases)
        case FunctionCall(function=function, arguments=[argument], target=target) if target is not None:
            operator = _ORDERS.get(function) or (function if function in _METHODS else "")
            return _compared(target, argument, operator, aliases) if operator else None
        case _:
            return _fact_alone(path_of(node, aliases), "==", value=True)


def _fact_path(node: Expression, aliases: Aliases) -> Path | None:
    """The fact that a node is, also if it has a default: `device.attributes["d"].?x.orValue(0)`."""
    match node:
        case FunctionCall(function="orValue" | "value", target=target) if target is not None:
            return path_of(target, aliases)
        case _:
            return path_of(node, aliases)


def _fact_alone(path: Path | None, operator: str, *, value: bool) -> LiteralComparison | None:
    if path is None or not is_fact(path):
        return None
    return LiteralComparison(DeviceFact(path[0]), qualified(path), operator, value)


def _ordered(left: Expression, right: Expression, operator: str, aliases: Aliases) -> LiteralComparison | None:
    """`fact < literal`, `literal < fact`, or `fact.compareTo(literal) < 0`."""
    match left, right:
        case FunctionCall(function="compareTo", target=target, arguments=[argument]), Constant(value=0) if target:
            return _compared(target, argument, operator, aliases) or _compared(
                argument, target, _FLIPPED[operator], aliases
            )
    return _compared(left, right, operator, aliases) or _compared(right, left, _FLIPPED[operator], aliases)


def _compared(fact: Expression, other: Expression, operator: str, aliases: Aliases) -> LiteralComparison | None:
    path, literal = _fact_path(fact, aliases), _literal(other)
    if literal is None or path is None or not is_fact(path):
        return None
    value, node = literal
    return LiteralComparison(DeviceFact(path[0]), qualified(path), operator, value, node.start, node.end)


def _literal(node: Expression) -> tuple[Literal, Expression] | None:
    """The value of a literal, and the node that writes it."""
    match node:
        case Constant(value=bool() | int() | float() | str() as value):
            return value, node
        case FunctionCall(function="quantity" | "semver" as function, arguments=[Constant(value=str(text)) as inner]):
            try:
                return _PARSED[function](text), inner
            except CelRuntimeError:
                return None
        case _:
            return None


def _membership(operand: Expression, choices: ListDisplay, aliases: Aliases) -> LiteralComparison | None:
    path = _fact_path(operand, aliases)
    literals = [literal for literal in map(_literal, choices.elements) if literal is not None]
    if path is None or not is_fact(path) or len(literals) < len(choices.elements) or choices.optional:
        return None
    values = tuple(value for value, _ in literals)
    return LiteralComparison(DeviceFact(path[0]), qualified(path), "in", values, choices.start, choices.end)
