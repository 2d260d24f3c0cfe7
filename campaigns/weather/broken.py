"""Requests that are not quite gzip, JSON, HTTP or TLS; as in `clients.py`, each function is one kind of bad weather."""

import gzip
import ssl
import zlib
from contextlib import suppress
from functools import cache
from random import Random

from campaigns.fuzz.bodies import cases
from campaigns.weather.calls import large, post
from campaigns.weather.connections import Connection, Target

MIB = 2**20


def gzip_bomb(target: Target, rng: Random) -> str:
    with target.connection() as client:
        return _status(client, post("/filter", _bomb(rng.choice((1024, 2048, 4096))), "Content-Encoding: gzip"))


@cache
def _bomb(size: int) -> bytes:
    """So many MiB of spaces in gzip, without an end. After a flush, each MiB is the same bytes as the one before."""
    packer = zlib.compressobj(9, wbits=31)
    first, second = (packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + second * (size - 1)


def broken_gzip(target: Target, rng: Random) -> str:
    """Gzip that ends too early, has ten bytes of something else, or is not gzip at all."""
    packed = gzip.compress(large(rng).data.partition(b"\r\n\r\n")[2], 1)
    cut = rng.randrange(1, len(packed))
    broken = rng.choice((packed[:cut], packed[:cut] + rng.randbytes(10) + packed[cut + 10 :], rng.randbytes(1000)))
    with target.connection() as client:
        return _status(client, post("/filter", broken, "Content-Encoding: gzip"))


def broken_body(target: Target, rng: Random) -> str:
    """A body of the fuzz campaign."""
    (case,) = cases(rng.randrange(2**32), 0, 1)
    with target.connection() as client:
        return _status(client, post(f"/{case.verb}", case.body))


def deep_json(target: Target, rng: Random) -> str:
    depth = rng.choice((500, 1000, 5000, 20_000, 100_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = opening * depth + b"1" + closing * rng.choice((0, depth))
    body = rng.choice((b"%b", b'{"Pod": %b}', b'{"Pod": {}, "Nodes": {"items": [%b]}}')) % deep
    with target.connection() as client:
        return _status(client, post(rng.choice(("/filter", "/prioritize", "/preempt")), body))


# --- what is not quite HTTP ---

LENGTHS = (b"-1", b"+20", b"abc", b"1" * 40, b"20, 20", b"20\r\nContent-Length: 21", b"0x14", b"", b"20", b"2000", b"1")


def wrong_length(target: Target, rng: Random) -> str:
    """A Content-Length that is not a number, or too small or too large for the body."""
    start = b"POST /filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
    return _said(target, start + rng.choice(LENGTHS) + b'\r\n\r\n{"Pod": {"spec": 1}}')


CHUNKS = (
    *(b"zz\r\n{}\r\n", b"-2\r\n{}\r\n", b"F" * 30 + b"\r\n{}", b"2;" + b"x" * 20_000 + b"\r\n{}\r\n"),
    *(b"2\r\n{}{}\r\n", b"5\r\n{}", b"\r\n\r\n", b"2\r\n{}\r\n", b"2\r\n{}\r\n0", b"2\n{}\n0\n\n"),
    b"2\r\n{}\r\n0\r\nno trailer\r\n\r\n",
)


def broken_chunks(target: Target, rng: Random) -> str:
    start = b"POST /filter HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return _said(target, start + rng.choice(CHUNKS))


HEADS = (
    *(b"", b"Host: a\r\nHost: b\r\n", b"Host: \x01\r\n", b"Host: a b\r\n", b"Host: a\r\nno colon\r\n"),
    *(b"Host: a\r\nX: " + b"x" * 9000 + b"\r\n", b"Host: a\r\n" + b"X: y\r\n" * 200, b"Host: a\r\nX: a\x00b\r\n"),
    *(b"Host: a\r\nX: a\rb\r\n", b"Host: a\r\n folded\r\n", b"Host: a\r\nX\x7f: y\r\n", b"Host: a\r\nX : y\r\n"),
    *(b"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n", b"Host: a\r\nTransfer-Encoding: what\r\n"),
    *(b"Host: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n", b"Host: a\r\nExpect: something\r\n"),
)
LINES = (
    *(b"POST /filter HTTP/1.1", b"POST /filter HTTP/1.1", b"POST /filter HTTP/1.1", b"POST /filter HTTP/9.9"),
    *(b"POST /" + b"f" * 9000 + b" HTTP/1.1", b"\x00\xff", b"PRI * HTTP/2.0", b"POST /\x01 HTTP/1.1", b"GET /filter"),
)


def broken_head(target: Target, rng: Random) -> str:
    """Two Hosts or none, control characters, headers over the limits, and request lines that are not HTTP."""
    return _said(target, rng.choice(LINES) + b"\r\n" + rng.choice(HEADS) + b"\r\n")


def broken_handshake(target: Target, rng: Random) -> str:
    """The hello of TLS, whole, in part or damaged, whatever the server speaks; then nothing, or plain HTTP."""
    outgoing = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    hello = bytearray(outgoing.read())
    hello[rng.randrange(len(hello))] ^= rng.choice((0, 0, 0xFF))
    data = bytes(hello[: rng.randint(1, len(hello))]) + rng.choice((b"", b"GET /livez HTTP/1.1\r\n\r\n"))
    with target.connection(is_raw=True) as client:
        client.send(data)
        target.wait(rng.uniform(0, 3))
    return "left"


def _said(target: Target, data: bytes) -> str:
    """Send it, and leave if no answer comes: some of it is not a whole request."""
    with target.connection() as client:
        client.send(data)
        try:
            return str(client.answer(seconds=3).status)
        except TimeoutError:
            return "left"


def _status(client: Connection, data: bytes) -> str:
    return str(client.ask(data).status)
