"""Plain YAML scalars as kubectl's reader resolves them: YAML 1.1 words and numbers, time stamps as text.

Rule: sigs.k8s.io/yaml as in kubectl 1.32, checked against `kubectl annotate --local`: `y`, `on` and `yes` are true,
`017` and `0o17` are 15, `1e3` and `1_000` are numbers, `1:30`, `2024-01-01`, `=` and `<<` as a value are text.
"""

import math
import re
from functools import lru_cache
from typing import Final

__all__ = ["Scalar", "parse_boolean", "parse_number", "resolve_plain"]

Scalar = str | int | float | bool | None

_NULLS: Final = ("", "~", "null", "Null", "NULL")
_BOOLEANS: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_WORDS: Final[dict[str, Scalar]] = {**dict.fromkeys(_NULLS), **_BOOLEANS}
_NUMBER: Final = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
    r"|(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
)
_OCTAL: Final = re.compile(r"([-+]?)0([0-7]+)")
_MAX_DIGITS: Final = (
    400  # Python refuses to read integers of some thousand digits; no float has so many before the point
)


@lru_cache(maxsize=65536)
def resolve_plain(text: str) -> Scalar:
    """The value of an unquoted scalar without a tag.

    Raises:
        ValueError: a number that is not finite, which JSON cannot say.
    """
    if text in _WORDS:
        return _WORDS[text]
    return parse_number(text) if _NUMBER.fullmatch(text) else text


def parse_boolean(text: str) -> bool:
    """The value of a scalar tagged `!!bool`.

    Raises:
        ValueError: the text is none of YAML 1.1's words.
    """
    if text not in _BOOLEANS:
        raise ValueError(f"{text!r} is neither true nor false")
    return _BOOLEANS[text]


def parse_number(text: str) -> int | float:
    """The value of a number in any of YAML's forms; an integer where it is written as one.

    Raises:
        ValueError: the text is no number, or not a finite one.
    """
    digits = text.replace("_", "")
    octal = _OCTAL.fullmatch(digits)
    if octal:
        return int(octal[1] + octal[2], 8)
    try:
        return int(digits, 0)
    except ValueError:
        return _finite(digits)


def _finite(text: str) -> float:
    try:
        number = float(text) if len(text) < _MAX_DIGITS else math.inf
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]!r} is no finite number")
    return number
