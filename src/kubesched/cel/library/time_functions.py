"""Parts of timestamps and durations.

Rule: cel-spec "Standard definitions". Zones are `UTC` or an offset such as `+02:00`; upstream also takes names such as
`Europe/Berlin`, whose rules would have to be read from disk.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from kubesched.cel.cel_values import Moment, TimeSpan
from kubesched.cel.overloads import FunctionTable
from kubesched.errors import CelRuntimeError

TIME_FUNCTIONS = FunctionTable()
declare = TIME_FUNCTIONS.declare

_OFFSET: Final = re.compile(r"([+-]?)(\d+):(\d+)", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
    "getMilliseconds": lambda moment: moment.microsecond // 1000,
}


def _declare_part(name: str, part: Callable[[datetime], int]) -> None:
    @declare(f"timestamp: {name}() -> int", f"timestamp: {name}(string) -> int")
    def apply(moment: Moment, zone: str = "UTC") -> int:
        return part(_EPOCH + timedelta(microseconds=moment.nanos // 1000) + _offset(zone))


for _name, _part in _PARTS.items():
    _declare_part(_name, _part)


def _offset(zone: str) -> timedelta:
    """The offset of a zone from UTC."""
    if zone in ("", "UTC"):
        return timedelta()
    if ":" not in zone:
        raise CelRuntimeError(f"unknown time zone {zone}")
    match = _OFFSET.fullmatch(zone)
    if match is None or len(zone) > 9:
        raise CelRuntimeError(f'strconv.Atoi: parsing "{zone.partition(":")[0]}": invalid syntax')
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return -offset if match[1] == "-" else offset


for _name, _unit in {"Hours": 3600 * 10**9, "Minutes": 60 * 10**9, "Seconds": 10**9, "Milliseconds": 10**6}.items():

    @declare(f"duration: get{_name}() -> int")
    def _whole(span: TimeSpan, unit: int = _unit) -> int:
        whole = abs(span.nanos) // unit
        return -whole if span.nanos < 0 else whole
