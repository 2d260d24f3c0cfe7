"""The short way answers what comes plainly, and leaves everything else, byte for byte, to aiohttp."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from kubesched.serving import QuickHandler, Server, ServerOptions
from tests.serving.running import Conversation, connected, serving

PLAIN = ("User-Agent: Go-http-client/1.1", "Content-Type: application/json", "Accept-Encoding: gzip")

LONG = 2**22  # more than a socket takes at once


def tell(story: Callable[[Server, Conversation], Awaitable[object]], **options: object) -> list[str]:
    """Serve `/echo` both ways and tell a story on one connection. Returns: which way answered, call by call."""
    ways: list[str] = []

    async def run() -> None:
        app = web.Application()
        server = Server(app, ServerOptions(**options))

        async def general(request: web.Request) -> web.Response:
            async with server.bodies.receive(request) as body:
                ways.append("general")
                return web.Response(body=bytes(body))

        def quick(body: bytearray) -> tuple[int, bytes, list[bytes]]:
            ways.append("quick")
            return 200, b"text/plain", [bytes(body[:1]), bytes(body[1:]) * (LONG if body == b"long" else 1)]

        app.router.add_post("/echo", general)
        server.quick = {b"/echo": QuickHandler(quick, lambda remote: ways.append(f"left by {remote}"))}
        async with serving(server), connected(server) as client:
            await story(server, client)

    asyncio.run(run())
    return ways


def test_plain_calls_are_answered_the_short_way():
    async def story(_: Server, client: Conversation) -> None:
        for word in (b"one", b"two", b""):
            status, headers, body = await client.ask("POST", "/echo", word, length=len(word), headers=PLAIN)
            assert (status, body) == (200, word.decode())
            assert headers["content-length"] == str(len(word))
            assert "date" in headers

    assert tell(story) == ["quick"] * 3


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("//echo", {}),
        ("/echo?x=1", {}),
        ("/echo", {"headers": ("Connection: keep-alive",)}),
        ("/echo", {"headers": ("X-Anything: 1",)}),
        ("/echo", {"headers": ("Expect: 100-continue",)}),
    ],
)
def test_what_is_different_goes_to_aiohttp_and_so_does_all_that_follows(path: str, more: dict[str, object]):
    async def story(_: Server, client: Conversation) -> None:
        await client.ask("POST", "/echo", b"before")
        await client.send("POST", path, b"this", **more)
        status, _, body = await client.answer()
        if status == 100:
            status, _, body = await client.answer()
        assert (status, body) == (200, "this")
        assert (await client.ask("POST", "/echo", b"after"))[2] == "after"

    assert tell(story) == ["quick", "general", "general"]


def test_chunks_go_to_aiohttp():
    async def story(_: Server, client: Conversation) -> None:
        await client.send_raw(
            b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n"
        )
        assert (await client.answer())[2] == "one"

    assert tell(story) == ["general"]


@pytest.mark.parametrize(
    "head", [b"Content-Length: 3\r\nContent-Length: 3", b"Content-Length: +3", b"Content-Length : 3"]
)
def test_a_length_that_needs_thought_is_not_thought_about_here(head: bytes):
    async def story(_: Server, client: Conversation) -> None:
        await client.send_raw(b"POST /echo HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\none")
        await client.answer()

    assert "quick" not in tell(story)


ODD_HEADS = {
    "no Host": b"Content-Length: 3",
    "two Hosts": b"Host: localhost\r\nHost: localhost\r\nContent-Length: 3",
    "empty Host": b"Host:\r\nContent-Length: 3",
    "control character": b"Host: localhost\r\nUser-Agent: a\x01b\r\nContent-Length: 3",
    "DEL": b"Host: localhost\r\nUser-Agent: a\x7fb\r\nContent-Length: 3",
    "no colon": b"Host: localhost\r\nUser-Agent\r\nContent-Length: 3",
    "space before the colon": b"Host: localhost\r\nAccept : x\r\nContent-Length: 3",
    "folded": b"Host: localhost\r\nAccept: x\r\n y\r\nContent-Length: 3",
    "101 headers": b"Host: localhost\r\n" + b"Accept: x\r\n" * 100 + b"Content-Length: 3",
    "plain": b"Host: localhost\r\nContent-Length: 3",
    "tab": b"Host: localhost\r\nAccept:\tx\r\nContent-Length: 3",
    "not ASCII": b"Host: localhost\r\nUser-Agent: \xe9\r\nContent-Length: 3",
}


@pytest.mark.parametrize("head", ODD_HEADS.values(), ids=list(ODD_HEADS))
def test_a_head_is_taken_or_refused_as_by_aiohttp(head: bytes):
    """`Connection: keep-alive` is the default of HTTP/1.1 and goes the long way."""

    def answers(more: bytes) -> tuple[int, str, str]:
        async def story(_: Server, client: Conversation) -> None:
            await client.send_raw(b"POST /echo HTTP/1.1\r\n" + more + head + b"\r\n\r\none")
            found.append(await client.answer())

        found: list[tuple[int, dict[str, str], str]] = []
        tell(story)
        status, headers, text = found[0]
        return status, headers["server"] if status == 200 else "", text if status == 200 else ""

    assert answers(b"") == answers(b"Connection: keep-alive\r\n")


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_a_client_that_leaves_in_the_middle_of_a_call_is_noted_and_makes_no_noise(
    is_reset: bool, caplog: pytest.LogCaptureFixture
):
    async def story(server: Server, client: Conversation) -> None:
        await client.ask("POST", "/echo", b"one")
        await client.send("POST", "/echo", b"ab", length=3)
        await asyncio.sleep(0.05)
        if is_reset:
            client.writer.transport.abort()
        else:
            client.writer.close()
        while server.n_connections:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)

    assert tell(story) == ["quick", "left by 127.0.0.1"]
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


def test_a_connection_that_is_on_its_way_out_is_not_handed_over(caplog: pytest.LogCaptureFixture):
    async def story(server: Server, client: Conversation) -> None:
        await client.ask("POST", "/echo", b"one")
        await client.send("POST", "/echo", b"ab", length=3)
        await asyncio.sleep(0.05)
        (quick,) = server._quick
        quick._transport.abort()
        quick.hand_over()
        while server.n_connections:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)

    assert tell(story) == ["quick", "left by 127.0.0.1"]
    gc.collect()  # a task whose error nobody has seen says so then
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


def test_a_client_that_leaves_after_its_call_was_handed_over_makes_no_noise(caplog: pytest.LogCaptureFixture):
    async def story(server: Server, client: Conversation) -> None:
        await client.send("POST", "/echo", b"ab", length=3, headers=["X-Anything: 1"])
        client.writer.transport.abort()
        while server.n_connections:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)

    assert tell(story) == []
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


def test_a_large_body_goes_to_aiohttp():
    async def story(_: Server, client: Conversation) -> None:
        assert (await client.ask("POST", "/echo", b"x" * (2**20 + 1)))[0] == 200

    assert tell(story) == ["general"]


def test_a_body_over_the_servers_limit_is_refused_as_ever():
    async def story(_: Server, client: Conversation) -> None:
        assert (await client.ask("POST", "/echo", b"x" * 11))[0] == 413

    assert tell(story, max_body_bytes=10) == []


def test_calls_sent_before_the_last_answer_are_answered_in_their_order():
    async def story(_: Server, client: Conversation) -> None:
        call = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n"
        await client.send_raw(b"".join(call + word for word in (b"a", b"b", b"c")))
        assert [(await client.answer())[2] for _ in range(3)] == ["a", "b", "c"]

    assert tell(story) == ["quick", "general", "general"]


def test_a_call_is_answered_once_also_where_the_client_takes_its_time():
    async def story(_: Server, client: Conversation) -> None:
        await client.send("POST", "/echo", b"long", headers=PLAIN)
        await asyncio.sleep(0.1)
        _, _, body = await client.answer()
        assert len(body) == 1 + 3 * LONG
        assert (await client.ask("POST", "/echo", b"next", headers=PLAIN))[2] == "next"

    assert tell(story) == ["quick", "quick"]


@given(cuts=st.sets(st.integers(1, 80), max_size=6))
def test_it_does_not_matter_where_the_network_cuts_a_call(cuts: set[int]):
    call = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n" + b"0123456789" * 2

    async def story(_: Server, client: Conversation) -> None:
        places = [0, *sorted(cuts), len(call)]
        for start, end in pairwise(places):
            await client.send_raw(call[start:end])
            await asyncio.sleep(0)
        assert (await client.answer())[2] == "0123456789" * 2

    assert len(tell(story)) == 1


def test_a_body_that_keeps_us_waiting_is_waited_for_by_aiohttp():
    async def story(_: Server, client: Conversation) -> None:
        await client.send("POST", "/echo", b"", length=3)
        assert (await client.answer())[0] == 408

    assert tell(story, body_seconds=0.1) == []


def test_the_answer_to_a_call_that_meets_the_end_says_that_it_is_the_last():
    async def story(server: Server, client: Conversation) -> None:
        await client.ask("POST", "/echo", b"one")
        ending = asyncio.create_task(server.drain())
        while not server._door_is_closed:  # noqa: ASYNC110 - clients see it a moment before the event loop does
            await asyncio.sleep(0)
        _, headers, body = await client.ask("POST", "/echo", b"two")
        assert (headers["connection"], body) == ("close", "two")
        assert await client.is_closed()
        await ending

    assert tell(story) == ["quick"] * 2


def test_a_call_half_read_when_the_end_comes_is_answered():
    async def story(server: Server, client: Conversation) -> None:
        await client.send("POST", "/echo", b"on", length=3)
        await asyncio.sleep(0.01)
        ending = asyncio.create_task(server.drain())
        await asyncio.sleep(0.05)
        await client.send_raw(b"e")
        _, headers, body = await client.answer()
        assert (headers["connection"], body) == ("close", "one")
        await ending

    assert tell(story) == ["general"]


def test_an_idle_connection_is_closed_in_the_end():
    async def story(_: Server, client: Conversation) -> None:
        await client.ask("POST", "/echo", b"one")
        assert await client.is_closed()

    assert tell(story, keep_alive_seconds=0.05) == ["quick"]


def test_a_large_answer_that_is_being_taken_is_no_idle_connection():
    async def story(_: Server, client: Conversation) -> None:
        await client.send("POST", "/echo", b"long", headers=PLAIN)
        await asyncio.sleep(1.2)  # the look at idle connections comes every second
        assert len((await client.answer())[2]) == 1 + 3 * LONG

    assert tell(story, keep_alive_seconds=0.05) == ["quick"]


def test_an_answer_that_nobody_takes_does_not_outlive_the_server():
    async def story(server: Server, client: Conversation) -> None:
        await client.send("POST", "/echo", b"long", headers=PLAIN)
        await asyncio.sleep(0.1)
        await server.drain()
        assert server.n_connections == 0

    assert tell(story, drain_seconds=0.2) == ["quick"]


def test_connections_of_both_ways_count_as_one():
    async def story(server: Server, client: Conversation) -> None:
        await client.ask("POST", "/echo", b"one")
        async with connected(server) as second:
            await second.ask("POST", "//echo", b"two")
            async with connected(server) as third:
                assert (await third.ask("POST", "/echo", b"three"))[0] == 503

    assert tell(story, max_connections=2) == ["quick", "general"]
