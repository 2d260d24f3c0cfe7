"""Requests to an extender: the address, redirects, status, time limit, TLS, and what is said when it fails."""

import asyncio
import gzip
import json
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from kubesched.config import Duration, ExtenderConfig, ExtenderTLSConfig
from kubesched.errors import ConfigError, ExtenderError
from kubesched.extender_client import ExtenderClient
from kubesched.serving import self_signed_pair

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
BODY = b'{"Pod":null}'


@asynccontextmanager
async def extender(answer: Answer, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A programmable extender. Yields: its address."""
    server = web.Server(answer)
    runner = web.ServerRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def echo(request: web.Request) -> web.StreamResponse:
    return web.json_response(
        {
            "method": request.method,
            "path": request.raw_path,
            "type": request.headers.get("Content-Type"),
            "length": request.headers.get("Content-Length"),
            "body": (await request.read()).decode(),
        }
    )


def asked(answer: Answer, prefix: str = "", verb: str = "filter", **config: object) -> bytes:
    """What the client gets from an extender that answers so."""

    async def story() -> bytes:
        async with extender(answer) as address:
            settings = ExtenderConfig(url_prefix=address + prefix, **config)  # type: ignore[arg-type]
            async with ExtenderClient(settings) as client:
                return await client.call(verb, BODY)

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("prefix", "verb", "path"),
    [
        ("/base", "filter", "/base/filter"),
        ("/base/", "filter", "/base/filter"),
        ("/base///", "filter", "/base/filter"),
        ("/base", "/filter", "/base//filter"),
        ("/base", "/", "/base//"),
        ("", "predicates/always_true", "/predicates/always_true"),
        ("", "filter?x=1", "/filter?x=1"),
    ],
)
def test_the_address_is_made_as_kube_scheduler_makes_it(prefix: str, verb: str, path: str) -> None:
    assert f'"path": "{path}"'.encode() in asked(echo, prefix, verb)


def test_the_request_is_a_post_with_the_body_and_its_length() -> None:
    answer = asked(echo)
    for part in (b'"method": "POST"', b'"type": "application/json"', b'"length": "12"', b'{\\"Pod\\":null}'):
        assert part in answer


@pytest.mark.parametrize("status", [201, 204, 400, 404, 500, 503])
def test_only_200_is_an_answer(status: int) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text="why" if status != 204 else None)

    with pytest.raises(ExtenderError, match=rf"^failed filter with extender at URL \S+/filter, code {status}$"):
        asked(answer)


@pytest.mark.parametrize(
    ("status", "method", "body"), [(307, "POST", "Pod"), (308, "POST", "Pod"), (301, "GET", ""), (302, "GET", "")]
)
def test_redirects_are_followed_as_go_does(status: int, method: str, body: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/filter":
            return web.Response(status=status, headers={"Location": "/moved"})
        return web.json_response({"method": request.method, "body": (await request.read()).decode()})

    got = asked(answer)
    assert f'"method": "{method}"'.encode() in got
    assert (b"Pod" in got) == bool(body)


def test_a_compressed_answer_and_any_content_type_are_read() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        headers = {"Content-Encoding": "gzip", "Content-Type": "text/html"}
        return web.Response(body=gzip.compress(b'{"Error":""}'), headers=headers)

    assert asked(answer) == b'{"Error":""}'


def test_the_time_limit_holds_for_headers_and_body() -> None:
    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    async def slow(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"{")
        await asyncio.sleep(5)
        return response

    deadline = "context deadline exceeded"
    with pytest.raises(
        ExtenderError, match=rf"^Post \S+ {deadline} \(Client.Timeout exceeded while awaiting headers\)$"
    ):
        asked(silent, http_timeout=Duration(0.2))
    reading = r"\(Client.Timeout or context cancellation while reading body\)"
    with pytest.raises(ExtenderError, match=f"^{deadline} {reading}$"):
        asked(slow, http_timeout=Duration(2))


def test_a_password_in_the_address_is_sent_and_not_shown() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == "Basic dXNlcjp3b3Jk"  # user:word
        return web.Response(status=503 if request.path == "/fail" else 200)

    async def story() -> list[str]:
        messages = []
        async with extender(answer) as address:
            prefix = address.replace("//", "//user:word@")
            async with ExtenderClient(ExtenderConfig(url_prefix=prefix)) as client:
                assert await client.call("filter", BODY) == b""
                with pytest.raises(ExtenderError) as refused:
                    await client.call("fail", BODY)
                messages.append(str(refused.value))
            async with ExtenderClient(ExtenderConfig(url_prefix="http://user:word@127.0.0.1:1")) as client:
                with pytest.raises(ExtenderError) as unreachable:
                    await client.call("filter", BODY)
                messages.append(str(unreachable.value))
        return messages

    for message in asyncio.run(story()):
        assert "//user:***@127.0.0.1" in message
        assert "word" not in message


def test_redirects_without_an_end_are_an_error_in_the_words_of_kube_scheduler() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "/filter"})

    with pytest.raises(ExtenderError, match=r"^Post .*: stopped after 10 redirects$"):
        asked(answer)


class ClosingServer(threading.Thread):
    """Answers one request of each of four connections, in a thread of its own, and then closes the connection."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        super().__init__(daemon=True)
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url_prefix = f"{'https' if context else 'http'}://127.0.0.1:{self._listener.getsockname()[1]}"
        self.n_closed = threading.Semaphore(0)

    def run(self) -> None:
        with self._listener:
            for _ in range(4):
                plain, _ = self._listener.accept()
                with self._context.wrap_socket(plain, server_side=True) if self._context else plain as connection:
                    request = b""
                    while not request.endswith(BODY):
                        request += connection.recv(2**16)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                time.sleep(0.06)  # until the other side has it, and longer than a connection counts as fresh
                self.n_closed.release()


@pytest.mark.parametrize("is_tls", [False, True])
def test_a_connection_that_the_extender_closed_while_the_scheduler_was_busy_is_replaced(
    tmp_path: Path, is_tls: bool
) -> None:
    server = ClosingServer(server_context(tmp_path) if is_tls else None)
    server.start()

    async def story() -> list[bytes]:
        answers = []
        async with ExtenderClient(ExtenderConfig(url_prefix=server.url_prefix, enable_https=is_tls)) as client:
            for _ in range(4):
                answers.append(await client.call("filter", BODY))
                server.n_closed.acquire()  # blocks the loop, as a long computation does
        return answers

    assert asyncio.run(story()) == [b"{}"] * 4
    server.join()


def test_a_new_connection_that_the_extender_closes_is_an_error_at_once() -> None:
    n_connections = 0

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal n_connections
        n_connections += 1
        await reader.readuntil(BODY)
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, ExtenderClient(ExtenderConfig(url_prefix=f"http://127.0.0.1:{port}")) as client:
            with pytest.raises(ExtenderError, match="EOF"):
                await client.call("bind", BODY)

    asyncio.run(story())
    assert n_connections == 1


def test_a_redirect_to_bytes_that_are_not_utf_8_is_an_error_that_an_event_can_carry() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(BODY)
        writer.write(b"HTTP/1.1 307 X\r\nLocation: http://\xff/\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def story() -> str:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, ExtenderClient(ExtenderConfig(url_prefix=f"http://127.0.0.1:{port}")) as client:
            with pytest.raises(ExtenderError) as refused:
                await client.call("filter", BODY)
        return str(refused.value)

    assert "\\udcff" in asyncio.run(story()).encode().decode()


def test_a_request_that_was_sent_is_not_repeated() -> None:
    """The extender may have carried it out before it closed the connection; kube-scheduler sends each request once."""
    asked = 0

    async def close_the_second(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        if asked == 2:
            assert request.transport is not None
            request.transport.close()
        return web.json_response({})

    async def story() -> None:
        async with extender(close_the_second) as address, ExtenderClient(ExtenderConfig(url_prefix=address)) as client:
            await client.call("preempt", BODY)
            with pytest.raises(ExtenderError, match=r": EOF$"):
                await client.call("preempt", BODY)

    asyncio.run(story())
    assert asked == 2


def test_connections_are_kept_alive() -> None:
    ports: set[int] = set()

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])
        return web.Response(body=b"{}")

    async def story() -> None:
        async with extender(answer) as address, ExtenderClient(ExtenderConfig(url_prefix=address)) as client:
            for _ in range(5):
                await client.call("filter", BODY)

    asyncio.run(story())
    assert len(ports) == 1


def test_an_answer_that_came_too_late_is_not_the_answer_to_the_next_request() -> None:
    late = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/late":
            await late.wait()
        return web.Response(text=request.path)

    async def story() -> bytes:
        async with extender(answer) as address:
            settings = ExtenderConfig(url_prefix=address, http_timeout=Duration(0.1))
            async with ExtenderClient(settings) as client:
                with pytest.raises(ExtenderError, match="deadline"):
                    await client.call("late", BODY)
                late.set()
                return await client.call("next", BODY)

    assert asyncio.run(story()) == b"/next"


def test_the_body_of_an_error_is_not_the_answer_to_the_next_request() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(text="why" * 2**20, status=500) if request.path == "/wrong" else web.Response(text="right")

    async def story() -> bytes:
        async with extender(answer) as address, ExtenderClient(ExtenderConfig(url_prefix=address)) as client:
            with pytest.raises(ExtenderError, match="code 500"):
                await client.call("wrong", BODY)
            return await client.call("right", BODY)

    assert asyncio.run(story()) == b"right"


def test_requests_that_overlap_get_each_its_answer() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.05 if request.path == "/slow" else 0)
        return web.Response(text=request.path)

    async def story() -> list[bytes]:
        async with extender(answer) as address, ExtenderClient(ExtenderConfig(url_prefix=address)) as client:
            return await asyncio.gather(*(client.call(verb, BODY) for verb in ("slow", "quick", "slow", "quick")))

    assert asyncio.run(story()) == [b"/slow", b"/quick", b"/slow", b"/quick"]


