"""Clients that take nothing lose their connection, whatever way it is served and however it is encrypted."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from kubesched.serving import QuickHandler, TlsFiles
from kubesched.serving.stalls import Stalls
from tests.serving.certificates import Authority
from tests.serving.running import new_server, serving

LARGE = bytes(2**25)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


class Connection(socket.socket):
    """A transport with so much left to send."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()  # that nobody sends anything on
        self.sizes = list(sizes)
        self.is_aborted = False

    def get_write_buffer_size(self) -> int:
        return self.sizes.pop(0)

    def abort(self) -> None:
        self.is_aborted = True


@pytest.mark.parametrize(
    ("sizes", "is_aborted"),
    [
        ([10, 10, 10, 10], True),
        ([10, 10, 9, 9], False),
        ([0, 0, 0, 0], False),
        ([10, 0, 10, 10], False),
    ],
)
def test_a_connection_ends_when_nothing_was_taken_for_long_enough(sizes: list[int], is_aborted: bool):
    stalls = Stalls(seconds=30.0)
    with Connection(*sizes) as connection:
        stalls.add(connection, connection)
        for now in (0.0, 10.0, 20.0, 30.0):
            stalls.abort_stalled(now)
    assert connection.is_aborted is is_aborted


class ClosedTwice(Connection):
    """A TLS transport of CPython 3.11.2 that was closed twice."""

    def get_write_buffer_size(self) -> int:
        raise AttributeError("'NoneType' object has no attribute '_get_write_buffer_size'")

    def abort(self) -> None:
        raise AttributeError("'NoneType' object has no attribute '_abort'")


def test_a_transport_without_a_protocol_does_not_keep_the_others_from_being_aborted():
    stalls = Stalls(seconds=0.0)
    with ClosedTwice() as broken, Connection(10) as stalled, Connection() as left:
        stalls.add(broken, broken)
        stalls.add(stalled, stalled)
        stalls.abort_stalled(0.0)
        stalls.add(left, left)
        stalls.end()
    assert stalled.is_aborted
    assert left.is_aborted


def test_a_closed_connection_is_forgotten():
    stalls = Stalls(seconds=30.0)
    with Connection(10) as connection:
        stalls.add(connection, connection)
        stalls.abort_stalled(0.0)
    stalls.abort_stalled(10.0)  # asks it nothing, or it would fail
    assert len(stalls) == 0


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("path", ["/quick", "/small", "/pieces"])
def test_a_client_that_does_not_read_is_dropped(tmp_path: Path, path: str, is_encrypted: bool):
    authority = Authority(tmp_path)
    pair = authority.issue("server")
    tls = TlsFiles(certificate=pair.certificate, key=pair.key) if is_encrypted else None
    trusting = ssl.create_default_context(cafile=authority.path) if is_encrypted else None

    async def pieces(_request: web.Request) -> web.Response:
        return server.bodies.answer([LARGE])

    async def small(_request: web.Request) -> web.Response:
        return web.Response(body=LARGE)  # not one of `bodies`: nothing else looks after it

    server = new_server([("POST", "/pieces", pieces), ("POST", "/small", small)], tls=tls, body_seconds=0.3)
    server.quick = {b"/quick": QuickHandler(lambda body: (200, b"text/plain", [LARGE]), lambda remote: None)}

    async def story() -> None:
        async with serving(server):
            client = socket.create_connection(server.address)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            how = {"ssl": trusting, "server_hostname": "localhost"} if trusting else {}
            _, writer = await asyncio.open_connection(sock=client, limit=1024, **how)
            writer.write(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".encode())
            await until(lambda: server.n_connections == 1)
            await until(lambda: server.n_connections == 0)
            await until(lambda: server.bodies.answers.held == 0)
            writer.transport.abort()

    asyncio.run(story())


def test_a_client_that_keeps_asking_is_no_stall_although_its_last_answer_is_never_acknowledged():
    """A client's machine sends the acknowledgement along with the next request, so each look finds an answer unsent."""

    async def story() -> int:
        stalls = Stalls(seconds=0.3)
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            socket.create_connection(listener.getsockname()) as client,
        ):
            served, _ = listener.accept()
            served.setblocking(False)
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(asyncio.Protocol, served)
            stalls.add(served, transport)
            for now in range(20):
                client.sendall(b"x" * 300)
                transport.write(b"y" * 300)
                stalls.abort_stalled(now / 10)
                await asyncio.sleep(0)
                client.recv(300)
            is_open = not transport.is_closing()
            transport.abort()
            await asyncio.sleep(0.01)
            return is_open

    assert asyncio.run(story())
