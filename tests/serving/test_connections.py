"""A client that keeps a server waiting gives way to others; one that waits for the server does not."""

import asyncio
import gc
import socket
import ssl
import time
from asyncio.sslproto import SSLProtocol
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from campaigns.idle.clients import KINDS, Target, attack
from campaigns.idle.probes import probe
from kubesched.serving import QuickAnswer, QuickHandler, Server, TlsFiles, add_health
from kubesched.serving.connections import Connection, Stage
from tests.serving.certificates import Authority
from tests.serving.running import Conversation, connected, hello, new_server, serving

FIRST_SECONDS = 2.0
PATIENCE = FIRST_SECONDS / 4
FEW: dict[str, Any] = {"max_connections": 8, "max_silent": 8, "first_seconds": FIRST_SECONDS}
N_CLIENTS = 12  # more than there are places at any stage


def run(story: Any) -> Any:
    return asyncio.run(asyncio.wait_for(story, 30))


# --- places ---


class Guests:
    """Connections whose clients say nothing, and places for two of them."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.open: set[Connection] = set()
        self.stage = Stage(2, patience=0.0)

    def come(self) -> tuple[Connection, socket.socket]:
        """Accept one. Returns: it, and its client."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = self._stack.enter_context(socket.create_connection(listener.getsockname()))
            connection = self._stack.enter_context(Connection(listener.accept()[0], self.open))
        client.settimeout(5)
        return connection, client


@pytest.fixture
def guests() -> Iterator[Guests]:
    with ExitStack() as stack:
        yield Guests(stack)


def test_the_client_that_took_longest_gives_way(guests: Guests) -> None:
    (first, one), (second, _), (third, _) = guests.come(), guests.come(), guests.come()
    assert first.enter(guests.stage)
    assert second.enter(guests.stage)
    assert third.enter(guests.stage)
    assert one.recv(1) == b""
    assert len(guests.stage) == 2


def test_a_client_that_was_answered_is_the_last_to_give_way(guests: Guests) -> None:
    (first, _), (second, two), (third, _) = guests.come(), guests.come(), guests.come()
    for each in (first, second):
        each.enter(guests.stage)
    first.work()
    first.wait()
    third.enter(guests.stage)
    assert two.recv(1) == b""


def test_nobody_gives_way_who_waits_for_us(guests: Guests) -> None:
    (first, _), (second, two), (third, _) = guests.come(), guests.come(), guests.come()
    for each in (first, second):
        each.enter(guests.stage)
    first.work()
    two.sendall(b"a request that nobody has read")
    while not second.has_unread():
        time.sleep(0.001)
    assert not third.enter(guests.stage)
    guests.stage.look(0.0)
    assert second.recv(100)
    assert third.enter(guests.stage)


def test_a_client_that_came_just_now_does_not_give_way(guests: Guests) -> None:
    stage = Stage(1, patience=60.0)
    (first, _), (second, _) = guests.come(), guests.come()
    assert first.enter(stage)
    assert not second.enter(stage)


def test_nobody_gives_way_to_those_who_may_not_close_others(guests: Guests) -> None:
    connections = [guests.come()[0] for _ in range(3)]
    assert [each.enter(guests.stage, may_close=False) for each in connections] == [True, True, False]


def test_closed_connections_and_those_that_move_on_leave_nothing_behind(guests: Guests) -> None:
    further = Stage(9, patience=0.0)
    for _ in range(5):
        (first, _), (second, _) = guests.come(), guests.come()
        first.enter(guests.stage)
        second.enter(guests.stage)
        second.work()
        assert second.enter(further)
        for each in (first, second):
            each.close()
            each.wait()
            each.work()
    assert (len(guests.stage), len(further), len(guests.open)) == (0, 0, 0)


# --- clients that do not get to the point ---


