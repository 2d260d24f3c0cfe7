import asyncio
import gzip

import pytest
from aiohttp import web

from tests.serving.running import connected, new_server, serving


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


def post(body=b"", *, raw=b"", more=b"", limits=None, **request):
    """Post to a server that answers with the size of the body and its first bytes; `more` is sent after `raw`."""

    async def read(asked):
        async with server.bodies.receive(asked) as found:
            return web.Response(text=f"{len(found)} {bytes(found[:4]).decode()}")

    server = new_server([("POST", "/", read)], **(limits or {}))

    async def story():
        async with serving(server), connected(server) as client:
            if raw:
                await client.send_raw(raw + more)
                return await client.answer()
            return await client.ask("POST", "/", body, **request)

    status, _, text = run(story())
    return status, text


def chunked(*chunks):
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def test_a_body_arrives_whole():
    assert post(b"abcd" * 2**20) == (200, f"{2**22} abcd")


def test_no_body_is_an_empty_one():
    assert post() == (200, "0 ")


def test_a_chunked_body_arrives_whole():
    assert post(raw=chunked(b"abc", b"def")) == (200, "6 abcd")


def test_a_gzipped_body_is_unpacked():
    assert post(gzip.compress(b"abcd" * 1000), headers=["Content-Encoding: gzip"]) == (200, "4000 abcd")


def test_a_body_at_the_limit_is_read_and_one_beyond_is_refused():
    limits = {"max_body_bytes": 4}
    assert post(b"abcd", limits=limits) == (200, "4 abcd")
    assert post(b"abcde", limits=limits) == (413, "the body is 5 bytes; expected at most 4 bytes\n")


def test_the_limit_holds_for_chunked_bodies():
    answer = post(raw=chunked(b"abc", b"def"), limits={"max_body_bytes": 4})
    assert answer == (413, "the body is larger; expected at most 4 bytes\n")


def test_the_limit_holds_for_what_gzip_unpacks_to():
    body = gzip.compress(bytes(10**7))
    answer = post(body, headers=["Content-Encoding: gzip"], limits={"max_body_bytes": 10**6})
    assert answer == (413, "the body is larger; expected at most 1000000 bytes\n")


def test_an_unknown_encoding_is_refused_with_those_allowed():
    answer = post(b"abc", headers=["Content-Encoding: snappy"])
    assert answer == (415, 'Content-Encoding "snappy" is unknown; expected gzip or none\n')


def test_a_body_that_does_not_unpack_is_refused():
    answer = post(b"no gzip at all", headers=["Content-Encoding: gzip"])
    assert answer == (400, "the body does not match its headers\n")


def test_a_half_sent_body_ends_in_time_with_the_connection():
    async def story():
        async def read(asked):
            async with server.bodies.receive(asked):
                return web.Response()

        server = new_server([("POST", "/", read)], body_seconds=0.1)
        async with serving(server), connected(server) as client:
            answer = await client.ask("POST", "/", b"abc", length=10)
            return answer, await client.is_closed(), server.bodies.uploads.held == 0

    (status, headers, text), closed, given_back = run(story())
    assert (status, headers["connection"], text) == (408, "close", "the body did not arrive within 0.1 s\n")
    assert closed
    assert given_back


def test_a_client_that_leaves_midway_gives_its_bytes_back():
    async def story():
        entered, left = asyncio.Event(), asyncio.Event()

        async def read(asked):
            entered.set()
            try:
                async with server.bodies.receive(asked):
                    return web.Response()
            finally:
                left.set()

        server = new_server([("POST", "/", read)])
        async with serving(server):
            async with connected(server) as client:
                await client.send("POST", "/", b"abc", length=10)
                await entered.wait()
                held = server.bodies.uploads.held
            await left.wait()
            return held, server.bodies.uploads.held

    assert run(story()) == (3, 0)


def test_two_bodies_that_are_announced_and_do_not_come_hold_nobody_up():
    async def story():
        entered = asyncio.Semaphore(0)

        async def read(asked):
            entered.release()
            async with server.bodies.receive(asked) as found:
                return web.Response(text=f"{len(found)}")

        server = new_server([("POST", "/", read)], max_body_bytes=10**9, body_budget_bytes=10**6)
        async with serving(server), connected(server) as one, connected(server) as two, connected(server) as third:
            for silent in (one, two):
                await silent.send("POST", "/", b"a", length=10**9)
                await entered.acquire()
            return (await third.ask("POST", "/", bytes(900_000)))[2]

    assert run(story()) == "900000"


def test_a_body_that_finds_no_room_for_long_is_refused_and_closed():
    async def story():
        async def read(asked):
            async with server.bodies.receive(asked):
                return web.Response()

        server = new_server([("POST", "/", read)], body_budget_bytes=10**6, body_seconds=0.3)
        async with serving(server), connected(server) as client:
            uploads = server.bodies.uploads
            await uploads.take(uploads.begin(lambda: None), 10**6)
            return await client.ask("POST", "/", bytes(10**6)), await client.is_closed(), uploads.held

    (status, _, text), closed, held = run(story())
    assert (status, text) == (503, "too many large requests at a time; try again later\n")
    assert closed
    assert held == 10**6


@pytest.mark.parametrize("n_members", [1, 3])
def test_a_body_unpacks_to_more_than_a_block_and_from_several_members(n_members):
    body = gzip.compress(b"abcd" * 2**18) * n_members
    assert post(body, headers=["Content-Encoding: gzip"]) == (200, f"{n_members * 2**20} abcd")


def test_a_gzip_body_that_is_cut_off_is_refused():
    body = gzip.compress(b"abcd" * 1000)[:-4]
    answer = post(body, headers=["Content-Encoding: gzip"])
    assert answer == (400, "the body does not match its headers\n")


PIECES = [b"head,", bytearray(b"a" * 300_000), b"", memoryview(b"b" * 5), b",", b"c" * 262_144, b"tail"]


def get(pieces, **limits):
    async def write(_request):
        return server.bodies.answer(pieces, status=200)

    server = new_server([("GET", "/", write)], **limits)

    async def story():
        async with serving(server), connected(server) as client:
            return await client.ask("GET", "/")

    return run(story())


@pytest.mark.parametrize("pieces", [PIECES, [], [b""], [b"x"] * 10_000])
def test_an_answer_is_its_pieces_in_turn(pieces):
    status, headers, text = get(pieces)
    assert (status, headers["content-type"]) == (200, "application/json")
    assert text == b"".join(pieces).decode()


def test_a_client_that_does_not_take_its_answer_loses_the_connection():
    async def story():
        async def write(_request):
            return server.bodies.answer([bytes(2**26)])

        server = new_server([("GET", "/", write)], body_seconds=0.1)
        async with serving(server), connected(server, limit=1024) as client:
            await client.send("GET", "/")
            await asyncio.sleep(0.2)  # read nothing for longer than is allowed
            taken = 0
            while part := await client.reader.read(2**20):
                taken += len(part)
            return taken

    assert 0 < run(story()) < 2**26
