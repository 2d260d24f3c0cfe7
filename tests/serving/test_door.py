"""Connections are counted from the moment they are accepted, and some are answered while the main loop stands still."""

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp import web

from kubesched.serving import QuickHandler, Server, TlsFiles, add_health
from kubesched.serving.connections import Connection
from kubesched.serving.door import Door
from kubesched.serving.listening import listen
from tests.serving.certificates import Authority
from tests.serving.running import Conversation, connected, hello, new_server, serving

T = TypeVar("T")

LIMITS: dict[str, Any] = {"max_connections": 10, "max_silent": 10, "first_seconds": 10.0}


def run(story: Any) -> Any:
    return asyncio.run(asyncio.wait_for(story, 20))


def while_busy(
    ask: Callable[[Server], T], *, tls: ssl.SSLContext | None = None, files: TlsFiles | None = None, **options: Any
) -> T:
    """Ask a server from another thread while its event loop stands still. Returns: what came of it."""
    found: list[T] = []

    async def stand_still(_request: web.Request) -> web.Response:
        asking = threading.Thread(target=lambda: found.append(ask(server)))
        asking.start()
        asking.join(10)  # the event loop does nothing until then
        return web.Response(text=f"{len(found)} answered")

    async def story() -> str:
        async with serving(server), connected(server, tls, server_hostname="localhost" if tls else None) as client:
            return (await client.ask("GET", "/busy"))[2]

    server = new_server([("GET", "/busy", stand_still)], tls=files, **options)
    for app in (server.aside, server.app):
        add_health(app, live={}, ready={"cache": lambda: "empty"})
    assert run(story()) == "1 answered"
    return found[0]


def get(address: tuple[str, int], path: str) -> tuple[int, str, str | None]:
    client = HTTPConnection(*address, timeout=5)
    client.request("GET", path)
    answer = client.getresponse()
    return answer.status, answer.read().decode(), answer.headers["Connection"]


def test_health_is_answered_while_the_main_loop_stands_still():
    assert while_busy(lambda server: get(server.address, "/livez")) == (200, "ok", "close")


def test_checks_that_fail_are_reported_there_too():
    status, text, _ = while_busy(lambda server: get(server.address, "/readyz?verbose"))
    assert status == 500
    assert "[-]cache failed: empty" in text


def test_with_tls_the_health_port_answers_while_the_main_loop_stands_still(tmp_path: Path):
    authority = Authority(tmp_path)
    pair = authority.issue("server")
    trusting = ssl.create_default_context(cafile=authority.path)
    found = while_busy(
        lambda server: (get(server.health_address, "/livez"), get(server.health_address, "/busy")[0]),
        tls=trusting,
        health_port=0,
        files=TlsFiles(certificate=pair.certificate, key=pair.key),
    )
    assert found == ((200, "ok", "close"), 404)


def test_whoever_asks_for_something_else_first_is_served_by_the_main_loop():
    async def story() -> list[str]:
        server = new_server([("GET", "/health", hello), ("GET", "/", hello)])
        server.aside.router.add_get("/healthz", hello)
        async with serving(server), connected(server) as client:
            return [(await client.ask("GET", path))[2] for path in ("/health", "/", "/health")]

    assert run(story()) == ["hello GET"] * 3


@pytest.mark.parametrize("cuts", [(1,), (3, 5), (4, 6, 8, 11)])
def test_a_first_request_that_comes_in_bits_is_answered(cuts: tuple[int, ...]):
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    async def story() -> tuple[int, str]:
        server = new_server()
        for app in (server.aside, server.app):
            add_health(app, live={}, ready={})
        async with serving(server), connected(server) as client:
            for start, end in zip((0, *cuts), (*cuts, len(request)), strict=True):
                await client.send_raw(request[start:end])
                await asyncio.sleep(0.01)
            status, _, text = await client.answer()
            return status, text

    assert run(story()) == (200, "ok")


def test_health_is_answered_when_all_connections_are_in_use():
    async def story() -> tuple[int, int, int]:
        server = new_server([("GET", "/", hello)], max_connections=2)
        add_health(server.aside, live={}, ready={})
        async with serving(server), connected(server) as one, connected(server) as two:
            for client in (one, two):
                await client.ask("GET", "/")
            async with connected(server) as third, connected(server) as fourth:
                return (
                    (await third.ask("GET", "/livez"))[0],
                    (await fourth.ask("GET", "/"))[0],
                    (await one.ask("GET", "/"))[0],
                )

    assert run(story()) == (200, 503, 200)


def test_the_health_port_is_answered_when_all_connections_are_in_use(tmp_path: Path):
    authority = Authority(tmp_path)
    pair = authority.issue("server")
    trusting = ssl.create_default_context(cafile=authority.path)

    async def story() -> tuple[int, tuple[int, str, str | None]]:
        tls = TlsFiles(certificate=pair.certificate, key=pair.key)
        server = new_server([("GET", "/", hello)], tls=tls, health_port=0, max_connections=1)
        add_health(server.aside, live={}, ready={})
        async with (
            serving(server),
            connected(server, trusting, server_hostname="localhost") as one,
            connected(server, trusting, server_hostname="localhost") as two,
        ):
            await one.ask("GET", "/")
            return (await two.ask("GET", "/"))[0], await asyncio.to_thread(get, server.health_address, "/livez")

    assert run(story()) == (503, (200, "ok", "close"))


