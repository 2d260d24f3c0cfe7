"""Resolves plain YAML scalars as kubectl's reader does: YAML 1.1 words and numbers, time stamps as text.

Rule: sigs.k8s.io/yaml as in kubectl 1.32, checked against `kubectl annotate --local`: `y`, `on` and `yes` are true,
`017` and `0o17` are 15, `1e3` and `1_000` are 1000, `1:30`, `2024-01-01`, `1e999`, `=` and `<<` as a value are text.
"""

import math
import re
from functools import lru_cache
from typing import Final

Scalar = str | int | float | bool | None

_NULLS: Final = ("", "~", "null", "Null", "NULL")
_BOOLEANS: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_WORDS: Final[dict[str, Scalar]] = {**dict.fromkeys(_NULLS), **_BOOLEANS}
_NUMBER: Final = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
    r"|(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?)"
)
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_OCTAL: Final = re.compile(r"([-+]?)0([0-7]+)")
_MAX_DIGITS: Final = 400  # Python refuses to read integers of some thousand digits, and no float64 has so many
_MAX_WHOLE: Final = 1e21  # from here on Go writes a whole number with an exponent


@lru_cache(maxsize=65536)
def resolve_plain(text: str) -> Scalar:
    """The value of an unquoted scalar without a tag.

    Raises:
        ValueError: a number that is not finite, which JSON cannot express.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text!r} is not a finite number; put it in quotes if it is text")
    return parse_number(text) if _NUMBER.fullmatch(text) else text


def parse_boolean(text: str) -> bool:
    """The value of a scalar tagged `!!bool`.

    Raises:
        ValueError: the text is none of YAML 1.1's words.
    """
    if text not in _BOOLEANS:
        raise ValueError(f"{text!r} is neither true nor false")
    return _BOOLEANS[text]


def parse_number(text: str) -> int | float | str:
    """The value of a number in any of YAML's forms: an integer where it is whole, text where no float64 holds it.

    Raises:
        ValueError: the text is not a number.
    """
    digits = text.replace("_", "")
    if len(digits) > _MAX_DIGITS:
        return text
    octal = _OCTAL.fullmatch(digits)
    try:
        return int(f"{octal[1]}0o{octal[2]}" if octal else digits, 0)
    except ValueError:
        return _parse_float(text, digits)


def _parse_float(text: str, digits: str) -> int | float | str:
    try:
        number = float(digits)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not math.isfinite(number):
        return text
    return int(number) if number.is_integer() and abs(number) < _MAX_WHOLE else number
