"""How commands that run until they are told to stop are told."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Ending", "ending_on_signals"]


class Ending:
    """Whether to end, and at whose wish.

    Attributes:
        stop: set at the first signal.
        is_interrupted: whether Ctrl-C was among them.
    """

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.is_interrupted = False
        self._loop = asyncio.get_running_loop()

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Ask for the end. A second Ctrl-C does not wait for it, and breaks off a plugin that keeps the loop busy."""
        was_interrupted = self.is_interrupted
        self.is_interrupted = was_interrupted or number == signal.SIGINT
        self._loop.call_soon_threadsafe(self.stop.set)
        if was_interrupted and number == signal.SIGINT:
            raise KeyboardInterrupt


@contextmanager
def ending_on_signals() -> Iterator[Ending]:
    """Catch SIGTERM and Ctrl-C inside the block, on a running loop.

    Python's own handlers are used, not the loop's: those would wait for a plugin that never comes back.
    """
    ending = Ending()
    before = {number: signal.signal(number, ending.on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
