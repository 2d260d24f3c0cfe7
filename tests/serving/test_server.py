import asyncio
import logging
import socket
import time

import pytest
from aiohttp import web

from kubesched.errors import InputError
from kubesched.serving import ServerOptions
from tests.serving.running import Conversation, connected, hello, new_server, serving


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


class Gate:
    """A handler that answers once it is let through."""

    def __init__(self):
        self.entered, self.open = asyncio.Event(), asyncio.Event()

    async def handle(self, request):
        self.entered.set()
        await self.open.wait()
        return web.Response(text="late")


def test_it_listens_on_loopback_unless_told_otherwise():
    assert ServerOptions().host == "127.0.0.1"


def test_an_idle_connection_outlives_the_idle_pool_of_gos_client():
    assert ServerOptions().keep_alive_seconds > 90


def test_a_connection_serves_request_after_request():
    async def story():
        async with serving(new_server([("GET", "/", hello)])) as server, connected(server) as client:
            return [(await client.ask("GET", "/"))[0] for _ in range(3)]

    assert run(story()) == [200, 200, 200]


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"'127.0.0.1' port {port}: the port is in use; .* another port"):
            run(new_server(port=port).start())


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("192.0.2.1", 0, "not an address of this machine"),
        ("no such host", 0, "neither an address nor a name that resolves"),
        ("127.0.0.1", 70000, "not a valid port"),
    ],
)
def test_an_address_that_cannot_be_is_explained(host, port, words):
    with pytest.raises(InputError, match=words):
        run(new_server(host=host, port=port).start())


def test_a_server_that_does_not_listen_has_no_address():
    with pytest.raises(RuntimeError, match="does not listen"):
        _ = new_server().address


def test_a_client_too_many_is_told_so_as_long_as_nobody_gives_way():
    async def story():
        async with (
            serving(new_server([("GET", "/", hello)], max_connections=1)) as server,
            connected(server) as first,
            connected(server) as second,
        ):
            await first.ask("GET", "/")
            return await second.ask("GET", "/"), (await first.ask("GET", "/"))[0]

    (status, _, text), first = run(story())
    assert (status, text, first) == (503, "too many connections\n", 200)


def test_hundreds_of_idle_connections_do_not_hinder_the_next():
    async def story():
        async with serving(new_server([("GET", "/", hello)], max_connections=401)) as server:
            idle = []
            for _ in range(400):
                reader, writer = await asyncio.open_connection(*server.address)
                assert (await Conversation(reader, writer).ask("GET", "/"))[0] == 200
                idle.append((reader, writer))
            async with connected(server) as client:
                status, _, _ = await client.ask("GET", "/")
        ends = [await reader.read() for reader, _ in idle]
        for _, writer in idle:
            writer.close()
        return status, ends

    status, ends = run(story())
    assert status == 200
    assert ends == [b""] * 400  # and a drain closes all of them


def test_an_idle_connection_is_closed_after_keep_alive():
    async def story():
        async with (
            serving(new_server([("GET", "/", hello)], keep_alive_seconds=0.05)) as server,
            connected(server) as client,
            connected(server) as silent,
        ):
            await client.ask("GET", "/")
            await silent.send_raw(b"GET / HTTP/1.1\r\nHo")
            return await client.is_closed(), await silent.is_closed()

    assert run(story()) == (True, True)


def test_what_is_no_http_is_answered_400_without_a_stack_trace_in_the_log(caplog):
    caplog.set_level(logging.DEBUG)

    async def story():
        async with serving(new_server()) as server, connected(server) as client:
            await client.send_raw(b"GET / HTTP/1.1\r\nbad header\r\n\r\n")
            return (await client.answer())[0], await client.is_closed()

    assert run(story()) == (400, True)
    assert not [record for record in caplog.records if record.exc_info]
    assert [r.levelname for r in caplog.records if "Error handling request" in r.getMessage()] == ["DEBUG"]


