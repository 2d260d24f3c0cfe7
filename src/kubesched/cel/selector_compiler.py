"""Compiles checked expressions to closures.

What the types of an expression settle is settled here, so that an evaluation only does what depends on the device.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Final

from kubesched.cel.cel_values import (
    equal,
    is_equal,
)
from kubesched.cel.checker import DEVICE, TYPE_NAMES, is_settled
from kubesched.cel.closures import (
    Evaluate,
    alternative_to,
    applied,
    bound,
    chosen,
    constant,
    decided,
    device_field,
    dispatched,
    equality_with,
    folded,
    late,
    list_display,
    map_display,
    map_field,
    mapped_optional,
    membership_in,
    negated,
    unguarded,
)
from kubesched.cel.field_access import (
    element_of,
    field_of,
    has_field,
    is_element,
    optional_element_of,
    optional_field_of,
)
from kubesched.cel.loops import loop
from kubesched.cel.syntax_tree import (
    Constant,
    Expression,
    FunctionCall,
    ListDisplay,
    MacroCall,
    MacroKind,
    MapDisplay,
    Name,
    Select,
    children,
    qualified_name,
)

_FLIPPED_TRUTH: Final = {"_&&_": False, "_||_": True}
_ORDER: Final = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
    "_==_": operator.eq,
    "_!=_": operator.ne,
}
_UNGUARDED: Final = frozenset({"distinct", "sort"})
"""Upstream's functions that panic where the list that they are called on is an error."""

_FOLDED: Final = frozenset({"quantity", "semver"})
_SPECIAL: Final = {
    "_&&_": "logic",
    "_||_": "logic",
    "_?_:_": "choice",
    "!_": "negation",
    "_==_": "equality",
    "_!=_": "equality",
    "_<_": "comparison",
    "_<=_": "comparison",
    "_>_": "comparison",
    "_>=_": "comparison",
    "@in": "membership",
    "_[_]": "element",
    "_[?_]": "element",
    "or": "alternative",
    "orValue": "alternative",
}


