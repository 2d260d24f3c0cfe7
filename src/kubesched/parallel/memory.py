"""How much memory a worker needs, and how many of them there is room for."""

from pathlib import Path
from typing import Final

_BASE: Final = 90 << 20
"""Bytes of a process with kubesched and NumPy."""
_PER_BYTE: Final = 30
"""Bytes that a cluster needs with what two configurations keep of it, for each byte that it is sent as."""
_MEMINFO: Final = Path("/proc/meminfo")
_CGROUPS: Final = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def needed_by_worker(size: int) -> int:
    """The bytes that a worker needs for a content of some bytes, estimated before it starts."""
    return _BASE + _PER_BYTE * size


def room_for(size: int) -> int | None:
    """How many workers the available memory has room for; None where that is not known."""
    free = available()
    return None if free is None else free // needed_by_worker(size)


def available() -> int | None:
    """The bytes that this machine has free, or its control group, if that allows less; None where it is not known."""
    found = [limit - used for limit, used in map(_limit_and_use, _CGROUPS) if limit is not None and used is not None]
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        found.append(int(lines["MemAvailable"].split()[0]) << 10)
    except (OSError, ValueError, KeyError):  # another system than Linux
        pass
    return max(min(found), 0) if found else None


def _limit_and_use(files: tuple[Path, Path]) -> tuple[int | None, int | None]:
    limit, used = map(_number, files)
    return limit, used


def _number(file: Path) -> int | None:
    """The number in a file; None without a file, and for `max`."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
