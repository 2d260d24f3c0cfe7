"""Turns SIGINT and SIGTERM into a stop event or an exception, and ignores SIGUSR2 while nothing can serve it."""

import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeVar

T = TypeVar("T")
_KILLED: Final = 128  # and the number of the signal, as a shell reports it
_LOG: Final = logging.getLogger("kubesched")


class Ending:
    """A request to end, which signals make.

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
def ignoring_sigusr2() -> Iterator[None]:
    """Log SIGUSR2 inside the block, where its default action would end the process. Inner handlers come first."""
    if not hasattr(signal, "SIGUSR2"):  # Windows
        yield
        return
    before = signal.signal(signal.SIGUSR2, _note_sigusr2)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR2, before)


def _note_sigusr2(number: int, frame: FrameType | None) -> None:
    _LOG.warning("SIGUSR2 is ignored: the scheduler is starting or stopping; send it again when it runs")


def run_until_told(main: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine to its end, as asyncio.run does.

    A `sys.exit` in a task of a plugin ends only this task; it would otherwise end the loop, and what others wait for.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(main)
        while True:
            try:
                return loop.run_until_complete(task)
            except SystemExit as error:
                if task.done():
                    raise
                _LOG.error("a task raised SystemExit: %s; only this task ends", error)


@contextmanager
def leaving_on_sigterm() -> Iterator[None]:
    """Raise SystemExit at SIGTERM inside the block, so that what the block has started is ended."""
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(_KILLED + number)


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
