"""Compiles checked expressions to Python closures.

A closure takes a frame: a list with the device at 0, and a variable of a macro at each further index. What the types of
an expression settle is settled here, so that an evaluation only does what depends on the device.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from kubesched.cel.cel_values import (
    NO_SUCH_OVERLOAD,
    Moment,
    OptionalValue,
    TimeSpan,
    equal,
    is_equal,
    key_of,
    type_name,
)
from kubesched.cel.checker import DEVICE, TYPE_NAMES, is_settled
from kubesched.cel.field_access import (
    element_of,
    field_of,
    has_field,
    is_element,
    is_equal_to_any,
    no_such_key,
    optional_element_of,
    optional_field_of,
)
from kubesched.cel.library import FUNCTIONS
from kubesched.cel.loops import loop
from kubesched.cel.overloads import Overload, no_such_overload
from kubesched.cel.semantic_versions import Semver
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
from kubesched.errors import CelRuntimeError

Frame = list[Any]
Evaluate = Callable[[Frame], Any]

_UNSET: Final = object()
_FLIPPED_TRUTH: Final = {"_&&_": False, "_||_": True}
_ORDER: Final = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
    "_==_": operator.eq,
    "_!=_": operator.ne,
}
_UNHASHABLE: Final = "internal error: runtime error: hash of unhashable type cel.Semver"
_NO_LISTER: Final = "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add"
_UNGUARDED: Final = frozenset({"distinct", "sort"})
"""Upstream's functions that panic where the list that they are called on is an error."""