class Listening:
    """A running server.

    Attributes:
        port: the one that is meant.
        entered, gate: `/slow` was asked; may answer.
    """

    server: Server
    port = 0

    def __init__(self, is_encrypted: bool) -> None:
        self.is_encrypted = is_encrypted
        self.trusting: ssl.SSLContext | None = None
        self.entered, self.gate = asyncio.Event(), asyncio.Event()

    def make_tls(self, tmp_path: Path) -> TlsFiles:
        authority = Authority(tmp_path)
        self.trusting = ssl.create_default_context(cafile=authority.path)
        pair = authority.issue("server")
        return TlsFiles(certificate=pair.certificate, key=pair.key)

    def target(self) -> Target:
        return Target(
            self.port, is_encrypted=self.is_encrypted, post="/verb", byte_seconds=0.05, again_seconds=0.1, pipelined=16
        )

    async def read(self, request: web.Request) -> web.Response:
        async with self.server.bodies.receive(request) as body:
            return web.Response(text=f"{len(body)} bytes")

    async def answer_much(self, _request: web.Request) -> web.Response:
        return self.server.bodies.answer(answer_much(bytearray())[2])

    async def wait(self, _request: web.Request) -> web.Response:
        self.entered.set()
        await self.gate.wait()
        return web.Response(text="late")

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Conversation]:
        name = {"server_hostname": "localhost"} if self.trusting else {}
        async with connected(self.server, self.trusting, **name) as client:
            yield client

    async def until_open(self, n: int, *, at_most: bool = False) -> None:
        """Wait until there are so many connections."""
        async with asyncio.timeout(10):
            while self.server.n_connections > n if at_most else self.server.n_connections < n:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def probes(self, n: int) -> list[bool]:
        """Whether each probe was answered."""
        ask = partial(probe, self.port, is_encrypted=self.is_encrypted, seconds=4)
        return [await asyncio.to_thread(ask) is not None for _ in range(n)]


@asynccontextmanager
async def listening(tmp_path: Path, port: str = "HTTP", **options: Any) -> AsyncIterator[Listening]:
    """A server at one kind of port, with `/verb`, which reads bodies, and `/slow`, whose answer waits for `gate`."""
    found = Listening(port == "HTTPS")
    tls = {"tls": found.make_tls(tmp_path)} if found.is_encrypted else {}
    health = {"health_port": 0} if port == "health" else {}
    app = web.Application()
    found.server = server = new_server(
        [
            ("GET", "/", hello),
            ("POST", "/verb", found.read),
            ("POST", "/large", found.answer_much),
            ("GET", "/slow", found.wait),
        ],
        app,
        **{**FEW, **tls, **health, **options},
    )
    for each in (app, server.aside):
        add_health(each, live={}, ready={})
    async with serving(server):
        found.port = (server.health_address if health else server.address)[1]
        yield found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("port", ["HTTP", "HTTPS", "health"])
def test_probes_are_answered_whatever_other_clients_do_not_say(tmp_path: Path, port: str, kind: str) -> None:
    async def story() -> tuple[list[bool], int]:
        async with listening(tmp_path, port) as one:
            others = asyncio.create_task(attack(kind, one.target(), N_CLIENTS))
            await one.until_open(1)
            await asyncio.sleep(PATIENCE)
            answered, n_open = await one.probes(4), one.server.n_connections
            others.cancel()
            await asyncio.gather(others, return_exceptions=True)
            await one.until_open(0, at_most=True)
            return answered, n_open

    answered, n_open = run(story())
    assert answered == [True] * 4
    assert n_open <= FEW["max_connections"] + 2 * FEW["max_silent"] + 1


@pytest.mark.parametrize("kind", ["silent before TLS", "half a handshake", "silent", "slow headers"])
def test_whoever_does_not_get_to_a_first_request_is_closed_in_time(tmp_path: Path, kind: str) -> None:
    async def story() -> float:
        async with listening(tmp_path, "HTTPS", first_seconds=0.5) as one:
            start = time.monotonic()
            with suppress(ConnectionError):
                await KINDS[kind](one.target())
            return time.monotonic() - start

    assert 0.5 <= run(story()) < 5.0


@pytest.mark.parametrize("port", ["HTTP", "HTTPS"])
def test_whoever_keeps_silent_does_not_take_the_place_of_a_client_that_has_asked(tmp_path: Path, port: str) -> None:
    async def story() -> tuple[int, ...]:
        async with listening(tmp_path, port) as one, one.client() as idle, one.client() as asking:
            first = (await idle.ask("GET", "/"))[0]
            await asking.send("GET", "/slow")
            await one.entered.wait()
            others = asyncio.create_task(attack("silent", one.target(), N_CLIENTS))
            await asyncio.sleep(3 * PATIENCE)
            one.gate.set()
            last = (await asking.answer())[0], (await idle.ask("GET", "/"))[0]
            others.cancel()
            await asyncio.gather(others, return_exceptions=True)
            return first, *last

    assert run(story()) == (200, 200, 200)


def test_an_idle_connection_gives_way_and_one_at_work_does_not(tmp_path: Path) -> None:
    async def story() -> tuple[Any, ...]:
        async with (
            listening(tmp_path, max_connections=2) as one,
            one.client() as idle,
            one.client() as asking,
            one.client() as third,
            one.client() as fourth,
        ):
            await idle.ask("GET", "/")
            await asking.send("GET", "/slow")
            await one.entered.wait()
            at_once = (await third.ask("GET", "/"))[0]
            await asyncio.sleep(PATIENCE)
            later = (await third.ask("GET", "/"))[0]
            refused = (await fourth.ask("GET", "/"))[0], (await fourth.ask("GET", "/livez"))[0]
            one.gate.set()
            return at_once, later, await idle.is_closed(), refused, (await asking.answer())[0]

    assert run(story()) == (503, 200, True, (503, 200), 200)


