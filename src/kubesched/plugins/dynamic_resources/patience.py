"""How long the search on one node may go on.

Rule: kube-scheduler v1.36 DRASchedulerFilterTimeout: a search that takes longer than filterTimeout fails. Where the
clock stands still, as in a simulation, the devices that are looked at are counted instead.
"""

from typing import Final

from kubesched.framework import Clock

MOST_LOOKS: Final = 200_000
"""Devices that a search looks at while the clock stands still, in about a second."""

_LOOKS_PER_READING: Final = 1024


class Looks:
    """So many devices.

    Attributes:
        is_over: whether the search has to end.
        is_timed: whether that is because of the time.
    """

    __slots__ = ("_left", "is_over", "is_timed")

    def __init__(self, most: int) -> None:
        self.is_over = False
        self.is_timed = False
        self._left = most

    def look(self) -> bool:
        """Count a device that is about to be looked at. Returns: whether the search has to end."""
        self._left -= 1
        self.is_over = self._left < 0
        return self.is_over


class Patience:
    """Of one search.

    Args:
        seconds: the limit; 0 for none.

    Attributes:
        is_over: whether the search has to end.
        is_timed: whether that is because of the time.
    """

    __slots__ = ("_clock", "_end", "_n_looks", "_seconds", "_start", "is_over", "is_timed")

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.is_over = False
        self.is_timed = False
        self._clock = clock
        self._seconds = seconds
        self._start = 0.0
        self._n_looks = 0
        self._end = min(_LOOKS_PER_READING, MOST_LOOKS)

    def look(self) -> bool:
        """Count a device that is about to be looked at. Returns: whether the search has to end."""
        self._n_looks += 1
        if self._n_looks > self._end:
            self._read_clock()
        return self.is_over

    def _read_clock(self) -> None:
        now = self._clock.monotonic()
        if self._end <= _LOOKS_PER_READING:
            self._start = now
        stands_still = now == self._start
        self.is_timed = bool(self._seconds) and now - self._start > self._seconds
        self.is_over = self.is_timed or (stands_still and self._n_looks > MOST_LOOKS)
        self._end += _LOOKS_PER_READING