class Scarce(socket.socket):
    """A listener that has file descriptors for so many open connections only."""

    def __init__(self, door: Door, n_descriptors: int) -> None:
        super().__init__()
        self._door, self._n_descriptors = door, n_descriptors
        self.bind(("127.0.0.1", 0))
        self.listen()
        self.setblocking(False)

    def accept(self) -> tuple[socket.socket, Any]:
        if len(self._door.connections) >= self._n_descriptors:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_a_silent_client_gives_way_where_file_descriptors_are_scarce():
    async def story() -> bytes:
        with Scarce(door, 1) as listener:
            await door.open([listener], [])
            with socket.create_connection(listener.getsockname()) as silent:
                while not door.connections:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)
                with socket.create_connection(listener.getsockname()):
                    silent.setblocking(False)
                    found = await asyncio.get_running_loop().sock_recv(silent, 1)
            await door.close()
        await door.end()
        return found

    limits = {**LIMITS, "first_seconds": 100.0}
    door = Door(web.AppRunner(web.Application()), lambda connection: connection.close(), **limits, is_encrypted=True)
    assert run(story()) == b""


@pytest.mark.parametrize(
    ("sent", "is_health"),
    [(b"", False), (b"GET /", False), (b"", True), (b"GET /", True)],
    ids=["silent", "half a request", "silent at the health port", "half a request at the health port"],
)
def test_where_file_descriptors_are_scarce_nobody_who_has_asked_gives_way_to_those_who_have_not(
    sent: bytes, is_health: bool
):
    request = b"GET / HTTP/1.1\r\n\r\n"

    def admit(connection: Connection) -> None:
        if connection.recv(100) == request:
            connection.enter(door.asked)
        else:
            asyncio.get_running_loop().add_reader(connection, end, connection)

    def end(connection: Connection) -> None:
        asyncio.get_running_loop().remove_reader(connection)
        connection.close()

    async def story() -> bool:
        with ExitStack() as stack:
            listener, health = (stack.enter_context(Scarce(door, 4)) for _ in range(2))
            await door.open([listener], [health])

            def come(to: socket.socket, data: bytes) -> socket.socket:
                client = stack.enter_context(socket.create_connection(to.getsockname()))
                client.sendall(data)
                return client

            good = come(listener, request)
            await asyncio.sleep(0.4)  # longer than its patience
            for _ in range(10):
                for _ in range(5):
                    come(health if is_health else listener, sent)
                await asyncio.sleep(0.1)
            good.setblocking(False)
            is_closed = False
            with suppress(BlockingIOError):
                is_closed = good.recv(1) == b""
        await door.close()
        await door.end()
        for each in list(door.connections):
            end(each)
        return is_closed

    limits = {**LIMITS, "first_seconds": 1.2}
    door = Door(web.AppRunner(web.Application()), admit, **limits, is_encrypted=True)
    assert not run(story())


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "TLS"])
def test_a_connection_that_is_accepted_as_the_door_closes_is_let_in(is_encrypted: bool):
    async def story() -> int:
        admitted: list[socket.socket] = []
        door = Door(web.AppRunner(web.Application()), admitted.append, **LIMITS, is_encrypted=is_encrypted)
        (listener,) = await listen("127.0.0.1", 0)
        await door.open([listener], [])
        await asyncio.sleep(0)
        with socket.create_connection(listener.getsockname()), socket.create_connection(listener.getsockname()):
            await asyncio.sleep(0)
            await door.close()
            n_admitted = len(admitted)
            for each in admitted:
                each.close()
        await door.end()
        assert not door.connections
        return n_admitted

    assert run(story()) == 2


def test_a_health_request_that_never_ends_does_not_hold_up_the_end():
    async def story() -> float:
        server = new_server(drain_seconds=2)
        add_health(server.aside, live={}, ready={})
        await server.start()
        async with connected(server) as client:
            await client.send("GET", "/livez", b"", length=10)
            assert (await client.answer())[0] == 200
            start = asyncio.get_running_loop().time()
            await server.drain()
            return asyncio.get_running_loop().time() - start

    assert run(story()) < 2


def test_a_handshake_that_ends_during_a_drain_does_not_hold_it_up(tmp_path: Path):
    authority = Authority(tmp_path)
    pair = authority.issue("server")
    trusting = ssl.create_default_context(cafile=authority.path)

    async def story() -> bool:
        files = TlsFiles(certificate=pair.certificate, key=pair.key)
        server = new_server([("POST", "/", hello)], tls=files, drain_seconds=8)
        server.quick = {b"/": QuickHandler(lambda body: (200, b"text/plain", [b"ok"]), lambda remote: None)}
        await server.start()
        silent = socket.create_connection(server.address)
        silent.setblocking(False)
        while not server.n_connections:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        ending = asyncio.create_task(server.drain())
        await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection(sock=silent, ssl=trusting, server_hostname="localhost")
        client = Conversation(reader, writer)
        async with asyncio.timeout(4):
            closed = await client.is_closed()
            await ending
        writer.transport.abort()
        return closed

    assert run(story())


def test_what_is_no_http_is_answered_aside_as_elsewhere_without_a_stack_trace(caplog: pytest.LogCaptureFixture):
    async def story() -> int:
        server = new_server()
        add_health(server.aside, live={}, ready={})
        async with serving(server), connected(server) as client:
            await client.send_raw(b"GET /livez HTTP/9.9\r\n\r\n")
            return (await client.answer())[0]

    assert run(story()) == 400
    assert not [record for record in caplog.records if record.exc_info or record.levelname == "ERROR"]
