#!/usr/bin/env python3
"""Opens connections that do not get to the point, until it is stopped; each that is closed is opened again.

python -m campaigns.idle.clients KIND PORT [--tls] [--clients 250] [--post PATH]
"""

import argparse
import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Iterator

MANY = 2**12

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Target:
    """What the clients connect to.

    Attributes:
        post: the path that bodies are sent to.
        byte_seconds: between two bytes of what is slow.
        again_seconds: until a connection that was closed is opened again.
        pipelined: requests that are sent in one go by who reads no answer.
    """

    def __init__(
        self,
        port: int,
        *,
        is_encrypted: bool,
        post: str,
        byte_seconds: float = 0.5,
        again_seconds: float = 0.05,
        pipelined: int = 4096,
    ) -> None:
        self.port, self.is_encrypted, self.post = port, is_encrypted, post
        self.byte_seconds, self.again_seconds, self.pipelined = byte_seconds, again_seconds, pipelined
        self._tls = ssl.create_default_context()
        self._tls.check_hostname, self._tls.verify_mode = False, ssl.CERT_NONE

    async def connect(self, *, is_plain: bool = False) -> Streams:
        """Open one; it reads next to nothing by itself."""
        tls = self._tls if self.is_encrypted and not is_plain else None
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=tls, limit=1)

    def hello(self) -> bytes:
        """The first message of a TLS client."""
        sent = ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            self._tls.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
        return sent.read()


async def unconnected(target: Target) -> None:
    """Say nothing, not even hello."""
    reader, writer = await target.connect(is_plain=True)
    await _until_closed(reader, writer)


async def half_handshake(target: Target) -> None:
    """Send half of the first message."""
    reader, writer = await target.connect(is_plain=True)
    hello = target.hello()
    writer.write(hello[: len(hello) // 2])
    await _until_closed(reader, writer)


async def silent(target: Target) -> None:
    """Shake hands and say nothing."""
    await _until_closed(*await target.connect())


async def slow_headers(target: Target) -> None:
    """Send headers a byte at a time."""
    _, writer = await target.connect()
    writer.write(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    await _byte_by_byte(target, writer)


async def slow_body(target: Target) -> None:
    """Send a body a byte at a time."""
    _, writer = await target.connect()
    writer.write(f"POST {target.post} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n".encode())
    await _byte_by_byte(target, writer)


async def idle(target: Target) -> None:
    """Ask once, and keep the connection."""
    reader, writer = await target.connect()
    writer.write(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await _until_closed(reader, writer)


async def unread(target: Target) -> None:
    """Ask without end, and read no answer."""
    _, writer = await target.connect()
    writer.transport.pause_reading()
    with _aborting(writer):
        while True:
            writer.write(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * target.pipelined)
            await writer.drain()
            await asyncio.sleep(target.byte_seconds)


KINDS: dict[str, Callable[[Target], Awaitable[None]]] = {
    "silent before TLS": unconnected,
    "half a handshake": half_handshake,
    "silent": silent,
    "slow headers": slow_headers,
    "slow body": slow_body,
    "idle after a request": idle,
    "answers unread": unread,
}


@contextlib.contextmanager
def _aborting(writer: asyncio.StreamWriter) -> Iterator[None]:
    """Leave without a goodbye, for which the server would have to read."""
    try:
        yield
    finally:
        writer.transport.abort()


async def _until_closed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with _aborting(writer):
        while await reader.read(MANY):
            pass


async def _byte_by_byte(target: Target, writer: asyncio.StreamWriter) -> None:
    with _aborting(writer):
        while not writer.transport.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(target.byte_seconds)


async def _again_and_again(kind: str, target: Target) -> None:
    while True:
        with contextlib.suppress(OSError):
            await KINDS[kind](target)
        await asyncio.sleep(target.again_seconds)


async def attack(kind: str, target: Target, n: int) -> None:
    """Hold so many connections of a kind, until cancelled."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # a connection that was reset under it
    async with asyncio.TaskGroup() as group:
        for _ in range(n):
            group.create_task(_again_and_again(kind, target))


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", choices=sorted(KINDS))
    p.add_argument("port", type=int, help="of 127.0.0.1")
    p.add_argument("--tls", action="store_true", help="whether the port is HTTPS")
    p.add_argument("--clients", type=int, default=250, help="default 250")
    p.add_argument("--post", default="/livez", help="path that bodies are sent to (default /livez)")
    args = p.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(attack(args.kind, Target(args.port, is_encrypted=args.tls, post=args.post), args.clients))


if __name__ == "__main__":
    main()
