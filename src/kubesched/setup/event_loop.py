"""The event loop of a run without a server, from the plugins' `start` to their `stop`.

A task that a plugin makes in `start` needs a loop that lives as long as the run. It goes on whenever the run gives it
a turn.
"""

import asyncio
import logging
import weakref
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")
_CANCEL_SECONDS: Final = 10.0
_LOG: Final = logging.getLogger("kubesched.plugin")


class EventLoop:
    """One event loop, made when something is run for the first time.

    Where the caller is on a loop already, as in a notebook, everything runs on that one, and nothing can be waited for.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Carry a coroutine to its end.

        Raises:
            RuntimeError: it waits for something, and the caller is on an event loop.
        """
        if _running() is not None:
            return _without_waiting(coroutine)
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, _end, self._loop)  # for runs that are not closed
        task = self._loop.create_task(coroutine)
        try:
            return self._loop.run_until_complete(task)
        finally:
            if not task.done():  # Ctrl-C stops the loop, and leaves the task to whatever runs on it next
                task.cancel()
                self._loop.run_until_complete(asyncio.wait([task], timeout=_CANCEL_SECONDS))

    async def breathe(self) -> None:
        """Give tasks a turn, if there are any. To be awaited by what this runs."""
        loop = self._loop
        if loop is not None and _running() is loop and len(asyncio.all_tasks(loop)) > 1:
            await asyncio.sleep(0)

    def close(self, last: Coroutine[Any, Any, None] | None = None, *, seconds: float = 10.0) -> None:
        """End the loop; tasks that are left are cancelled.

        Args:
            last: run before that, for some seconds at most.
        """
        if last is not None:
            self.run(last if _running() is not None else _bounded(last, seconds))
        loop, self._loop = self._loop, None
        if loop is not None:
            _end(loop)


async def _bounded(coroutine: Coroutine[Any, Any, None], seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await coroutine
    except TimeoutError:
        _LOG.warning("a plugin did not stop within %g s", seconds)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop, after its tasks are cancelled; they cannot be where another loop is running. Once is enough."""
    if loop.is_closed() or loop.is_running():
        return
    if _running() is None:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _without_waiting(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError(
        "an event loop is already running in this thread, so this call cannot wait; "
        "call it from another thread, for example with asyncio.to_thread"
    )
