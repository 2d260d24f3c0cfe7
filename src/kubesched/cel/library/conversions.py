"""Size, types and conversions between types.

Rule: cel-go v0.26; texts of numbers are as Go's strconv has them.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeVar

from kubesched.cel.cel_values import Moment, TimeSpan, TypeValue, Uint, type_name
from kubesched.cel.library.costs import cost_of_text
from kubesched.cel.library.int_limits import MAX_INT, MAX_UINT, MIN_INT
from kubesched.cel.library.time_texts import moment_text, parse_moment, parse_span, span_text
from kubesched.cel.overloads import Apply, CostOf, FunctionTable
from kubesched.errors import CelRuntimeError

CONVERSIONS = FunctionTable()

_Function = TypeVar("_Function", bound=Apply)

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UNSIGNED: Final = re.compile(r"[0-9]+", re.ASCII)
_DOUBLE: Final = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_BOOLS: Final = {
    **dict.fromkeys(("1", "t", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "false", "FALSE", "False"), False),
}
_FIRST_SECOND: Final = -62135596800
_LAST_SECOND: Final = 253402300799


def declare(*signatures: str) -> Callable[[_Function], _Function]:
    """Declare a function of the standard."""
    return CONVERSIONS.declare(*signatures, is_standard=True)


def convert(to: str, *sources: str, cost: CostOf | None = None) -> Callable[[_Function], _Function]:
    """Declare a conversion to a type."""
    return CONVERSIONS.declare(*(f"{to}({source}) -> {to}" for source in sources), cost=cost)


@declare("size(string) -> int", "size(bytes) -> int", "size(list(A)) -> int", "size(map(A, B)) -> int")
@declare("string: size() -> int", "bytes: size() -> int", "list(A): size() -> int", "map(A, B): size() -> int")
def _size(value: Any) -> int:
    return len(value)


@declare("type(A) -> type(A)")
def _type(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


@declare("dyn(A) -> dyn")
@convert("bool", "bool")
@convert("bytes", "bytes")
@convert("double", "double")
@convert("duration", "duration")
@convert("int", "int")
@convert("string", "string")
@convert("timestamp", "timestamp")
@convert("uint", "uint")
def _same(value: Any) -> Any:
    return value


def conversion_error(source: str, to: str) -> CelRuntimeError:
    """The error of a text that does not have a value of a type."""
    return CelRuntimeError(f"type conversion error from '{source}' to '{to}'")


@convert("int", "uint")
def _int_of_uint(value: int) -> int:
    if value > MAX_INT:
        raise CelRuntimeError("integer overflow")
    return int(value)


@convert("int", "double")
def _int_of_double(value: float) -> int:
    if not -(2.0**63) < value < 2.0**63:
        raise CelRuntimeError("integer overflow")
    return int(value)


@convert("int", "string")
def _int_of_string(value: str) -> int:
    if not _INTEGER.fullmatch(value) or len(value) > 40 or not MIN_INT <= int(value) <= MAX_INT:
        raise conversion_error("string", "int")
    return int(value)


@convert("int", "timestamp")
def _int_of_moment(value: Moment) -> int:
    return value.nanos // 10**9


@convert("int", "duration")
def _int_of_span(value: TimeSpan) -> int:
    return value.nanos


@convert("uint", "int")
def _uint_of_int(value: int) -> Uint:
    if value < 0:
        raise CelRuntimeError("unsigned integer overflow")
    return Uint(value)


@convert("uint", "double")
def _uint_of_double(value: float) -> Uint:
    if not 0 <= value < 2.0**64:
        raise CelRuntimeError("unsigned integer overflow")
    return Uint(value)


@convert("uint", "string")
def _uint_of_string(value: str) -> Uint:
    if not _UNSIGNED.fullmatch(value) or len(value) > 40 or int(value) > MAX_UINT:
        raise conversion_error("string", "uint")
    return Uint(value)


@convert("double", "int", "uint")
def _double_of_int(value: int) -> float:
    return float(value)


@convert("double", "string")
def _double_of_string(value: str) -> float:
    if not _DOUBLE.fullmatch(value):
        raise conversion_error("string", "double")
    number = float(value)
    if math.isinf(number) and "n" not in value.lower():
        raise conversion_error("string", "double")
    return number


@convert("bool", "string")
def _bool_of_string(value: str) -> bool:
    if value not in _BOOLS:
        raise conversion_error("string", "bool")
    return _BOOLS[value]


@convert("bytes", "string", cost=cost_of_text)
def _bytes_of_string(value: str) -> bytes:
    return value.encode()


@convert("string", "bytes", cost=cost_of_text)
def _string_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelRuntimeError("invalid UTF-8 in bytes, cannot convert to string") from None


@convert("string", "bool")
def _string_of_bool(value: bool) -> str:
    return "true" if value else "false"


@convert("string", "int", "uint")
def _string_of_int(value: int) -> str:
    return str(int(value))


@convert("string", "double")
def double_text(value: float) -> str:
    """A double as Go's `%g` has it, with as few digits as tell it apart."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, figures, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits, power = "".join(map(str, figures)), len(figures) - 1 + int(exponent)
    text = _plain(digits, power) if -4 <= power < 6 else _scientific(digits, power)
    return f"-{text}" if sign else text


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{digits[power + 1 :]}" if len(digits) > power + 1 else whole


def _scientific(digits: str, power: int) -> str:
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{power:+03d}"


@convert("timestamp", "string")
def _moment_of_string(value: str) -> Moment:
    moment = parse_moment(value)
    if moment is None:
        raise conversion_error("string", "google.protobuf.Timestamp")
    return moment


@convert("timestamp", "int")
def _moment_of_int(value: int) -> Moment:
    if not _FIRST_SECOND <= value <= _LAST_SECOND:
        raise CelRuntimeError("timestamp overflow")
    return Moment(value * 10**9)


@convert("duration", "string")
def _span_of_string(value: str) -> TimeSpan:
    span = parse_span(value)
    if span is None:
        raise conversion_error("string", "google.protobuf.Duration")
    return span


@CONVERSIONS.declare("duration(int) -> duration", until=37)
def _span_of_int(_value: int) -> TimeSpan:
    raise conversion_error("int", "google.protobuf.Duration")


convert("string", "timestamp")(moment_text)
convert("string", "duration")(span_text)
