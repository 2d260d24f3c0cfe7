"""The closures that expressions are compiled to.

A closure takes a frame: a list with the device at 0, and a variable of a macro at each further index.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from kubesched.cel.cel_values import (
    NO_SUCH_OVERLOAD,
    Moment,
    OptionalValue,
    TimeSpan,
    equal,
    key_of,
    type_name,
)
from kubesched.cel.field_access import (
    is_equal_to_any,
    no_such_key,
)
from kubesched.cel.library import FUNCTIONS
from kubesched.cel.overloads import Overload, no_such_overload
from kubesched.cel.semantic_versions import Semver
from kubesched.cel.syntax_tree import (
    FunctionCall,
)
from kubesched.errors import CelRuntimeError

Frame = list[Any]
Evaluate = Callable[[Frame], Any]

_UNSET: Final = object()
_UNHASHABLE: Final = "internal error: runtime error: hash of unhashable type cel.Semver"
_NO_LISTER: Final = "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add"


def constant(value: Any) -> Evaluate:
    """A literal."""
    return lambda _frame: value


def device_field(device: Evaluate, field: str) -> Evaluate:
    """A field of the device."""
    if field == "driver":
        return lambda frame: device(frame).driver
    if field == "attributes":
        return lambda frame: device(frame).attributes
    if field == "capacity":
        return lambda frame: device(frame).capacity
    return lambda frame: device(frame).allow_multiple_allocations


def map_field(operand: Evaluate, key: str) -> Evaluate:
    """A key of what is certainly a map."""

    def evaluate(frame: Frame) -> Any:
        try:
            return operand(frame)[key]
        except KeyError:
            raise no_such_key(key) from None

    return evaluate


def folded(overload: Overload, arguments: Sequence[Evaluate]) -> Evaluate:
    """The value of a function of literals, computed once; an error stays one of the evaluation."""
    apply = applied(overload.apply, arguments)
    try:
        return constant(apply([]))
    except CelRuntimeError:
        return apply


def unguarded(operand: Evaluate) -> Evaluate:
    """The list that a function is called on which does not survive an error there."""

    def evaluate(frame: Frame) -> Any:
        try:
            return operand(frame)
        except CelRuntimeError:
            raise CelRuntimeError(_NO_LISTER, is_final=True) from None

    return evaluate


def applied(apply: Callable[..., Any], arguments: Sequence[Evaluate]) -> Evaluate:
    """A call of a function that takes whatever the arguments are."""
    if len(arguments) == 1:
        (only,) = arguments
        return lambda frame: apply(only(frame))
    if len(arguments) == 2:
        first, second = arguments
        return lambda frame: apply(first(frame), second(frame))
    return lambda frame: apply(*[argument(frame) for argument in arguments])


def dispatched(node: FunctionCall, arguments: Sequence[Evaluate]) -> Evaluate:
    """A call whose overload depends on the values."""
    overloads, function = node.overloads, node.function
    if len(arguments) == 2 and len(overloads) == 1:
        return _dispatched_pair(overloads[0], *arguments)

    def evaluate(frame: Frame) -> Any:
        values = [argument(frame) for argument in arguments]
        return overload_for(function, overloads, values).apply(*values)

    return evaluate


def _dispatched_pair(overload: Overload, left: Evaluate, right: Evaluate) -> Evaluate:
    """The usual case: one overload that takes two values."""
    apply, (first, second) = overload.apply, overload.classes

    def evaluate(frame: Frame) -> Any:
        a, b = left(frame), right(frame)
        if (first is None or type(a) in first) and (second is None or type(b) in second):
            return apply(a, b)
        raise _no_overload(overload.function, [a, b])

    return evaluate


def overload_for(function: str, overloads: Sequence[Overload], values: Sequence[Any]) -> Overload:
    """The overload that takes some values.

    Raises:
        CelRuntimeError: none does.
    """
    for overload in overloads:
        if overload.takes(values):
            return overload
    raise _no_overload(function, values)


_RECEIVERS: Final = frozenset({str, Moment, TimeSpan})
_PLAIN_ERROR: Final = frozenset({"-_", "startsWith", "endsWith", "contains", "matches"})


def _no_overload(function: str, values: Sequence[Any]) -> CelRuntimeError:
    """Upstream's error: of the standard, types that can never be first are named by the function."""
    overloads = FUNCTIONS.overloads(function)
    if not overloads[0].is_standard:
        return no_such_overload(function, *map(type_name, values))
    first = any(o.classes[0] is None or type(values[0]) in o.classes[0] for o in overloads)
    is_plain = first or type(values[0]) in _RECEIVERS or function in _PLAIN_ERROR
    return CelRuntimeError(NO_SUCH_OVERLOAD if is_plain else f"{NO_SUCH_OVERLOAD}: {function}")