_FOLDED: Final = frozenset({"quantity", "semver"})


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
                return _constant(node.value)
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
        return self._variable(node.text) or _constant(TYPE_NAMES[node.text])

    def _select(self, node: Select) -> Evaluate:
        name = qualified_name(node)
        if name in TYPE_NAMES and self._variable(name.split(".")[0]) is None:
            return _constant(TYPE_NAMES[name])
        operand, field = self.compile(node.operand), node.field
        if node.is_test:
            return lambda frame: has_field(operand(frame), field)
        if node.is_optional:
            return lambda frame: optional_field_of(operand(frame), field)
        if node.operand.type == DEVICE:
            return _device_field(operand, field)
        if node.operand.type.name == "map":
            return _map_field(operand, field)
        return lambda frame: field_of(operand(frame), field)

    def _call(self, node: FunctionCall) -> Evaluate:
        special = _SPECIAL.get(node.function)
        if special is not None:
            return special(self, node)
        operands = [*([node.target] if node.target else []), *node.arguments]
        arguments = [self.compile(operand) for operand in operands]
        if node.function in _UNGUARDED:
            arguments[0] = _unguarded(arguments[0])
        if node.function in _FOLDED and all(isinstance(operand, Constant) for operand in operands):
            return _folded(node.overloads[0], arguments)
        if self._is_certain(node, operands):
            return _applied(node.overloads[0].apply, arguments)
        return _dispatched(node, arguments)

    def _is_certain(self, node: FunctionCall, operands: Sequence[Expression]) -> bool:
        """Whether the types leave one overload, and the values will be of these types."""
        if len(node.overloads) != 1 or self._has_null:
            return False
        classes = node.overloads[0].classes
        return all(of is None or is_settled(operand.type) for of, operand in zip(classes, operands, strict=True))

    def logic(self, node: FunctionCall) -> Evaluate:
        """`&&` and `||`: an error counts only if no operand decides."""
        return _decided(_FLIPPED_TRUTH[node.function], [self.compile(operand) for operand in node.arguments])

    def choice(self, node: FunctionCall) -> Evaluate:
        """The ternary."""
        condition, first, second = map(self.compile, node.arguments)

        def evaluate(frame: Frame) -> Any:
            is_true = condition(frame)
            if is_true is True:
                return first(frame)
            if is_true is False:
                return second(frame)
            raise CelRuntimeError(NO_SUCH_OVERLOAD)

        return evaluate

    def negation(self, node: FunctionCall) -> Evaluate:
        """`!`."""
        operand = self.compile(node.arguments[0])

        def evaluate(frame: Frame) -> bool:
            value = operand(frame)
            if type(value) is bool:
                return not value
            raise CelRuntimeError(NO_SUCH_OVERLOAD)

        return evaluate

    def equality(self, node: FunctionCall) -> Evaluate:
        """`==` and `!=`. Values that cannot be compared are not equal, but `==` is an error then."""
        first, second = node.arguments
        left, right = self.compile(first), self.compile(second)
        if node.function == "_!=_":
            return lambda frame: not is_equal(left(frame), right(frame))
        if isinstance(second, Constant) and type(second.value) in (str, bool):
            return _equality_with(left, second.value)
        return lambda frame: equal(left(frame), right(frame))

    def comparison(self, node: FunctionCall) -> Evaluate:
        """`<` and the like. What compares with 0 in `a.compareTo(b) >= 0` is not computed."""
        first, second = node.arguments
        if _is_zero(second) and _is_amount_order(first) and not self._has_null:
            assert isinstance(first, FunctionCall)
            return self._amount_order(first, _ORDER[node.function])
        left, right = self.compile(first), self.compile(second)
        if self._is_certain(node, node.arguments):
            return _applied(node.overloads[0].apply, [left, right])
        return _dispatched(node, [left, right])

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
                return _membership_in(value, elements)
        return lambda frame: is_element(value(frame), collection(frame))

    def element(self, node: FunctionCall) -> Evaluate:
        """`a[b]` and `a[?b]`."""
        collection, index = map(self.compile, node.arguments)
        first, second = node.arguments
        if node.function == "_[?_]":
            return lambda frame: optional_element_of(collection(frame), index(frame))
        if first.type.name == "map" and isinstance(second, Constant) and type(second.value) is str:
            return _map_field(collection, second.value)
        return lambda frame: element_of(collection(frame), index(frame))

    def alternative(self, node: FunctionCall) -> Evaluate:
        """`or` and `orValue` of optional values."""
        assert node.target is not None
        optional, other = self.compile(node.target), self.compile(node.arguments[0])
        unwraps = node.function == "orValue"

        def evaluate(frame: Frame) -> Any:
            value = optional(frame)
            if type(value) is not OptionalValue:
                raise no_such_overload(node.function, type_name(value))
            if not value.is_there:
                return other(frame)
            return value.value if unwraps else value

        return evaluate

    def _list(self, node: ListDisplay) -> Evaluate:
        elements = [self.compile(element) for element in node.elements]
        if not node.optional:
            return lambda frame: [element(frame) for element in elements]
        optional = node.optional

        def evaluate(frame: Frame) -> list[Any]:
            values = [(i, element(frame)) for i, element in enumerate(elements)]
            return [v.value if i in optional else v for i, v in values if i not in optional or v.is_there]

        return evaluate

    def _map(self, node: MapDisplay) -> Evaluate:
        entries = [(self.compile(key), self.compile(value)) for key, value in node.entries]
        optional = node.optional

        def evaluate(frame: Frame) -> dict[Any, Any]:
            result = {}
            for i, (key, value) in enumerate(entries):
                name, entry = key_of(key(frame)), value(frame)
                if i not in optional:
                    result[name] = entry
                elif entry.is_there:
                    result[name] = entry.value
            return result

        return evaluate

    def _macro(self, node: MacroCall) -> Evaluate:
        operand = self.compile(node.operand)
        places = [self._place() for _ in node.variables]
        names: dict[str, Evaluate] = dict(zip(node.variables, map(operator.itemgetter, places), strict=True))
        if node.kind is MacroKind.BIND:
            names = {node.variables[0]: _late(places[0], operand)}
        self._scopes.append(names)
        condition = self.compile(node.condition) if node.condition else None
        body = self.compile(node.body)
        self._scopes.pop()
        if node.kind is MacroKind.BIND:
            return _bound(places[0], body)
        if node.kind in (MacroKind.OPT_MAP, MacroKind.OPT_FLAT_MAP):
            return _mapped_optional(operand, places[0], body, wraps=node.kind is MacroKind.OPT_MAP)
        return loop(node.kind, operand, places, body, condition)

    def _place(self) -> int:
        """A place in the frame that no other variable has."""
        self.places += 1
        return self.places - 1


_SPECIAL: Final[dict[str, Callable[[Compiler, FunctionCall], Evaluate]]] = {
    "_&&_": Compiler.logic,
    "_||_": Compiler.logic,
    "_?_:_": Compiler.choice,
    "!_": Compiler.negation,
    "_==_": Compiler.equality,
    "_!=_": Compiler.equality,
    "_<_": Compiler.comparison,
    "_<=_": Compiler.comparison,
    "_>_": Compiler.comparison,
    "_>=_": Compiler.comparison,
    "@in": Compiler.membership,
    "_[_]": Compiler.element,
    "_[?_]": Compiler.element,
    "or": Compiler.alternative,
    "orValue": Compiler.alternative,
}


def _constant(value: Any) -> Evaluate:
    return lambda _frame: value


def _device_field(device: Evaluate, field: str) -> Evaluate:
    if field == "driver":
        return lambda frame: device(frame).driver
    if field == "attributes":
        return lambda frame: device(frame).attributes
    if field == "capacity":
        return lambda frame: device(frame).capacity
    return lambda frame: device(frame).allow_multiple_allocations


