"""Functions of lists.

Rule: Kubernetes v1.36 CEL library "lists"; cel-go v0.26 ext.Lists. Since v1.37, lists.range has bounds.
"""

import operator
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any, Final

from kubesched.cel.cel_values import (
    LISTS,
    NO_SUCH_OVERLOAD,
    NUMBERS,
    Moment,
    OptionalValue,
    TimeSpan,
    Uint,
    equal,
    is_equal,
)
from kubesched.cel.library.costs import (
    BUDGET,
    MOST_ELEMENTS,
    NEW_LIST,
    check_size,
    cost_of_elements,
    cost_of_result,
    cost_of_sorting,
    size_of,
)
from kubesched.cel.library.operators import to_int, to_span, to_uint
from kubesched.cel.overloads import FunctionTable, no_such_overload
from kubesched.errors import CelRuntimeError

LIST_FUNCTIONS = FunctionTable()
declare = LIST_FUNCTIONS.declare

SORT_BY_KEYS: Final = "@sortByAssociatedKeys"
"""What `list.sortBy(x, key)` calls with the keys of all elements."""

ORDERED_TYPES: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
"""Types whose values have an order."""

_ORDERED: Final = frozenset({int, Uint, float, bool, str, bytes, TimeSpan, Moment})


def _declare_ordered(name: str, result: str, apply: Callable[[list[Any]], Any]) -> None:
    """Declare a function of lists whose elements can be compared."""

    def checked(elements: list[Any]) -> Any:
        if any(type(element) not in _ORDERED for element in elements):
            raise no_such_overload(name, "list")
        return apply(elements)

    signatures = (f"list({of}): {name}() -> {result.replace('T', of)}" for of in ORDERED_TYPES)
    declare(*signatures, cost=cost_of_elements)(checked)


def _is_greater(left: Any, right: Any) -> bool:
    """Whether a value comes after another one. Values of different types are in no order."""
    has_order = type(left) is type(right) or (type(left) in NUMBERS and type(right) in NUMBERS)
    return has_order and bool(left > right)


def _is_sorted(elements: list[Any]) -> bool:
    return not any(_is_greater(a, b) for a, b in pairwise(elements))


def _least(elements: list[Any]) -> Any:
    if not elements:
        raise CelRuntimeError("min called on empty list")
    return reduce(lambda least, element: element if _is_greater(least, element) else least, elements)


def _greatest(elements: list[Any]) -> Any:
    if not elements:
        raise CelRuntimeError("max called on empty list")
    return reduce(lambda greatest, element: element if _is_greater(element, greatest) else greatest, elements)


_declare_ordered("isSorted", "bool", _is_sorted)
_declare_ordered("min", "T", _least)
_declare_ordered("max", "T", _greatest)

_ADDERS: Final[dict[type, Callable[[Any, Any], Any]]] = {
    int: lambda a, b: to_int(a + b),
    Uint: lambda a, b: to_uint(int(a) + int(b)),
    float: operator.add,
    TimeSpan: lambda a, b: to_span(a.nanos + b.nanos),
}

_LONGEST_RANGE: Final = 1_000_000


@declare(*(f"list({of}): sum() -> {of}" for of in ("int", "uint", "double", "duration")), cost=cost_of_elements)
def _sum(elements: list[Any]) -> Any:
    if not elements:
        return 0
    kind = type(elements[0])
    if kind not in _ADDERS:
        raise no_such_overload("sum", "list")
    if any(type(element) is not kind for element in elements):
        raise CelRuntimeError(NO_SUCH_OVERLOAD)
    return reduce(_ADDERS[kind], elements)


@declare("list(A): indexOf(A) -> int", cost=cost_of_elements)
def _index(elements: list[Any], wanted: Any) -> int:
    return next((i for i, element in enumerate(elements) if equal(element, wanted)), -1)


@declare("list(A): lastIndexOf(A) -> int", cost=cost_of_elements)
def _last_index(elements: list[Any], wanted: Any) -> int:
    return next((i for i in reversed(range(len(elements))) if equal(elements[i], wanted)), -1)


