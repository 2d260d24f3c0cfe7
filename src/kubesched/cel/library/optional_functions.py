"""Optional values: `optional.of(x).orValue(y)`.

Rule: cel-go v0.26 "Optional types". `or` and `orValue` do not evaluate their argument if there is a value; the
compiler sees to it.
"""

from typing import Any

from kubesched.cel.cel_values import NONE, OptionalValue, TimeSpan
from kubesched.cel.overloads import FunctionTable
from kubesched.errors import CelRuntimeError

OPTIONAL_FUNCTIONS = FunctionTable()
declare = OPTIONAL_FUNCTIONS.declare


@declare("optional.of(A) -> optional_type(A)")
def of_value(value: Any) -> OptionalValue:
    """An optional value that is there."""
    return OptionalValue(value, is_there=True)


@declare("optional.none() -> optional_type(A)")
def _none() -> OptionalValue:
    return NONE


@declare("optional.ofNonZeroValue(A) -> optional_type(A)")
def _of_non_zero(value: Any) -> OptionalValue:
    return of_value(value) if value and value != TimeSpan(0) else NONE


@declare("optional_type(A): hasValue() -> bool")
def _has_value(optional: OptionalValue) -> bool:
    return optional.is_there


@declare("optional_type(A): value() -> A")
def _value(optional: OptionalValue) -> Any:
    if not optional.is_there:
        raise CelRuntimeError("optional.none() dereference")
    return optional.value


@declare("optional_type(A): or(optional_type(A)) -> optional_type(A)")
def _or(optional: OptionalValue, other: OptionalValue) -> OptionalValue:
    return optional if optional.is_there else other


@declare("optional_type(A): orValue(A) -> A")
def _or_value(optional: OptionalValue, other: Any) -> Any:
    return optional.value if optional.is_there else other


@declare("optional.unwrap(list(optional_type(A))) -> list(A)", "list(optional_type(A)): unwrapOpt() -> list(A)")
def _unwrapped(optionals: list[OptionalValue]) -> list[Any]:
    return [optional.value for optional in optionals if optional.is_there]
