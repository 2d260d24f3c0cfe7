"""Arithmetic and comparison.

Rule: cel-spec "Standard definitions", as cel-go v0.26 has it: 64-bit integers that overflow are errors, numbers of
different types compare by value.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from kubesched.cel.cel_values import Moment, TimeSpan, Uint
from kubesched.cel.library.costs import (
    MOST_CHARACTERS,
    MOST_ELEMENTS,
    check_size,
    cost_of_comparison,
    cost_of_concatenation,
)
from kubesched.cel.library.int_limits import MAX_INT, MAX_UINT, MIN_INT
from kubesched.cel.overloads import FunctionTable
from kubesched.errors import CelRuntimeError

OPERATORS = FunctionTable()

_NUMBER_PAIRS = [(a, b) for a in ("int", "uint", "double") for b in ("int", "uint", "double")]
_ORDERED = [("bool", "bool"), *_NUMBER_PAIRS, *((t, t) for t in ("string", "bytes", "timestamp", "duration"))]


def declare(*signatures: str, **options: Any) -> Callable[[Any], Any]:
    """Declare a function of the standard."""
    return OPERATORS.declare(*signatures, is_standard=True, **options)


for _name, _apply in {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}.items():
    declare(*(f"{_name}({a}, {b}) -> bool" for a, b in _ORDERED), cost=cost_of_comparison)(_apply)


def to_int(value: int) -> int:
    """An integer, if it fits.

    Raises:
        CelRuntimeError: it does not.
    """
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelRuntimeError("integer overflow")


def to_uint(value: int) -> Uint:
    """An unsigned integer, if it fits.

    Raises:
        CelRuntimeError: it does not.
    """
    if 0 <= value <= MAX_UINT:
        return Uint(value)
    raise CelRuntimeError("unsigned integer overflow")


for _name, _arithmetic in {"_+_": operator.add, "_-_": operator.sub, "_*_": operator.mul}.items():
    declare(f"{_name}(int, int) -> int")(lambda a, b, f=_arithmetic: to_int(f(a, b)))
    declare(f"{_name}(uint, uint) -> uint")(lambda a, b, f=_arithmetic: to_uint(f(int(a), int(b))))
    declare(f"{_name}(double, double) -> double")(_arithmetic)


@declare("_+_(string, string) -> string", "_+_(bytes, bytes) -> bytes", cost=cost_of_concatenation, grows=True)
@declare("_+_(list(A), list(A)) -> list(A)", grows=True)
def _concatenated(left: Any, right: Any) -> Any:
    check_size(len(left) + len(right), MOST_ELEMENTS if type(left) is list else MOST_CHARACTERS)
    return left + right


@declare("_/_(int, int) -> int")
def _int_quotient(left: int, right: int) -> int:
    return to_int(left // right if (left < 0) == (_divisor(right) < 0) else -(-left // right))


@declare("_/_(uint, uint) -> uint")
def _uint_quotient(left: int, right: int) -> Uint:
    return Uint(left // _divisor(right))


@declare("_/_(double, double) -> double")
def _double_quotient(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


@declare("_%_(int, int) -> int")
def _int_remainder(left: int, right: int) -> int:
    if not right:
        raise CelRuntimeError("modulus by zero")
    if left == MIN_INT and right == -1:
        raise CelRuntimeError("integer overflow")
    return int(math.copysign(1, left)) * (abs(left) % abs(right))


@declare("_%_(uint, uint) -> uint")
def _uint_remainder(left: int, right: int) -> Uint:
    if not right:
        raise CelRuntimeError("modulus by zero")
    return Uint(left % right)


def _divisor(value: int) -> int:
    if not value:
        raise CelRuntimeError("division by zero")
    return value


@declare("-_(int) -> int")
def _negative(value: int) -> int:
    return to_int(-value)


@declare("-_(double) -> double")
def _negative_double(value: float) -> float:
    return -value


@declare("_+_(timestamp, duration) -> timestamp")
def _later(moment: Moment, span: TimeSpan) -> Moment:
    return to_moment(moment.nanos + span.nanos, moment.offset)


@declare("_+_(duration, timestamp) -> timestamp")
def _later_still(span: TimeSpan, moment: Moment) -> Moment:
    return to_moment(moment.nanos + span.nanos, moment.offset)


@declare("_+_(duration, duration) -> duration")
def _longer(left: TimeSpan, right: TimeSpan) -> TimeSpan:
    return to_span(left.nanos + right.nanos)


@declare("_-_(timestamp, timestamp) -> duration", "_-_(duration, duration) -> duration")
def _between(left: Moment | TimeSpan, right: Moment | TimeSpan) -> TimeSpan:
    return to_span(left.nanos - right.nanos)


@declare("_-_(timestamp, duration) -> timestamp")
def _earlier(moment: Moment, span: TimeSpan) -> Moment:
    return to_moment(moment.nanos - span.nanos, moment.offset)


_FIRST_SECOND = -62135596800
_LAST_SECOND = 253402300799


def to_moment(nanos: int, offset: int) -> Moment:
    """A timestamp of the years 1 to 9999.

    Raises:
        CelRuntimeError: it is outside of them.
    """
    if not _FIRST_SECOND <= nanos // 10**9 <= _LAST_SECOND:
        raise CelRuntimeError("timestamp overflow")
    return Moment(nanos, offset)


def to_span(nanos: int) -> TimeSpan:
    """A duration of at most 292 years.

    Raises:
        CelRuntimeError: it is longer.
    """
    if not MIN_INT <= nanos <= MAX_INT:
        raise CelRuntimeError("integer overflow")
    return TimeSpan(nanos)


OPERATORS.declare("_==_(A, A) -> bool", "_!=_(A, A) -> bool", cost=cost_of_comparison, is_standard=True)(operator.eq)
OPERATORS.declare("_&&_(bool, bool) -> bool", "_||_(bool, bool) -> bool", is_standard=True)(operator.eq)
OPERATORS.declare("_?_:_(bool, A, A) -> A", is_standard=True)(operator.eq)
OPERATORS.declare("!_(bool) -> bool", is_standard=True)(operator.not_)
OPERATORS.declare("@in(A, list(A)) -> bool", "@in(A, map(A, B)) -> bool", is_standard=True)(operator.contains)
OPERATORS.declare(
    "_[_](list(A), int) -> A",
    "_[_](map(A, B), A) -> B",
    "_[_](optional_type(list(A)), int) -> optional_type(A)",
    "_[_](optional_type(map(A, B)), A) -> optional_type(B)",
    is_standard=True,
)(operator.getitem)
OPERATORS.declare(
    "_[?_](list(A), int) -> optional_type(A)",
    "_[?_](map(A, B), A) -> optional_type(B)",
    "_[?_](optional_type(list(A)), int) -> optional_type(A)",
    "_[?_](optional_type(map(A, B)), A) -> optional_type(B)",
    is_standard=True,
)(operator.getitem)
