"""Time that passes when somebody sleeps, and chance that never adds anything."""

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, TypeVar

from kubesched.cluster import Timing

T = TypeVar("T")


class NoChance(random.Random):
    def random(self) -> float:
        return 0.0

    def randint(self, a: int, b: int) -> int:
        return a


class FakeTiming(Timing):
    """A clock that stands still but for `sleep`, which takes no time; `naps` are the seconds that were slept."""

    def __init__(self) -> None:
        self.rng = NoChance()
        self.seconds = 1000.0
        self.naps: list[float] = []

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> float:
        return 1_700_000_000.0 + self.seconds

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


def run(scenario: Coroutine[Any, Any, T]) -> T:
    """Run a scenario to its end, which has to come within ten seconds."""

    async def within_time() -> T:
        async with asyncio.timeout(10):
            return await scenario

    return asyncio.run(within_time())
