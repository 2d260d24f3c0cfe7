"""Clock, sleep and random numbers for this room, in one place so that tests can replace them."""

import asyncio
import random
import time
from typing import Final

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", None)


class Timing:
    """The machine's clocks, sleep and chance.

    Attributes:
        rng: where jitter comes from.
    """

    def __init__(self) -> None:
        self.rng = random.Random()

    def monotonic(self) -> float:
        """Seconds, for durations. On Linux those count in which the machine was suspended: others count them, too, and
        may have taken a lease in the meantime.
        """
        return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC, for stamps."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run for so long."""
        await asyncio.sleep(seconds)