def answered_with(*pieces: bytes) -> tuple[bytes, bytes]:
    """What the client sends to a server that answers with these bytes, and what it takes as the answer."""
    sent = bytearray()
    is_served = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent.extend(await reader.readuntil(BODY))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)
        writer.close()
        await writer.wait_closed()
        is_served.set()

    async def story() -> bytes:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            async with ExtenderClient(ExtenderConfig(url_prefix=address)) as client:
                answer = await client.call("a b\r\nX-Odd: 1\r\n/filter", BODY)
            await is_served.wait()
            return answer

    answer = asyncio.run(story())
    return bytes(sent), answer


@pytest.mark.parametrize(
    "pieces",
    [
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n", b"{\r\n1\r\n}\r\n0\r\n\r\n"),
        (b"HTTP/1.0 200 OK\r\n\r\n{", b"}"),
        (b"HTT", b"P/1.1 200 OK\r\nContent-Le", b"ngth: 2\r\n\r\n{", b"}"),
    ],
)
def test_answers_in_every_framing_are_read(pieces: tuple[bytes, ...]) -> None:
    _, answer = answered_with(*pieces)
    assert answer == b"{}"


def test_a_verb_adds_no_header() -> None:
    sent, _ = answered_with(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    assert not any(line.startswith(b"X-Odd") for line in sent.split(b"\r\n"))


def test_a_redirect_to_another_scheme_is_an_error_in_the_words_of_kube_scheduler() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "ftp://devices/filter"})

    with pytest.raises(ExtenderError, match=r'^Post .*: unsupported protocol scheme "ftp"$'):
        asked(answer)


