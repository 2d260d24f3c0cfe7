"""A live scheduler that a test shows its cluster, event by event, on the real clock."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.live import LiveScheduler


class ShownCluster:
    """What a scheduler is shown, and waits for it.

    Attributes:
        live: the scheduler; a subclass creates it.
    """

    live: LiveScheduler

    def show(self, obj: KubeObject, type_: EventType = EventType.ADDED) -> None:
        """Pass it an event, as the watch does."""
        self.live.feed([WatchEvent(type_, type(obj).__name__, obj)])

    async def while_running(self, story: Callable[[], Awaitable[Any]]) -> None:
        """Let it schedule while something happens."""
        running = asyncio.create_task(self.live.run())
        try:
            await story()
        finally:
            running.cancel()
            await asyncio.wait((running,))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something holds, for twenty seconds at most."""
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - what is waited for sets no event
                await asyncio.sleep(0.001)