class Compiler:
    """Compiles one expression, and counts the places that its frame needs."""

    def __init__(self, *trees: Expression) -> None:
        self.places = 1
        self._has_null = any(map(_has_null, trees))
        self._scopes: list[dict[str, Evaluate]] = [{"device": operator.itemgetter(0)}]

    def compile(self, node: Expression) -> Evaluate:
        """The closure of a node."""
        match node:
            case Constant():
                return constant(node.value)
            case Name():
                return self._name(node)
            case Select():
                return self._select(node)
            case FunctionCall():
                return self._call(node)
            case ListDisplay():
                return self._list(node)
            case MapDisplay():
                return self._map(node)
            case MacroCall():
                return self._macro(node)

    def _variable(self, name: str) -> Evaluate | None:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    def _name(self, node: Name) -> Evaluate:
        return self._variable(node.text) or constant(TYPE_NAMES[node.text])

    def _is_type(self, node: Select) -> bool:
        """Whether a node is the name of a type, such as `net.IP`."""
        name = qualified_name(node)
        return name in TYPE_NAMES and self._variable(name.split(".")[0]) is None

    def _select(self, node: Select) -> Evaluate:
        if self._is_type(node):
            return constant(TYPE_NAMES[qualified_name(node)])
        operand, field = self.compile(node.operand), node.field
        if node.is_test:
            return lambda frame: has_field(operand(frame), field)
        if node.is_optional:
            return lambda frame: optional_field_of(operand(frame), field)
        if node.operand.type == DEVICE:
            return device_field(operand, field)
        if node.operand.type.name == "map":
            return map_field(operand, field)
        return lambda frame: field_of(operand(frame), field)

    def _call(self, node: FunctionCall) -> Evaluate:
        if node.function in _SPECIAL:
            compile_special: Callable[[FunctionCall], Evaluate] = getattr(self, _SPECIAL[node.function])
            return compile_special(node)
        return self._function(node, [*([node.target] if node.target else []), *node.arguments])

    def _function(self, node: FunctionCall, operands: Sequence[Expression]) -> Evaluate:
        arguments = self._arguments(node, operands)
        if node.function in _FOLDED and all(isinstance(operand, Constant) for operand in operands):
            return folded(node.overloads[0], arguments)
        if self._is_certain(node, operands):
            return applied(node.overloads[0].apply, arguments)
        return dispatched(node, arguments)

    def _arguments(self, node: FunctionCall, operands: Sequence[Expression]) -> list[Evaluate]:
        arguments = [self.compile(operand) for operand in operands]
        if node.function in _UNGUARDED:
            arguments[0] = unguarded(arguments[0])
        return arguments

    def _is_certain(self, node: FunctionCall, operands: Sequence[Expression]) -> bool:
        """Whether the types leave one overload, and the values will be of these types."""
        if len(node.overloads) != 1 or self._has_null:
            return False
        classes = node.overloads[0].classes
        return all(of is None or is_settled(operand.type) for of, operand in zip(classes, operands, strict=True))

    def logic(self, node: FunctionCall) -> Evaluate:
        """`&&` and `||`: an error counts only if no operand decides."""
        return decided(_FLIPPED_TRUTH[node.function], [self.compile(operand) for operand in node.arguments])

    def choice(self, node: FunctionCall) -> Evaluate:
        """The ternary."""
        return chosen(*map(self.compile, node.arguments))

    def negation(self, node: FunctionCall) -> Evaluate:
        """`!`."""
        return negated(self.compile(node.arguments[0]))

    def equality(self, node: FunctionCall) -> Evaluate:
        """`==` and `!=`. Values that cannot be compared are not equal, but `==` is an error then."""
        first, second = node.arguments
        left, right = self.compile(first), self.compile(second)
        if node.function == "_!=_":
            return lambda frame: not is_equal(left(frame), right(frame))
        if isinstance(second, Constant) and type(second.value) in (str, bool):
            return equality_with(left, second.value)
        return lambda frame: equal(left(frame), right(frame))

    def comparison(self, node: FunctionCall) -> Evaluate:
        """`<` and the like. What compares with 0 in `a.compareTo(b) >= 0` is not computed."""
        first, second = node.arguments
        if _is_zero(second) and _is_amount_order(first) and not self._has_null:
            assert isinstance(first, FunctionCall)
            return self._amount_order(first, _ORDER[node.function])
        left, right = self.compile(first), self.compile(second)
        if self._is_certain(node, node.arguments):
            return applied(node.overloads[0].apply, [left, right])
        return dispatched(node, [left, right])

    def _amount_order(self, node: FunctionCall, order: Callable[[int, int], bool]) -> Evaluate:
        assert node.target is not None
        left, right = self.compile(node.target), self.compile(node.arguments[0])
        return lambda frame: order(left(frame).nano, right(frame).nano)

    def membership(self, node: FunctionCall) -> Evaluate:
        """`in`."""
        second = node.arguments[1]
        value, collection = map(self.compile, node.arguments)
        if isinstance(second, ListDisplay) and not second.optional:
            elements = [element.value for element in second.elements if isinstance(element, Constant)]
            if len(elements) == len(second.elements):
                return membership_in(value, elements)
        return lambda frame: is_element(value(frame), collection(frame))

    def element(self, node: FunctionCall) -> Evaluate:
        """`a[b]` and `a[?b]`."""
        collection, index = map(self.compile, node.arguments)
        first, second = node.arguments
        if node.function == "_[?_]":
            return lambda frame: optional_element_of(collection(frame), index(frame))
        if first.type.name == "map" and isinstance(second, Constant) and type(second.value) is str:
            return map_field(collection, second.value)
        return lambda frame: element_of(collection(frame), index(frame))

    def alternative(self, node: FunctionCall) -> Evaluate:
        """`or` and `orValue` of optional values."""
        assert node.target is not None
        optional, other = self.compile(node.target), self.compile(node.arguments[0])
        return alternative_to(optional, other, function=node.function)

    def _list(self, node: ListDisplay) -> Evaluate:
        return list_display([self.compile(element) for element in node.elements], node.optional)

    def _map(self, node: MapDisplay) -> Evaluate:
        return map_display([(self.compile(key), self.compile(value)) for key, value in node.entries], node.optional)

    def _macro(self, node: MacroCall) -> Evaluate:
        operand = self.compile(node.operand)
        places = [self._place() for _ in node.variables]
        names: dict[str, Evaluate] = dict(zip(node.variables, map(operator.itemgetter, places), strict=True))
        if node.kind is MacroKind.BIND:
            names = {node.variables[0]: late(places[0], operand)}
        self._scopes.append(names)
        evaluate = self._loop(node, operand, places)
        self._scopes.pop()
        return evaluate

    def _loop(self, node: MacroCall, operand: Evaluate, places: list[int]) -> Evaluate:
        """A macro, compiled while its variables are in scope."""
        condition = self.compile(node.condition) if node.condition else None
        step = self._step(node)
        match node.kind:
            case MacroKind.BIND:
                return bound(places[0], step)
            case MacroKind.OPT_MAP | MacroKind.OPT_FLAT_MAP:
                return mapped_optional(operand, places[0], step, wraps=node.kind is MacroKind.OPT_MAP)
            case _:
                return loop(node.kind, operand, places, step, condition)

    def _step(self, node: MacroCall) -> Evaluate:
        """What a macro computes for each element."""
        return self.compile(node.body)

    def _place(self) -> int:
        """A place in the frame that no other variable has."""
        self.places += 1
        return self.places - 1


def _has_null(node: Expression) -> bool:
    """Whether null, which some types allow, may be a value."""
    return (isinstance(node, Constant) and node.value is None) or any(map(_has_null, children(node)))


def _is_zero(node: Expression) -> bool:
    return isinstance(node, Constant) and type(node.value) is int and node.value == 0


def _is_amount_order(node: Expression) -> bool:
    return (
        isinstance(node, FunctionCall)
        and node.function == "compareTo"
        and node.target is not None
        and [operand.type.name for operand in (node.target, *node.arguments)] == ["kubernetes.Quantity"] * 2
    )