# --- TLS ---

INVALID = "tls: failed to verify certificate: x509: "


def server_context(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed_pair(folder, "extender"))
    return context


def over_tls(folder: Path, **config: object) -> bytes:
    context = server_context(folder)

    async def story() -> bytes:
        async with extender(echo, context) as address:
            settings = ExtenderConfig(url_prefix=address, **config)  # type: ignore[arg-type]
            async with ExtenderClient(settings) as client:
                return await client.call("filter", BODY)

    return asyncio.run(story())


def test_the_system_authorities_do_not_know_a_self_signed_extender(tmp_path: Path) -> None:
    with pytest.raises(ExtenderError, match=rf"^Post \S+ {INVALID}certificate signed by unknown authority$"):
        over_tls(tmp_path)


def test_enable_https_without_an_authority_trusts_any_server(tmp_path: Path) -> None:
    assert b"POST" in over_tls(tmp_path, enable_https=True)
    assert b"POST" in over_tls(tmp_path, tls_config=ExtenderTLSConfig(insecure=True))


def test_an_authority_is_taken_from_data_and_from_a_file(tmp_path: Path) -> None:
    certificate, _ = self_signed_pair(tmp_path, "extender")
    name = "localhost"
    data = ExtenderTLSConfig(ca_data=certificate.read_bytes(), ca_file="/not/there", server_name=name)
    assert b"POST" in over_tls(tmp_path, enable_https=True, tls_config=data)
    file = ExtenderTLSConfig(ca_file=str(certificate), server_name=name)
    assert b"POST" in over_tls(tmp_path, enable_https=True, tls_config=file)
    wrong = ExtenderTLSConfig(ca_file=str(certificate), server_name="other.example")
    with pytest.raises(ExtenderError, match=f"{INVALID}certificate is valid for other names, not other.example$"):
        over_tls(tmp_path, enable_https=True, tls_config=wrong)


