"""Answers that are not HTTP, or half of it: each is a ClusterError of one line, for requests and for streams."""

import asyncio
import gzip

import pytest

from kubesched.cluster import Access, ApiClient
from kubesched.cluster.credentials import ConfiguredCredentials
from kubesched.errors import ClusterError
from tests.cluster.fake_timing import FakeTiming, run

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "nothing": b"",
    "bytes": b"\x00\x01\x02\r\n\r\n",
    "html": b"<html>\r\n\r\n",
    "no status": b"HTTP/1.1\r\n\r\n",
    "negative length": OK + b"Content-Length: -5\r\n\r\n{}",
    "two lengths": OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}",
    "huge length": OK + b"Content-Length: 99999999999999999999\r\n\r\n{}",
    "half a body": OK + b"Content-Length: 50\r\n\r\n{}",
    "bad chunk": CHUNKED + b"ZZ\r\n{}\r\n0\r\n\r\n",
    "huge chunk": CHUNKED + b"FFFFFFFFFFFFFFFFFF\r\n{}\r\n",
    "chunk of another size": CHUNKED + b"1\r\n{}\r\n0\r\n\r\n",
    "no last chunk": CHUNKED + b"2\r\n{}\r\n",
    "not gzip": OK + b"Content-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip",
    "broken gzip": OK
    + b"Content-Encoding: gzip\r\nContent-Length: 40\r\n\r\n"
    + gzip.compress(b"{}" * 99)[:20]
    + b"a" * 20,
    "unknown encoding": OK + b"Content-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd",
    "long header": OK + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
    "many headers": OK + b"".join(b"X%d: a\r\n" % n for n in range(20_000)) + b"\r\n",
    "null byte in a header": OK + b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
    "continue without end": b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
}


async def asked(answer: bytes, *, is_stream: bool) -> bytes:
    """What a client makes of an answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        access = Access("test", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", ConfiguredCredentials())
        async with ApiClient(access, timing=FakeTiming()) as client:
            if not is_stream:
                return await client.request("GET", "/version", retry=False)
            async with client.stream("/version", query={}, idle_timeout=5) as pieces:
                return b"".join([piece async for piece in pieces])


@pytest.mark.parametrize("is_stream", [False, True], ids=["request", "stream"])
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_not_http_is_no_answer(name: str, is_stream: bool) -> None:
    with pytest.raises(ClusterError) as raised:
        run(asked(ANSWERS[name], is_stream=is_stream))
    assert (raised.value.status, raised.value.reason) == (0, "NoAnswer")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("seconds", "waited"),
    [
        ("9" * 400, 30.0),
        ("0", 0.0),
        ("-5", None),
        ("\u00b2", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("1e9", None),
    ],
)
def test_a_time_that_no_server_should_ask_for_is_cut_or_left_out(seconds: str, waited: float | None) -> None:
    answer = f"HTTP/1.1 429 Busy\r\nRetry-After: {seconds}\r\nContent-Length: 2\r\n\r\n{{}}"
    with pytest.raises(ClusterError) as raised:
        run(asked(answer.encode("latin-1"), is_stream=False))
    assert (raised.value.status, raised.value.retry_after) == (429, waited)
