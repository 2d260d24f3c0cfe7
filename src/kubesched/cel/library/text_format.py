"""`'%s of %d'.format([a, b])`: what the clauses mean, and the errors of those that mean nothing.

Rule: cel-go v0.26 ext.Strings, as Kubernetes v1.36 has it: `%f` groups digits and `%e` writes powers of ten.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from kubesched.cel.cel_values import LISTS, MAPS, Moment, TimeSpan, TypeValue, Uint, keys_of, type_name
from kubesched.cel.library.conversions import double_text
from kubesched.cel.library.costs import MOST_CHARACTERS, check_size
from kubesched.cel.library.time_texts import moment_text, span_text
from kubesched.errors import CelRuntimeError

_CLAUSE: Final = re.compile(r"%(?:\.([^A-Za-z%]*))?(.?)", re.DOTALL)
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_INFINITIES: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_DEFAULT_PRECISION: Final = 6
_MOST_PRECISION: Final = 1000
_ANYTHING: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
    "and timestamps, was given {}"
)


def formatted(template: str, values: list[Any]) -> str:
    """A text with values in the place of its clauses.

    Raises:
        CelRuntimeError: with upstream's text.
    """
    parts, used = [], 0
    for literal, clause, precision in clauses(template):
        parts.append(literal)
        if not clause:
            continue
        if used >= len(values):
            raise CelRuntimeError(f"index {used} out of range")
        parts.append(_one(clause, precision, values[used]))
        used += 1
    check_size(sum(map(len, parts)), MOST_CHARACTERS)
    return "".join(parts)


def clauses(template: str) -> Iterator[tuple[str, str, int]]:
    """The literal texts of a template, each with the letter and the precision of the clause after it.

    Raises:
        CelRuntimeError: a clause does not parse.
    """
    position = 0
    literal = ""
    while (start := template.find("%", position)) >= 0:
        literal += template[position:start]
        match = _CLAUSE.match(template, start)
        if match is None or match[0] == "%":
            raise CelRuntimeError("unexpected end of string")
        position = match.end()
        if match[0] == "%%":
            literal += "%"
            continue
        yield literal, _letter(match), _precision(match)
        literal = ""
    yield literal + template[position:], "", 0


def _letter(match: re.Match[str]) -> str:
    letter, start = match[2], "could not parse formatting clause: "
    if match[1] is not None and not letter:
        raise CelRuntimeError(f"{start}error while parsing precision: could not find end of precision specifier")
    if match[1] is not None and not match[1].isdigit():
        reason = f'error while converting precision to integer: strconv.Atoi: parsing "{match[1]}": invalid syntax'
        raise CelRuntimeError(f"{start}error while parsing precision: {reason}")
    if letter not in _WRITERS:
        raise CelRuntimeError(f'{start}unrecognized formatting clause "{letter}"')
    return letter


def _precision(match: re.Match[str]) -> int:
    return min(int(match[1][:5]), _MOST_PRECISION) if match[1] else _DEFAULT_PRECISION


def _one(clause: str, precision: int, value: Any) -> str:
    try:
        return _WRITERS[clause](value, precision)
    except CelRuntimeError as error:
        raise CelRuntimeError(f"error during formatting: {error}") from None


def check_clause(clause: str, kind: str) -> str:
    """What is wrong with a type in a clause, empty if nothing is."""
    allowed, problem = _ALLOWED[clause]
    return "" if kind in allowed else f"error during formatting: {problem.format(kind)}"


def _string(value: Any, _precision: int) -> str:
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is float:
        return double_text(value)
    if kind is bytes:
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            reason = "invalid UTF-8 in bytes, cannot convert to string"
            raise CelRuntimeError(f'could not convert argument "{reason}" to string') from None
    if kind is TimeSpan:
        return span_text(value)
    if kind is Moment:
        return moment_text(value)
    if kind not in _NESTED and kind not in LISTS | MAPS:
        raise CelRuntimeError(_ANYTHING.format(type_name(value)))
    return _nested(value)


def _nested(value: Any) -> str:
    """A value inside of a list or map."""
    kind = type(value)
    if kind in LISTS:
        return f"[{_joined(map(_nested, value))}]"
    if kind in MAPS:
        entries = zip(map(_nested, keys_of(value)), map(_nested, value.values()), strict=True)
        return "{" + _joined(sorted(f"{key}:{entry}" for key, entry in entries)) + "}"
    if kind not in _NESTED:
        raise CelRuntimeError(f"no formatting function for {type_name(value)}")
    return _NESTED[kind](value)


def _joined(texts: Iterable[str]) -> str:
    parts, size = [], 0
    for text in texts:
        size += len(text)
        check_size(size, MOST_CHARACTERS)
        parts.append(text)
    return ", ".join(parts)


def _quoted(text: str) -> str:
    return '"' + re.sub(r'[\a\b\f\n\r\t\v\\"]', lambda match: _QUOTES[match[0]], text) + '"'


_QUOTES: Final = {
    **{chr(7 + i): f"\\{letter}" for i, letter in enumerate("abtnvfr")},
    "\\": "\\\\",
    '"': '\\"',
}
_NESTED: Final[dict[type, Callable[[Any], str]]] = {
    str: _quoted,
    bool: lambda value: str(value).lower(),
    int: str,
    Uint: lambda value: str(int(value)),
    float: lambda value: f"{value:.6f}",
    bytes: lambda value: f'b"{value.decode(errors="replace")}"',
    type(None): lambda _: "null",
    TimeSpan: lambda value: f'duration("{span_text(value)}")',
    Moment: lambda value: f'timestamp("{moment_text(value)}")',
    TypeValue: lambda value: str(value.name),
}


def _decimal(value: Any, _precision: int) -> str:
    return str(int(_expected(value, "d")))


def _number(value: Any, clause: str) -> float:
    if type(value) is str and value in _INFINITIES:
        return _INFINITIES[value]
    if type(value) is not float:
        raise CelRuntimeError(_ALLOWED[clause][1].format(type_name(value)))
    return value


def _special(number: float) -> str:
    """NaN and infinities."""
    return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _fixed_point(value: Any, precision: int) -> str:
    number = _number(value, "f")
    return f"{number:,.{precision}f}" if math.isfinite(number) else _special(number)


def _scientific(value: Any, _precision: int) -> str:
    number = _number(value, "e")
    if not math.isfinite(number):
        return _special(number).rjust(6 if math.isnan(number) else 3)
    digits, _, exponent = f"{number:.6e}".partition("e")
    sign = "-" if exponent.startswith("-") else ""
    return f"{digits}×10{(sign + exponent[1:]).translate(_SUPERSCRIPTS)}"


def _expected(value: Any, clause: str) -> Any:
    """A value, if a clause takes its type."""
    allowed, problem = _ALLOWED[clause]
    if type_name(value) not in allowed:
        raise CelRuntimeError(problem.format(type_name(value)))
    return value


def _binary(value: Any, _precision: int) -> str:
    return f"{int(_expected(value, 'b')):b}"


def _octal(value: Any, _precision: int) -> str:
    return f"{int(_expected(value, 'o')):o}"


def _hex(value: Any, _precision: int) -> str:
    checked = _expected(value, "x")
    if isinstance(checked, str):
        return checked.encode().hex()
    return bytes(checked).hex() if isinstance(checked, bytes) else f"{int(checked):x}"


_INTEGERS: Final = frozenset({"int", "uint"})
_DOUBLES: Final = frozenset({"double", "string"})
_HEX: Final = (
    _INTEGERS | {"string", "bytes"},
    "only integers, byte buffers, and strings can be formatted as hex, was given {}",
)
_ALLOWED: Final = {
    "s": (
        _INTEGERS
        | {"double", "string", "bytes", "bool", "null_type", "list", "map", "type"}
        | {"google.protobuf.Duration", "google.protobuf.Timestamp"},
        _ANYTHING,
    ),
    "d": (_INTEGERS, "decimal clause can only be used on integers, was given {}"),
    "f": (_DOUBLES, "fixed-point clause can only be used on doubles, was given {}"),
    "e": (_DOUBLES, "scientific clause can only be used on doubles, was given {}"),
    "b": (_INTEGERS | {"bool"}, "only integers and bools can be formatted as binary, was given {}"),
    "o": (_INTEGERS, "octal clause can only be used on integers, was given {}"),
    "x": _HEX,
    "X": _HEX,
}
_WRITERS: Final[dict[str, Callable[[Any, int], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed_point,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
}