@declare("dyn: includes(dyn) -> bool", cost=lambda value, _wanted, _: max(size_of(value) // 5, 1))
def _includes(value: Any, wanted: Any) -> bool:
    elements = value if type(value) in LISTS else [value]
    return any(is_equal(element, wanted) for element in elements)


@declare("lists.range(int) -> list(int)", cost=cost_of_result, grows=True, until=37)
def _range(count: int) -> list[int]:
    check_size(count, BUDGET)
    return list(range(count))


@declare("lists.range(int) -> list(int)", cost=cost_of_result, grows=True, since=37)
def _bounded_range(count: int) -> list[int]:
    if count < 0:
        raise CelRuntimeError(f"lists.range: size must be non-negative, got {count}")
    if count > _LONGEST_RANGE:
        raise CelRuntimeError(f"lists.range: size {count} exceeds maximum allowed ({_LONGEST_RANGE})")
    return _range(count)


@declare("list(list(A)): flatten() -> list(A)", cost=lambda elements, _: NEW_LIST + len(elements))
@declare("list(list(A)): flatten(int) -> list(dyn)", cost=lambda elements, depth, _: NEW_LIST + len(elements) * depth)
def _flattened(elements: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise CelRuntimeError("level must be non-negative")
    for _ in range(min(depth, 100)):
        check_size(sum(len(element) if type(element) in LISTS else 1 for element in elements), MOST_ELEMENTS)
        elements = [inner for element in elements for inner in (element if type(element) in LISTS else (element,))]
    return elements


@declare("list(A): slice(int, int) -> list(A)", cost=cost_of_result)
def _slice(elements: list[Any], start: int, end: int) -> list[Any]:
    place = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise CelRuntimeError(f"{place}, negative indexes not supported")
    if start > end:
        raise CelRuntimeError(f"{place}, start index must be less than or equal to end index")
    if end > len(elements):
        raise CelRuntimeError(f"{place}, list is length {len(elements)}")
    return elements[start:end]


@declare(*(f"list({of}): sort() -> list({of})" for of in ORDERED_TYPES), cost=cost_of_sorting)
def _sorted(elements: list[Any]) -> list[Any]:
    check_size(cost_of_sorting(elements), BUDGET)
    return sorted_by(elements, elements)


def sorted_by(elements: list[Any], keys: list[Any]) -> list[Any]:
    """Elements in the order of their keys.

    Raises:
        CelRuntimeError: the keys cannot be compared.
    """
    if len({type(key) for key in keys}) > 1:
        raise CelRuntimeError("list elements must have the same type")
    if keys and type(keys[0]) not in _ORDERED:
        raise CelRuntimeError("list elements must be comparable")
    return [elements[i] for i in sorted(range(len(keys)), key=keys.__getitem__)]


@declare("list(A): distinct() -> list(A)", cost=cost_of_sorting)
def _distinct(elements: list[Any]) -> list[Any]:
    check_size(cost_of_sorting(elements), BUDGET)
    kept: list[Any] = []
    for element in elements:
        if not any(equal(element, other) for other in kept):
            kept.append(element)
    return kept


@declare("list(A): reverse() -> list(A)", cost=cost_of_result)
def _reversed(elements: list[Any]) -> list[Any]:
    return elements[::-1]


@declare("list(A): first() -> optional_type(A)")
def _first(elements: list[Any]) -> OptionalValue:
    return OptionalValue(elements[0], is_there=True) if elements else OptionalValue()


@declare("list(A): last() -> optional_type(A)")
def _last(elements: list[Any]) -> OptionalValue:
    return OptionalValue(elements[-1], is_there=True) if elements else OptionalValue()


def _has_all(elements: list[Any], wanted: list[Any]) -> bool:
    return all(any(equal(one, other) for other in elements) for one in wanted)


def _cost_of_pairs(left: Any, right: Any, _result: Any) -> int:
    return 1 + len(left) * len(right)


declare("sets.contains(list(A), list(A)) -> bool", cost=_cost_of_pairs)(_has_all)


@declare("sets.equivalent(list(A), list(A)) -> bool", cost=lambda a, b, _: 1 + 2 * len(a) * len(b))
def _equivalent(left: list[Any], right: list[Any]) -> bool:
    return _has_all(left, right) and _has_all(right, left)


@declare("sets.intersects(list(A), list(A)) -> bool", cost=_cost_of_pairs)
def _intersects(left: list[Any], right: list[Any]) -> bool:
    return any(equal(one, other) for one in left for other in right)
