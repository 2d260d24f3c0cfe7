"""The whole extender behind a socket, and what Go's client sends to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import msgspec

from kubesched.api import EventType, KubeObject, WatchEvent

# The one private name: the server as a process assembles it, with a state that a test fills instead of a watch.
from kubesched.cluster import Timing
from kubesched.extender import ClusterWrites, Extender, ExtenderOptions, ExtenderService
from kubesched.extender.extender_process import _build_server
from kubesched.framework import Plugin, Status
from kubesched.metrics import MetricsOfPlugins
from kubesched.serving import Server, ServerOptions
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.extender.asking import FilterResult
from tests.serving.running import Conversation, connected


class Wired(NamedTuple):
    """An extender that answers at a port."""

    extender: Extender
    server: Server
    service: ExtenderService

    def show(self, *objects: KubeObject, type: EventType = EventType.ADDED) -> None:
        """The watch shows objects."""
        self.extender.apply(WatchEvent(type, one.__class__.__name__, one) for one in objects)


@asynccontextmanager
async def wired(
    *plugins: type[Plugin],
    watched: Iterable[KubeObject] | None = None,
    writes: ClusterWrites | None = None,
    http_timeout: float = 5.0,
    offers_bind: bool = False,
    is_ready: bool = True,
    path_prefix: str | None = None,
    **limits: Any,
) -> AsyncIterator[Wired]:
    """Serve these plugins for the length of the block.

    Args:
        watched: what the watch has shown; None where there is no watch.
        writes: what stands in for the API server.
        limits: fields of ServerOptions.
    """
    setup = set_up(None, plugins, default_plugins=False)
    extender = Extender(setup, clock=Timing(), is_watched=watched is not None, writes=writes, offers_bind=offers_bind)
    options = ExtenderOptions(server=ServerOptions(**limits), http_timeout=http_timeout, path_prefix=path_prefix)
    server, service = _build_server(extender, options, None, None, MetricsOfPlugins())
    running = Wired(extender, server, service)
    running.show(*(watched or ()))
    await server.start()
    if is_ready:
        service.unready = ""
    try:
        yield running
    finally:
        await server.drain()
        if extender.binder is not None:
            await extender.binder.finish()


def as_go_sends(path: str, body: bytes, *, method: str = "POST", **headers: str) -> bytes:
    """A request as Go's client writes it, byte for byte; `headers` adds to it."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:8888\r\nUser-Agent: Go-http-client/1.1\r\n"
        f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\n{more}Accept-Encoding: gzip\r\n\r\n"
    )
    return head.encode() + body


class Reply(NamedTuple):
    """An answer as it came."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """Its one JSON value."""
        return json.loads(self.text)


class Client:
    """A connection of Go's client, spoken by hand."""

    def __init__(self, conversation: Conversation) -> None:
        self.raw = conversation

    async def post(self, path: str, body: bytes, **headers: str) -> Reply:
        return await self.say(as_go_sends(path, body, **headers))

    async def get(self, path: str) -> Reply:
        return Reply(*await self.raw.ask("GET", path))

    async def say(self, request: bytes) -> Reply:
        """Send bytes, and read one answer."""
        await self.raw.send_raw(request)
        return await self.hear()

    async def hear(self) -> Reply:
        return Reply(*await self.raw.answer())

    async def is_closed(self) -> bool:
        closed: bool = await self.raw.is_closed()
        return closed


@asynccontextmanager
async def calling(running: Wired) -> AsyncIterator[Client]:
    """A connection to it."""
    async with connected(running.server) as conversation:
        yield Client(conversation)


async def ask(running: Wired, path: str, body: bytes, **headers: str) -> Reply:
    """One request on a connection of its own."""
    async with calling(running) as client:
        return await client.post(path, body, **headers)


async def get(running: Wired, path: str) -> Reply:
    """A page, on a connection of its own."""
    async with calling(running) as client:
        return await client.get(path)


# --- stories ---

T = TypeVar("T")
Story = Callable[[Wired, Client], Coroutine[Any, Any, T]]


class First(Plugin):
    """Likes n1, and takes no other node."""

    def filter(self, state, pod, node):
        return Status.SUCCESS if node.name == "n1" else Status.unresolvable("not the first")

    def score(self, state, pod, node):
        return 100 if node.name == "n1" else 0

    def preempt(self, state, pod, victims_by_node):
        return {name: victims for name, victims in victims_by_node.items() if name == "n1"}


def cluster() -> list[KubeObject]:
    victim = make_pod("v", namespace="d", node="n1", metadata={"uid": "v1"})
    return [make_node("n1"), make_node("n2"), victim]


def tell(story: Story[T], *plugins: type[Plugin], **options: Any) -> T:
    """What a story over one connection to an extender gives."""

    async def telling() -> T:
        async with (
            wired(*plugins or (First,), **{"watched": cluster()} | options) as running,
            calling(running) as client,
        ):
            return await story(running, client)

    return asyncio.run(telling())


def posted(path: str, body: bytes, *plugins: type[Plugin], **options: Any) -> Reply:
    return tell(lambda _, client: client.post(path, body), *plugins, **options)


def filtered(reply: Reply) -> FilterResult:
    assert reply.status == 200
    return msgspec.json.decode(reply.text, type=FilterResult)
