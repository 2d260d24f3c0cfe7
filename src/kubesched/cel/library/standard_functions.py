"""Size, types and conversions."""

from typing import Any

from kubesched.cel.cel_values import TypeValue, type_name
from kubesched.cel.overloads import FunctionTable

STANDARD_FUNCTIONS = FunctionTable()
declare = STANDARD_FUNCTIONS.declare


@declare(
    "size(string) -> int", "size(bytes) -> int", "size(list(A)) -> int", "size(map(A, B)) -> int", is_standard=True
)
@declare(
    "string: size() -> int",
    "bytes: size() -> int",
    "list(A): size() -> int",
    "map(A, B): size() -> int",
    is_standard=True,
)
def _size(value: Any) -> int:
    return len(value)


@declare("type(A) -> type(A)", is_standard=True)
def _type(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


@declare("dyn(A) -> dyn", is_standard=True)
def _dyn(value: Any) -> Any:
    return value