def test_a_header_beyond_the_limit_is_refused():
    async def story():
        async with (
            serving(new_server([("GET", "/", hello)], max_header_bytes=100)) as server,
            connected(server) as client,
        ):
            return (await client.ask("GET", "/", headers=["A: " + "b" * 200]))[0]

    assert run(story()) == 400


def test_a_drain_answers_what_is_in_flight_and_says_close():
    async def story():
        gate = Gate()
        server = new_server([("GET", "/", gate.handle)])
        stop = asyncio.Event()
        await server.start()
        end = asyncio.create_task(server.run(stop))
        async with connected(server) as client, connected(server) as idle:
            address = server.address
            await client.send("GET", "/")
            await gate.entered.wait()
            stop.set()
            idle_closed = await idle.is_closed()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(*address)
            gate.open.set()
            answer = await client.answer()
            closed = await client.is_closed()
            await end
            return idle_closed, answer, closed

    idle_closed, (status, headers, text), closed = run(story())
    assert idle_closed
    assert (status, headers["connection"], text, closed) == (200, "close", "late", True)


def test_a_request_that_arrives_just_as_a_drain_closes_its_connection_is_answered():
    async def story():
        server = new_server([("GET", "/", hello)])
        await server.start()
        with socket.create_connection(server.address) as client:
            await asyncio.sleep(0.01)
            drain = asyncio.create_task(server.drain())
            await asyncio.sleep(0.01)
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(0.05)  # noqa: ASYNC251 - the server is busy until after it wanted to look at its connections
            await drain
            return client.recv(1000).decode()

    assert run(story()).endswith("hello GET")


def test_a_drain_lets_a_body_that_is_on_its_way_arrive():
    async def story():
        entered = asyncio.Event()

        async def read(request):
            entered.set()
            async with server.bodies.receive(request) as body:
                return web.Response(text=f"{len(body)}")

        server = new_server([("POST", "/", read)])
        stop = asyncio.Event()
        await server.start()
        end = asyncio.create_task(server.run(stop))
        async with connected(server) as client, connected(server) as idle:
            await client.send("POST", "/", b"1234", length=8)
            await entered.wait()
            stop.set()
            await idle.is_closed()
            await client.send_raw(b"5678")
            answer = await client.answer()
        await end
        return answer

    status, headers, text = run(story())
    assert (status, headers["connection"], text) == (200, "close", "8")


def test_a_drain_lets_a_large_answer_be_taken_to_its_end():
    async def story():
        size = 2**25
        done = asyncio.Event()

        async def write(request):
            done.set()
            return server.bodies.answer([bytes(size)])

        server = new_server([("GET", "/", write)])
        stop = asyncio.Event()
        await server.start()
        end = asyncio.create_task(server.run(stop))
        async with connected(server) as client, connected(server) as idle:
            await client.send("GET", "/")
            await done.wait()
            stop.set()
            await idle.is_closed()  # so the drain goes on while nobody reads the answer
            _, _, text = await client.answer()
        await end
        return len(text) == size

    assert run(story())


def test_a_drain_cuts_off_what_takes_too_long(caplog):
    async def story():
        gate = Gate()
        server = new_server([("GET", "/", gate.handle)], drain_seconds=0.2)
        async with (
            serving(server),
            asyncio.timeout(5),
            connected(server) as client,
        ):
            await client.send("GET", "/")
            await gate.entered.wait()
            start = asyncio.get_running_loop().time()
            await server.drain()
            return await client.is_closed(), asyncio.get_running_loop().time() - start

    closed, seconds = run(story())
    assert closed
    assert seconds < 2
    assert "1 requests were not answered before the end of the drain" in caplog.text


def test_a_client_that_leaves_does_not_stop_its_request():
    async def story():
        gate, done = Gate(), asyncio.Event()

        async def handle(request):
            answer = await gate.handle(request)
            done.set()
            return answer

        async with (
            serving(new_server([("GET", "/", handle)])) as server,
            connected(server) as client,
        ):
            await client.send("GET", "/")
            await gate.entered.wait()
            gate.open.set()
            await done.wait()
            return True

    assert run(story())
