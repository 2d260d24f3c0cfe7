"""A reflector at work before an API server that says what it is told to say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kubesched.api import WatchEvent
from kubesched.cluster import Reflector, Restart, list_path
from tests.cluster.fake_api_server import Answer, FakeApiServer, client_of
from tests.cluster.fake_timing import FakeTiming, run


class Heard:
    """A sink that can be waited for."""

    def __init__(self) -> None:
        self.events: list[WatchEvent] = []
        self.batches = 0
        self._more = asyncio.Event()

    def __call__(self, events: list[WatchEvent]) -> None:
        self.batches += 1
        self.events += events
        self._more.set()

    async def at_least(self, count: int) -> list[tuple[str, str, str]]:
        while len(self.events) < count:
            self._more.clear()
            await self._more.wait()
        return self.told

    @property
    def told(self) -> list[tuple[str, str, str]]:
        """Type, name and version of each event."""
        return [(e.type.value, e.object.name, e.object.metadata.resource_version) for e in self.events]


class Story:
    """A reflector at work."""

    def __init__(self, server: FakeApiServer, reflector: Reflector, heard: Heard, timing: FakeTiming) -> None:
        self.server = server
        self.reflector = reflector
        self.heard = heard
        self.timing = timing

    @property
    def lists(self) -> list[dict[str, str]]:
        return [asked.query for asked in self.server.asked_for("LIST")]

    @property
    def versions(self) -> list[str]:
        """From where each watch went on."""
        return [asked.query["resourceVersion"] for asked in self.server.asked_for("WATCH")]

    @property
    def restarts(self) -> dict[Restart, int]:
        return {reason: count for reason, count in self.reflector.counts.restarts.items() if count}

    async def watching(self, count: int) -> None:
        """Wait until that many watches were asked for."""
        await self.server.until_asked("WATCH", count)


@asynccontextmanager
async def reflecting(
    lists: list[Answer],
    watches: list[Answer],
    *,
    timing: FakeTiming | None = None,
    timeout: float = 30.0,  # noqa: ASYNC109 - of the client
    kind: str = "Node",
    **options: Any,
) -> AsyncIterator[Story]:
    timing, heard = timing or FakeTiming(), Heard()
    async with FakeApiServer() as server, client_of(server, timing=timing, timeout=timeout) as client:
        server.on("LIST", list_path(kind), *lists)
        server.on("WATCH", list_path(kind), *watches)
        reflector = Reflector(client, kind, heard, **options)
        task = asyncio.create_task(reflector.run())
        try:
            yield Story(server, reflector, heard, timing)
        finally:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


def told(lists: list[Answer], watches: list[Answer], count: int, **options: Any) -> tuple[list[Any], Story]:
    """What the sink is told of a server that says this, up to an event; and the story after it."""

    async def scenario() -> tuple[list[Any], Story]:
        async with reflecting(lists, watches, **options) as story:
            return await story.heard.at_least(count), story

    return run(scenario())
