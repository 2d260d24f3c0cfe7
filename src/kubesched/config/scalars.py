"""Scalar types of the configuration API: sized integers, and durations as Go writes them ("1m30s")."""

import re
from typing import Annotated, Final

import msgspec

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_NANOSECONDS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # U+00B5, the micro sign
    "μs": 10**3,  # U+03BC, the Greek letter
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<unit>[^0-9.]*)")
_MAX_NANOSECONDS: Final = 2**63 - 1
_MAX_DIGITS: Final = 20  # of a number: more do not fit, and behind the point they are less than a nanosecond


class Duration(float):
    """A length of time in seconds; files write it as a Go duration, such as `15s` or `1m30s`.

    `str()` gives Go's spelling back. As a type of a PluginArgs field it is read from such a text.
    """

    __slots__ = ()

    def __str__(self) -> str:
        nanoseconds = round(self * 10**9)
        sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
        return sign + _spell(rest)


def parse_duration(text: str) -> Duration:
    """Read a Go duration: signed decimal numbers, each with a unit of ns, us, ms, s, m or h.

    Raises:
        ValueError: the text is none; the message is Go's.
    Rule: Go time.ParseDuration.
    """
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return Duration(0)
    if not unsigned:
        raise ValueError(f'time: invalid duration "{text}"')
    total = 0
    position = 0
    while position < len(unsigned):
        amount, position = _read_part(unsigned, position, text)
        total += amount
    if total > _MAX_NANOSECONDS:
        raise ValueError(f'time: invalid duration "{text}"')
    return Duration(-total / 10**9 if text[0] == "-" else total / 10**9)


def _read_part(unsigned: str, position: int, text: str) -> tuple[int, int]:
    """The nanoseconds of the number and unit at `position`, and where the next part begins."""
    part = _PART.match(unsigned, position)
    whole, fraction, unit = (part["whole"], part["fraction"] or "", part["unit"]) if part else ("", "", "")
    if not whole and not fraction:
        raise ValueError(f'time: invalid duration "{text}"')
    if not unit:
        raise ValueError(f'time: missing unit in duration "{text}"')
    if unit not in _NANOSECONDS:
        raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
    scale = _NANOSECONDS[unit]
    if len(whole.lstrip("0")) > _MAX_DIGITS:
        raise ValueError(f'time: invalid duration "{text}"')
    kept = fraction[:_MAX_DIGITS]
    nanoseconds = int(whole.lstrip("0") or "0") * scale + int(kept or "0") * scale // 10 ** len(kept)
    return nanoseconds, position + len(whole) + len(unit) + (len(fraction) + 1 if _has_point(part) else 0)


def _has_point(part: re.Match[str] | None) -> bool:
    return part is not None and part["fraction"] is not None


def _spell(nanoseconds: int) -> str:
    for unit, scale in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if 0 < nanoseconds < min(scale * 1000, 10**9):
            return f"{_decimal(nanoseconds, scale)}{unit}"
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, 10**9)}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(amount: int, scale: int) -> str:
    whole, rest = divmod(amount, scale)
    if not rest:
        return str(whole)
    digits = str(rest).rjust(len(str(scale)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"