def decided(decisive: bool, operands: Sequence[Evaluate]) -> Evaluate:
    """`&&`, which false decides, or `||`, which true does. An error counts only if nothing decides."""
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


def equality_with(operand: Evaluate, constant: str | bool) -> Evaluate:
    """`operand == literal`."""
    kind = type(constant)

    def evaluate(frame: Frame) -> bool:
        value = operand(frame)
        return bool(value == constant) if type(value) is kind else equal(value, constant)

    return evaluate


def membership_in(value: Evaluate, elements: list[Any]) -> Evaluate:
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


def late(place: int, operand: Evaluate) -> Evaluate:
    """A variable of `cel.bind`, which is computed when it is first read."""

    def evaluate(frame: Frame) -> Any:
        value = frame[place]
        if value is _UNSET:
            value = frame[place] = operand(frame)
        return value

    return evaluate


def bound(place: int, body: Evaluate) -> Evaluate:
    """The body of `cel.bind`."""

    def evaluate(frame: Frame) -> Any:
        frame[place] = _UNSET
        return body(frame)

    return evaluate


def mapped_optional(operand: Evaluate, place: int, body: Evaluate, *, wraps: bool) -> Evaluate:
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


def chosen(condition: Evaluate, first: Evaluate, second: Evaluate) -> Evaluate:
    """`condition ? first : second`."""

    def evaluate(frame: Frame) -> Any:
        is_true = condition(frame)
        if is_true is True:
            return first(frame)
        if is_true is False:
            return second(frame)
        raise CelRuntimeError(NO_SUCH_OVERLOAD)

    return evaluate


def negated(operand: Evaluate) -> Evaluate:
    """`!operand`."""

    def evaluate(frame: Frame) -> bool:
        value = operand(frame)
        if type(value) is bool:
            return not value
        raise CelRuntimeError(NO_SUCH_OVERLOAD)

    return evaluate


def alternative_to(optional: Evaluate, other: Evaluate, *, function: str) -> Evaluate:
    """`optional.or(other)` and `optional.orValue(other)`. The other one is evaluated only if it is needed."""
    unwraps = function == "orValue"

    def evaluate(frame: Frame) -> Any:
        value = optional(frame)
        if type(value) is not OptionalValue:
            raise no_such_overload(function, type_name(value))
        if not value.is_there:
            return other(frame)
        return value.value if unwraps else value

    return evaluate


def list_display(elements: Sequence[Evaluate], optional: frozenset[int]) -> Evaluate:
    """`[a, ?b]`."""
    if not optional:
        return lambda frame: [element(frame) for element in elements]

    def evaluate(frame: Frame) -> list[Any]:
        values = [(i, element(frame)) for i, element in enumerate(elements)]
        return [v.value if i in optional else v for i, v in values if i not in optional or v.is_there]

    return evaluate


def map_display(entries: Sequence[tuple[Evaluate, Evaluate]], optional: frozenset[int]) -> Evaluate:
    """`{a: b, ?c: d}`."""

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