@pytest.mark.parametrize("is_quick", [False, True], ids=["general", "quick"])
def test_a_body_that_does_not_come_gives_way(tmp_path: Path, is_quick: bool) -> None:
    async def story() -> tuple[bool, str]:
        async with (
            listening(tmp_path, max_connections=1) as one,
            one.client() as slow,
            one.client() as other,
        ):
            if is_quick:
                one.server.quick = {b"/verb": QuickHandler(answer_length, lambda remote: None)}
            await slow.send("POST", "/verb", b"a", length=1000)
            await asyncio.sleep(1.4 * PATIENCE)
            answer = await other.ask("POST", "/verb", b"four")
            return await slow.is_closed(), answer[2]

    assert run(story()) == (True, "4 bytes")


@pytest.mark.parametrize("way", ["upload", "download", "quick download"])
def test_a_transfer_that_makes_progress_does_not_give_way_before_an_idle_client(tmp_path: Path, way: str) -> None:
    async def move(client: Conversation) -> None:
        """Move a part of the body or the answer every 0.05 s."""
        for _ in range(100):
            await asyncio.sleep(0.05)
            if way == "upload":
                await client.send_raw(bytes(2**17))
            else:
                await client.reader.readexactly(2**19)

    async def story() -> tuple[bool, bool]:
        async with (
            listening(tmp_path, max_connections=2) as one,
            one.client() as moving,
            one.client() as idle,
            one.client() as other,
        ):
            if way == "quick download":
                one.server.quick = {b"/large": QuickHandler(answer_much, lambda remote: None)}
            length = 2**25 if way == "upload" else 1
            await moving.send("POST", "/verb" if way == "upload" else "/large", b"a", length=length)
            transfer = asyncio.create_task(move(moving))
            await asyncio.sleep(0.2)
            await idle.ask("GET", "/")
            await asyncio.sleep(1.4 * PATIENCE)
            answer = await other.ask("GET", "/")
            is_idle_closed = False
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    is_idle_closed = await idle.is_closed()
            transfer.cancel()
            await asyncio.gather(transfer, return_exceptions=True)
            moving.writer.transport.abort()
            return answer[0] == 200, is_idle_closed

    assert run(story()) == (True, True)


def answer_much(_body: bytearray) -> QuickAnswer:
    return 200, b"text/plain", [bytes(2**26)]


def answer_length(body: bytearray) -> QuickAnswer:
    return 200, b"text/plain", [f"{len(body)} bytes".encode()]


def test_whoever_waits_for_a_server_that_stands_still_is_not_closed_for_it(tmp_path: Path) -> None:
    async def story() -> list[int]:
        async with listening(tmp_path, first_seconds=0.5) as one, AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(one.client()) for _ in range(FEW["max_silent"])]
            for client in clients:
                await client.send("GET", "/")
            for _ in range(3):
                time.sleep(0.5)  # noqa: ASYNC251 - what a plugin does to the main loop
            return [(await client.answer())[0] for client in clients]

    assert run(story()) == [200] * FEW["max_silent"]


@pytest.mark.parametrize("is_quick", [False, True], ids=["general", "quick"])
@pytest.mark.parametrize("headers", [(), ("X-Odd: 1",)], ids=["plain", "handed over"])
def test_a_closed_tls_connection_leaves_nothing_for_the_collector(
    tmp_path: Path, is_quick: bool, headers: tuple[str, ...]
) -> None:
    def n_left() -> int:
        return sum(isinstance(each, SSLProtocol) and each._server_side for each in gc.get_objects())

    async def story() -> int:
        async with listening(tmp_path, "HTTPS") as one:
            if is_quick:
                one.server.quick = {b"/verb": QuickHandler(answer_length, lambda remote: None)}
            for _ in range(3):
                async with one.client() as client:
                    await client.ask("POST", "/verb", b"whole", headers=headers)
                    await client.send("POST", "/verb", b"a part", length=1000, headers=headers)
                    client.writer.transport.abort()
            await one.until_open(0, at_most=True)
            await asyncio.sleep(0.1)
            return n_left()

    gc.collect()
    gc.disable()
    try:
        assert run(story()) == 0
    finally:
        gc.enable()
