"""A memory budget that many transfers share: bodies that arrive, answers that leave.

A transfer holds what has arrived, or what is still to leave. While there is room, everybody may go on. When there is
none, clients that hardly send or take anything lose their place first. Of the others, the one that began first goes on,
so that something always ends and makes room; the rest wait, which costs time and no memory.
"""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from kubesched.errors import NoRoomError

_SMALL: Final = 2**16  # bytes; transfers up to here never wait
_LEAST_RATE: Final = 2**14  # bytes a second
_WINDOW: Final = 1.0  # seconds over which the rate is taken
_LOOK_SECONDS: Final = 0.25  # between two checks for slow transfers


class Transfer:
    """One body on its way.

    Attributes:
        held: bytes that it holds.
        is_waiting: whether it waits for room, which is not its client's fault.
        is_dropped: whether it lost its place to others.
    """

    def __init__(self, drop: Callable[[], None]) -> None:
        """Begin.

        Args:
            drop: ends the transfer.
        """
        self.held = 0
        self.is_waiting = False
        self.is_dropped = False
        self._drop = drop
        self._last_rate = math.inf  # of the window before this one
        self._begin_window()

    def note(self, n: int) -> None:
        """Count n bytes as moved."""
        self._n_moved += n
        self._roll_window()

    def is_slow(self) -> bool:
        """Whether less than the least rate moves. It is not slow within the first second, or while it has to wait."""
        self._roll_window()  # a client that has gone silent does not call `note`
        return not self.is_waiting and max(self._last_rate, self._n_moved / _WINDOW) < _LEAST_RATE

    def drop(self) -> None:
        """End it, for others need its place."""
        if not self.is_dropped:
            self.is_dropped = True
            self._drop()

    def end(self) -> None:
        """Let go of what it would drop, which holds the body."""
        self._drop = _nothing

    def go_on(self) -> None:
        """Move again after a wait."""
        self.is_waiting = False
        self._last_rate = math.inf
        self._begin_window()

    def _roll_window(self) -> None:
        """End a window that is long enough."""
        seconds = _now() - self._since
        if seconds >= _WINDOW:
            self._last_rate = self._n_moved / seconds
            self._begin_window()

    def _begin_window(self) -> None:
        self._since, self._n_moved = _now(), 0


class ByteBudget:
    """What all transfers of one direction may hold.

    Attributes:
        limit: bytes; the transfer that goes on when there is no room may exceed it.
        held: bytes that they hold.
        peak: the most that they held; a reader may reset it.
    """

    def __init__(self, limit: int, *, seconds: float) -> None:
        """Share some bytes.

        Args:
            seconds: how long anybody may wait for room at a time.
        """
        self.limit = limit
        self.held = self.peak = 0
        self._seconds = seconds
        self._moving: dict[Transfer, None] = {}  # in the order in which they began
        self._change = asyncio.Event()

    def begin(self, drop: Callable[[], None]) -> Transfer:
        """Begin a transfer, which holds nothing yet; `end` it.

        Args:
            drop: called when others need its place.
        """
        transfer = Transfer(drop)
        self._moving[transfer] = None
        return transfer

    def hold(self, transfer: Transfer, n: int) -> None:
        """Count bytes, whether there is room or not."""
        transfer.held += n
        self.held += n
        self.peak = max(self.peak, self.held)

    def try_take(self, transfer: Transfer, n: int) -> bool:
        """Count bytes that have arrived if there is room for them."""
        if not self._has_room(transfer, n):
            return False
        self.hold(transfer, n)
        transfer.note(n)
        return True

    async def take(self, transfer: Transfer, n: int) -> None:
        """Count bytes that have arrived, once there is room for them.

        Raises:
            NoRoomError: there was none for too long.
        """
        if self.try_take(transfer, n):
            return
        transfer.is_waiting = True
        try:
            await self._until(lambda: self.try_take(transfer, n), self._seconds)
        finally:
            transfer.go_on()

    def complete(self, transfer: Transfer) -> None:
        """Nothing more moves; what it holds it holds until its end."""
        del self._moving[transfer]
        self._change.set()

    def end(self, transfer: Transfer) -> None:
        """Give everything back."""
        self._moving.pop(transfer, None)
        self.held -= transfer.held
        transfer.held = 0
        transfer.end()
        self._change.set()

    @property
    def is_used_up(self) -> bool:
        """Whether the limit is reached."""
        return self.held >= self.limit

    async def until_room(self, seconds: float) -> None:
        """Wait for room, for some seconds, before something begins that is going to need some.

        Raises:
            NoRoomError: there was none for too long.
        """
        if self.is_used_up:
            await self._until(lambda: not self.is_used_up, seconds)

    def _has_room(self, transfer: Transfer, n: int) -> bool:
        is_small = transfer.held + n <= _SMALL
        return is_small or self.held + n <= self.limit or transfer is next(iter(self._moving))

    async def _until(self, has_room: Callable[[], bool], seconds: float) -> None:
        """Wait, and drop transfers that are slow at two checks in a row: at the first one, we may have been slow."""
        end = _now() + seconds
        next_look = 0.0
        slow: list[Transfer] = []
        while not has_room():
            if _now() >= end:
                raise NoRoomError
            self._change.clear()
            if _now() >= next_look:
                next_look = _now() + _LOOK_SECONDS
                were_slow, slow = set(slow), [transfer for transfer in self._moving if transfer.is_slow()]
                for transfer in slow:
                    if transfer in were_slow:
                        transfer.drop()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):  # wait_for of Python 3.11 may swallow a cancellation
                    await self._change.wait()


def _nothing() -> None:
    """Nothing is left to drop."""


def _now() -> float:
    return asyncio.get_running_loop().time()
