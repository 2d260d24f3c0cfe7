"""Timestamps and durations as texts.

Rule: Go's time.Parse (RFC 3339) and time.ParseDuration, as cel-go v0.26 uses them.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from kubesched.cel.cel_values import Moment, TimeSpan
from kubesched.cel.library.int_limits import MAX_INT

_SECOND: Final = 10**9
_MOMENT: Final = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))", re.ASCII)
_SPAN: Final = re.compile(r"([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_SPAN_PART: Final = re.compile(r"(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_moment(text: str) -> Moment | None:
    """A timestamp such as `2026-01-01T00:00:00Z`, None for anything else."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    moment, fraction, sign, hours, minutes = match.groups()
    try:
        local = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    except ValueError:
        return None
    offset = 0
    if sign:
        if int(hours) > 24 or int(minutes) > 59:
            return None
        offset = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)
    seconds = round((local - _EPOCH) / timedelta(seconds=1)) - offset
    return Moment(seconds * _SECOND + int((fraction or "0")[:9].ljust(9, "0")), offset)


def moment_text(moment: Moment) -> str:
    """A timestamp in the zone that it was written in, with as many decimals as it needs."""
    seconds, nanos = divmod(moment.nanos, _SECOND)
    local = _EPOCH + timedelta(seconds=seconds + moment.offset)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{local:%Y-%m-%dT%H:%M:%S}{fraction}{_zone(moment.offset)}".zfill(20)


def _zone(offset: int) -> str:
    if not offset:
        return "Z"
    hours, minutes = divmod(abs(offset) // 60, 60)
    return f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}"


def parse_span(text: str) -> TimeSpan | None:
    """A duration such as `1h30m`, None for anything else."""
    if text in ("0", "+0", "-0"):
        return TimeSpan(0)
    match = _SPAN.fullmatch(text)
    if match is None:
        return None
    total = 0
    for part in _SPAN_PART.finditer(match[2]):
        whole, fraction, unit = part.groups()
        total += int((whole or "0")[:40]) * _UNITS[unit] + int((fraction or "0")[:18]) * _UNITS[unit] // 10 ** len(
            fraction[:18]
        )
    return None if total > MAX_INT else TimeSpan(-total if match[1] == "-" else total)


def span_text(span: TimeSpan) -> str:
    """A duration in seconds, with as many decimals as it needs: `1.5s`."""
    seconds, nanos = divmod(abs(span.nanos), _SECOND)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{'-' if span.nanos < 0 else ''}{seconds}{fraction}s"
