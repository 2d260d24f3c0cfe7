"""A TLS connection that ends leaves nothing for the garbage collector, however it ends."""

import asyncio
import contextlib
import gc
import socket
import ssl
import struct
import tracemalloc
from asyncio.sslproto import SSLProtocol
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from kubesched.serving import QuickHandler, Server, TlsFiles
from kubesched.serving.quick import QuickCalls
from tests.serving.certificates import Authority
from tests.serving.running import hello, new_server, serving

N_CLIENTS = 8
HANDSHAKE_SECONDS = 0.4
SHUT_AT_ONCE = struct.pack("ii", 1, 0)
LARGE = (SSLProtocol, ssl.SSLObject, web.RequestHandler, QuickCalls)  # asyncio's socket transport, 2 KB, stays


class Peer(NamedTuple):
    """A client that shakes hands by hand, so that it leaves nothing of its own."""

    socket: socket.socket
    context: ssl.SSLContext

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def until_closed(self) -> None:
        """Read to the end."""
        with contextlib.suppress(ConnectionError):
            while await asyncio.get_running_loop().sock_recv(self.socket, 2**16):
                pass

    def hello(self) -> bytes:
        out = ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            self.context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost").do_handshake()
        return out.read()

    def shake_hands(self) -> ssl.SSLSocket:
        """In another thread."""
        self.socket.setblocking(True)
        self.socket.settimeout(5)
        return self.context.wrap_socket(self.socket, server_hostname="localhost")

    def reset(self, connection: socket.socket | None = None) -> None:
        connection = connection or self.socket
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, SHUT_AT_ONCE)
        connection.close()


async def leave_in_the_first_record(peer: Peer) -> None:
    await peer.send(peer.hello()[:20])
    await asyncio.sleep(0.05)


async def reset_in_the_first_record(peer: Peer) -> None:
    await leave_in_the_first_record(peer)
    peer.reset()


async def leave_after_the_hello(peer: Peer) -> None:
    await peer.send(peer.hello())
    await asyncio.get_running_loop().sock_recv(peer.socket, 1)


async def reset_after_the_hello(peer: Peer) -> None:
    await leave_after_the_hello(peer)
    peer.reset()


async def reset_at_once(peer: Peer) -> None:
    await peer.send(b"\x16")
    peer.reset()


async def stop_in_the_first_record(peer: Peer) -> None:
    await leave_in_the_first_record(peer)
    await peer.until_closed()


async def stop_after_the_hello(peer: Peer) -> None:
    await leave_after_the_hello(peer)
    await peer.until_closed()


async def speak_plain_http(peer: Peer) -> None:
    await peer.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await peer.until_closed()


async def show_no_certificate(peer: Peer) -> None:
    """What the server requires; with TLS 1.3 a client learns of it after its handshake."""

    def ask() -> None:
        with contextlib.suppress(OSError), peer.shake_hands() as tls:
            tls.recv(1)

    await asyncio.to_thread(ask)


async def close_a_whole_one(peer: Peer) -> None:
    def ask() -> None:
        with peer.shake_hands() as tls:
            tls.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert tls.recv(12) == b"HTTP/1.1 200"
            with contextlib.suppress(OSError):
                tls.unwrap().close()

    await asyncio.to_thread(ask)


async def reset_a_whole_one(peer: Peer) -> None:
    await asyncio.to_thread(lambda: peer.reset(peer.shake_hands()))


async def send_rubbish_to_a_whole_one(peer: Peer) -> None:
    def ask() -> None:
        with peer.shake_hands() as tls, socket.socket(fileno=tls.detach()) as below:
            below.settimeout(5)
            below.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
            while below.recv(2**16):
                pass

    await asyncio.to_thread(ask)


ABORTED: list[Callable[[Peer], Awaitable[None]]] = [
    leave_in_the_first_record,
    reset_in_the_first_record,
    leave_after_the_hello,
    reset_after_the_hello,
    reset_at_once,
    stop_in_the_first_record,
    stop_after_the_hello,
    speak_plain_http,
    show_no_certificate,
]
WHOLE: list[Callable[[Peer], Awaitable[None]]] = [close_a_whole_one, reset_a_whole_one, send_rubbish_to_a_whole_one]


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def new_tls_server(folder: Path, *, requires_client: bool = False, **options: Any) -> Server:
    authority = Authority(folder)
    pair = authority.issue("server")
    ca = authority.path if requires_client else None
    files = TlsFiles(certificate=pair.certificate, key=pair.key, client_ca=ca)
    return new_server([("GET", "/", hello)], tls=files, first_seconds=HANDSHAKE_SECONDS, **options)


async def come(server: Server, behave: Callable[[Peer], Awaitable[None]], n: int) -> None:
    """Let clients come, all at a time, and wait until the server has closed all connections."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    async def one() -> None:
        with socket.socket() as connection:
            connection.setblocking(False)
            await asyncio.get_running_loop().sock_connect(connection, server.address)
            await behave(Peer(connection, context))

    async with asyncio.timeout(20):
        await asyncio.gather(*(one() for _ in range(n)))
        while server.n_connections:  # noqa: ASYNC110 - the door's thread counts
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)


def alive() -> list[object]:
    """Connections, and what holds their memory."""
    return [each for each in gc.get_objects() if isinstance(each, LARGE)]


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("is_quick", [False, True], ids=["general", "quick"])
@pytest.mark.parametrize("behave", [*ABORTED, *WHOLE])
def test_a_tls_connection_leaves_nothing_for_the_collector(
    tmp_path: Path, behave: Callable[[Peer], Awaitable[None]], is_quick: bool
) -> None:
    async def story() -> list[str]:
        of_others = {id(each): each for each in alive()}  # other tests of this process may keep servers
        server = new_tls_server(tmp_path, requires_client=behave is show_no_certificate)
        if is_quick:
            server.quick = {b"/verb": QuickHandler(lambda body: (200, b"text/plain", [body]), lambda remote: None)}
        async with serving(server):
            await come(server, behave, N_CLIENTS)
            return [type(each).__name__ for each in alive() if id(each) not in of_others]

    assert asyncio.run(story()) == []


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("behave", [leave_in_the_first_record, reset_after_the_hello, speak_plain_http])
def test_the_memory_of_aborted_handshakes_does_not_add_up(
    tmp_path: Path, behave: Callable[[Peer], Awaitable[None]]
) -> None:
    async def story() -> int:
        async with serving(new_tls_server(tmp_path)) as server:
            await come(server, behave, N_CLIENTS)
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(10):
                await come(server, behave, N_CLIENTS)
            return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        assert asyncio.run(story()) < 2**20  # 80 buffers of asyncio would be 20 MiB
    finally:
        tracemalloc.stop()
