"""An event loop on which time passes only while everybody waits, and then at once."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Instead of waiting for a timer, it moves the clock of its loop there."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everybody waits for something that never comes"
            self.loop.seconds += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Attributes:
    seconds: what its clock shows.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.seconds


def run(story: Coroutine[Any, Any, T]) -> T:
    """Run a story on a clock that begins at 0."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(story)


def now() -> float:
    """What the clock of the story shows."""
    return asyncio.get_running_loop().time()


async def settle(rounds: int = 20) -> None:
    """Let everybody go on who can without time passing."""
    for _ in range(rounds):
        await asyncio.sleep(0)


class LoopClock:
    """The clock of plugins: that of the loop that it is made on; where there is none, it stands still."""

    def __init__(self) -> None:
        try:
            self.monotonic = asyncio.get_running_loop().time
        except RuntimeError:
            self.monotonic = float

    def now(self) -> float:
        return 1_700_000_000.0 + self.monotonic()