@pytest.mark.parametrize(
    ("tls", "words"),
    [
        (ExtenderTLSConfig(ca_file="/not/there"), "/not/there cannot be read: No such file"),
        (ExtenderTLSConfig(ca_data=b"no PEM"), "found no certificate"),
        (ExtenderTLSConfig(ca_data=b"x", insecure=True), "root certificates file with the insecure flag"),
        (ExtenderTLSConfig(cert_data=b"x"), "certFile and keyFile together"),
        (ExtenderTLSConfig(cert_data=b"x", key_data=b"y"), "cannot be used"),
    ],
)
def test_certificates_that_cannot_be_used_are_errors_that_name_the_extender(tls: ExtenderTLSConfig, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        ExtenderClient(ExtenderConfig(url_prefix="https://devices:8443", tls_config=tls))
    assert "https://devices:8443" in str(caught.value)


@pytest.mark.parametrize("prefix", ["devices:8888", "ftp://devices", "http://", "http://[::1", ""])
def test_an_address_that_is_no_url_is_an_error(prefix: str) -> None:
    with pytest.raises(ConfigError, match="urlPrefix"):
        ExtenderClient(ExtenderConfig(url_prefix=prefix))


def test_a_proxy_of_the_environment_is_used_and_no_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Go, which reads no netrc: its passwords are for other programs."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine extender.example.com login user password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))

    async def what_came(request: web.Request) -> web.StreamResponse:
        return web.json_response({"host": request.host, "credentials": request.headers.get("Authorization")})

    async def story() -> bytes:
        async with extender(what_came) as proxy:
            monkeypatch.setenv("HTTP_PROXY", proxy)
            async with ExtenderClient(ExtenderConfig(url_prefix="http://extender.example.com/x")) as client:
                return await client.call("filter", BODY)

    assert json.loads(asyncio.run(story())) == {"host": "extender.example.com", "credentials": None}


def test_hosts_of_no_proxy_are_called_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "extender.invalid")

    async def story() -> bytes:
        async with ExtenderClient(ExtenderConfig(url_prefix="http://extender.invalid/x")) as client:
            return await client.call("filter", BODY)

    with pytest.raises(ExtenderError, match=r"extender\.invalid"):
        asyncio.run(story())