def _map_field(operand: Evaluate, key: str) -> Evaluate:
    """A key of what is certainly a map."""

    def evaluate(frame: Frame) -> Any:
        try:
            return operand(frame)[key]
        except KeyError:
            raise no_such_key(key) from None

    return evaluate


def _folded(overload: Overload, arguments: Sequence[Evaluate]) -> Evaluate:
    """The value of a function of literals, computed once; an error stays one of the evaluation."""
    apply = _applied(overload.apply, arguments)
    try:
        return _constant(apply([]))
    except CelRuntimeError:
        return apply


def _unguarded(operand: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        try:
            return operand(frame)
        except CelRuntimeError:
            raise CelRuntimeError(_NO_LISTER, is_final=True) from None

    return evaluate


def _applied(apply: Callable[..., Any], arguments: Sequence[Evaluate]) -> Evaluate:
    if len(arguments) == 1:
        (only,) = arguments
        return lambda frame: apply(only(frame))
    if len(arguments) == 2:
        first, second = arguments
        return lambda frame: apply(first(frame), second(frame))
    return lambda frame: apply(*[argument(frame) for argument in arguments])


def _dispatched(node: FunctionCall, arguments: Sequence[Evaluate]) -> Evaluate:
    """A call whose overload depends on the values."""
    overloads, function = node.overloads, node.function

    def evaluate(frame: Frame) -> Any:
        values = [argument(frame) for argument in arguments]
        for overload in overloads:
            if overload.takes(values):
                return overload.apply(*values)
        raise _no_overload(function, overloads, values)

    return evaluate


_RECEIVERS: Final = frozenset({str, Moment, TimeSpan})
_PLAIN_ERROR: Final = frozenset({"-_", "startsWith", "endsWith", "contains", "matches"})


def _no_overload(function: str, overloads: Sequence[Overload], values: Sequence[Any]) -> CelRuntimeError:
    """Upstream's error: of the standard, types that can never be first are named by the function."""
    if not overloads[0].is_standard:
        return no_such_overload(function, *map(type_name, values))
    first = any(o.classes[0] is None or type(values[0]) in o.classes[0] for o in FUNCTIONS.overloads(function))
    is_plain = first or type(values[0]) in _RECEIVERS or function in _PLAIN_ERROR
    return CelRuntimeError(NO_SUCH_OVERLOAD if is_plain else f"{NO_SUCH_OVERLOAD}: {function}")


def _decided(decisive: bool, operands: Sequence[Evaluate]) -> Evaluate:
    neutral = not decisive

    def evaluate(frame: Frame) -> bool:
        error: CelRuntimeError | None = None
        for operand in operands:
            try:
                value = operand(frame)
            except CelRuntimeError as raised:
                if raised.is_final:
                    raise
                error = error or raised
                continue
            if value is decisive:
                return not neutral
            if value is not neutral:
                error = error or CelRuntimeError(NO_SUCH_OVERLOAD)
        if error is not None:
            raise error
        return neutral

    return evaluate


def _equality_with(operand: Evaluate, constant: str | bool) -> Evaluate:
    kind = type(constant)

    def evaluate(frame: Frame) -> bool:
        value = operand(frame)
        return bool(value == constant) if type(value) is kind else equal(value, constant)

    return evaluate


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


def _membership_in(value: Evaluate, elements: list[Any]) -> Evaluate:
    """`value in [literals]`."""
    are_texts = {type(element) for element in elements} <= {str}
    members = frozenset(elements) if are_texts else frozenset()

    def evaluate(frame: Frame) -> bool:
        wanted = value(frame)
        if are_texts and type(wanted) is str:
            return bool(wanted in members)
        if elements and type(wanted) is Semver:
            raise CelRuntimeError(_UNHASHABLE, is_final=True)
        return is_equal_to_any(wanted, elements)

    return evaluate


def _late(place: int, operand: Evaluate) -> Evaluate:
    """A variable of `cel.bind`, which is computed when it is first read."""

    def evaluate(frame: Frame) -> Any:
        value = frame[place]
        if value is _UNSET:
            value = frame[place] = operand(frame)
        return value

    return evaluate


def _bound(place: int, body: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> Any:
        frame[place] = _UNSET
        return body(frame)

    return evaluate


def _mapped_optional(operand: Evaluate, place: int, body: Evaluate, *, wraps: bool) -> Evaluate:
    """`optMap` and `optFlatMap`."""

    def evaluate(frame: Frame) -> Any:
        optional = operand(frame)
        if type(optional) is not OptionalValue:
            raise no_such_overload("hasValue", type_name(optional))
        if not optional.is_there:
            return optional
        frame[place] = optional.value
        value = body(frame)
        return OptionalValue(value, is_there=True) if wraps else value

    return evaluate
