import asyncio
import gzip
import logging
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web

from kubesched.cluster import Access, ApiClient, Auth, Credentials, api_client
from kubesched.cluster.content import Content, Token
from kubesched.cluster.credentials import ConfiguredCredentials
from kubesched.errors import (
    ClusterError,
    ConfigError,
    ConflictError,
    GoneError,
    NotFoundError,
    NotSentError,
    UnauthorizedError,
)
from kubesched.version import VERSION
from tests.cluster.fake_api_server import (
    Answer,
    FakeApiServer,
    client_of,
    cut,
    no_answer,
    says,
    silence,
    status,
    stream,
    text,
)
from tests.cluster.fake_timing import FakeTiming, run

PATH = "/api/v1/nodes/n1"


class Version(msgspec.Struct):
    major: str


def ask(
    *answers: Answer, method: str = "GET", timing: FakeTiming | None = None, **options: Any
) -> tuple[Any, FakeApiServer]:
    """What a request brings, and the server that was asked."""

    async def scenario() -> tuple[Any, FakeApiServer]:
        async with FakeApiServer() as server, client_of(server, timing=timing) as client:
            server.on(method, PATH, *answers)
            try:
                return await client.request(method, PATH, **options), server
            except ClusterError as error:
                return error, server

    return run(scenario())


def test_an_answer_comes_as_bytes_or_as_a_type() -> None:
    assert ask(says({"major": "1"}))[0] == b'{"major": "1"}'
    assert ask(says({"major": "1"}), type=Version)[0] == Version("1")


def test_a_request_carries_query_body_and_who_sends_it() -> None:
    _, server = ask(
        says({}),
        method="PATCH",
        query={"fieldManager": "k s", "limit": 5},
        body={"a": 1},
        content_type="application/merge-patch+json",
    )
    asked = server.asked[0]
    assert (asked.query, asked.body) == ({"fieldManager": "k s", "limit": "5"}, {"a": 1})
    assert asked.headers["User-Agent"] == f"kubesched/{VERSION}"
    assert asked.headers["Content-Type"] == "application/merge-patch+json"
    assert asked.headers["Accept"] == "application/json"
    assert asked.headers["Accept-Encoding"] == "gzip"


def test_the_path_of_the_server_comes_first_and_impersonation_goes_along() -> None:
    async def scenario() -> FakeApiServer:
        async with FakeApiServer() as server:
            server.on("GET", "/k8s/c-1/version", says({}))
            access = Access(
                "test",
                f"{server.url}/k8s/c-1",
                ConfiguredCredentials(),
                compression=False,
                headers=(("Impersonate-User", "ann"), ("Impersonate-Group", "dev")),
            )
            async with ApiClient(access, timing=FakeTiming()) as client:
                await client.request("GET", "/version")
            return server

    headers = run(scenario()).asked[0].headers
    assert (headers["Impersonate-User"], headers["Impersonate-Group"]) == ("ann", "dev")
    assert headers["Accept-Encoding"] == "identity"


def test_compressed_answers_are_read() -> None:
    async def compressed(request: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(b'{"major":"1"}'), headers={"Content-Encoding": "gzip"})

    assert ask(compressed, type=Version)[0] == Version("1")


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (401, "Unauthorized", UnauthorizedError),
        (404, "NotFound", NotFoundError),
        (409, "Conflict", ConflictError),
        (410, "Expired", GoneError),
        (410, "Gone", GoneError),
        (403, "Forbidden", ClusterError),
        (500, "InternalError", ClusterError),
        (301, "Moved Permanently", ClusterError),
    ],
)
def test_a_refusal_is_the_error_that_fits(code: int, reason: str, expected: type[ClusterError]) -> None:
    error, server = ask(status(code, reason, "nodes are shy"))
    assert type(error) is expected
    assert (error.status, error.reason) == (code, reason)
    assert f"GET {server.url}{PATH}: {code} {reason}: nodes are shy" in str(error)


def test_a_refusal_without_a_status_object_shows_its_first_line() -> None:
    error, _ = ask(text("<html>bad gateway\nmore", 502))
    assert str(error).endswith(": 502 Bad Gateway: <html>bad gateway")


def test_a_refusal_of_any_depth_is_still_a_refusal() -> None:
    error, _ = ask(text('{"a":' * 50_000, 500))
    assert (error.status, len(str(error)) < 500) == (500, True)


def test_a_refusal_whose_text_is_cut_off_is_still_a_refusal() -> None:
    async def half_a_refusal(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=409)
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b'{"message": "half')
        cut(request)
        return response

    error, _ = ask(half_a_refusal)
    assert (type(error), error.status, error.reason) == (ConflictError, 409, "Conflict")


def test_an_answer_of_another_type_is_an_error() -> None:
    error, _ = ask(says({"major": 1}), type=Version)
    assert "the answer does not match the request: major: expected a string, found an integer" in str(error)


# --- a second try ---


@pytest.mark.parametrize("code", [429, 503])
def test_a_server_that_asks_for_time_gets_it(code: int) -> None:
    timing = FakeTiming()
    busy = status(code, "TooManyRequests", headers={"Retry-After": "7"})
    answer, server = ask(busy, busy, says("done"), timing=timing)
    assert (answer, timing.naps, len(server.asked)) == (b'"done"', [7.0, 7.0], 3)


def test_time_may_be_asked_for_in_the_status_object_and_has_a_limit() -> None:
    timing = FakeTiming()
    ask(status(429, "TooManyRequests", retryAfterSeconds=3600), says("done"), timing=timing)
    assert timing.naps == [30.0]


def test_without_a_time_the_delays_grow() -> None:
    timing = FakeTiming()
    unready = status(503, "ServiceUnavailable")
    ask(no_answer, unready, no_answer, says("done"), method="POST", retry=True, timing=timing)
    assert timing.naps == [0.2, 0.4, 0.8]


def test_tries_end_after_the_fifth() -> None:
    error, server = ask(status(503, "ServiceUnavailable"))
    assert (error.status, len(server.asked)) == (503, 5)


@pytest.mark.parametrize("answer", [no_answer, status(429, "TooManyRequests"), status(503, "ServiceUnavailable")])
def test_what_is_not_safe_to_repeat_is_sent_once(answer: Answer) -> None:
    error, server = ask(answer, says("done"), method="POST", body={})
    assert isinstance(error, ClusterError)
    assert len(server.asked) == 1


def test_whoever_knows_better_may_have_it_repeated_or_not() -> None:
    assert ask(no_answer, says("done"), method="POST", body={}, retry=True)[0] == b'"done"'
    assert ask(status(503, "ServiceUnavailable"), says("done"), retry=False)[0].status == 503


@pytest.mark.parametrize("code", [400, 403, 404, 409, 500])
def test_other_refusals_are_final(code: int) -> None:
    assert len(ask(status(code, "Reason"), says("done"))[1].asked) == 1


def test_silence_ends_with_the_timeout() -> None:
    error, _ = ask(silence, timeout=0.05, retry=False)
    assert (error.status, error.reason) == (0, "Timeout")
    assert str(error).endswith(": no answer in time")


def test_half_an_answer_is_none() -> None:
    error, _ = ask(stream(b'{"major":', end="cut"), retry=False)
    assert (error.status, error.reason) == (0, "NoAnswer")
    assert "the connection was closed before the answer was complete" in str(error)


def test_a_server_that_is_not_there_is_named() -> None:
    async def scenario() -> str:
        server = FakeApiServer()
        await server.start()
        await server.stop()
        async with client_of(server) as client:
            with pytest.raises(ClusterError) as raised:
                await client.request("GET", PATH, retry=False)
            return str(raised.value).replace(server.url, "URL")

    assert run(scenario()) == f"GET URL{PATH}: cannot connect: Connection refused; check the server's address"


def test_a_server_that_comes_back_is_found_again() -> None:
    class ComesBack(FakeTiming):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            if len(self.naps) == 2:
                await server.start()

    server = FakeApiServer()

    async def scenario() -> bytes:
        await server.start()
        server.on("GET", PATH, says("done"))
        async with client_of(server, timing=ComesBack()) as client:
            await client.request("GET", PATH)
            await server.stop()
            try:
                return await client.request("GET", PATH)
            finally:
                await server.stop()

    assert run(scenario()) == b'"done"'


# --- credentials ---


class Tokens(Credentials):
    """Shows one token after the other, moving on when told that the last one was rejected."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.renewed = 0

    async def current(self) -> Auth:
        return Auth(f"Bearer {self.tokens[0]}")

    async def renew(self, rejected: Auth) -> Auth:
        self.renewed += 1
        if len(self.tokens) > 1:
            self.tokens.pop(0)
        return await self.current()


async def needs_good_token(request: web.Request) -> web.StreamResponse:
    is_good = request.headers.get("Authorization") == "Bearer good"
    return await (says("in") if is_good else status(401, "Unauthorized"))(request)


def ask_with(credentials: Credentials, method: str = "GET") -> tuple[Any, int]:
    async def scenario() -> tuple[Any, int]:
        async with FakeApiServer() as server, client_of(server, credentials=credentials) as client:
            server.on(method, PATH, needs_good_token)
            try:
                answer: Any = await client.request(method, PATH)
            except ClusterError as error:
                answer = error
            return answer, len(server.asked)

    return run(scenario())


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_rejected_credentials_are_renewed_once(method: str) -> None:
    assert ask_with(Tokens("old", "good"), method) == (b'"in"', 2)


def test_credentials_that_stay_bad_are_an_error_and_not_a_loop() -> None:
    credentials = Tokens("s3cret", "s3cret-too", "good")
    error, asked = ask_with(credentials)
    assert isinstance(error, UnauthorizedError)
    assert (asked, credentials.renewed) == (2, 1)
    assert "the credentials are missing or no longer valid" in str(error)
    assert "s3cret" not in str(error)


def test_nothing_newer_means_no_second_request() -> None:
    assert ask_with(Tokens("old"))[1] == 1


def test_a_token_file_that_was_replaced_is_read_on_401(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    credentials = ConfiguredCredentials(token=Content("t", FakeTiming(), path=file))
    run(credentials.current())
    file.write_text("good")
    assert ask_with(credentials) == (b'"in"', 2)


def test_a_watch_renews_credentials_too() -> None:
    async def scenario() -> list[bytes]:
        async with FakeApiServer() as server, client_of(server, credentials=Tokens("old", "good")) as client:
            server.on("GET", PATH, needs_good_token)
            async with client.stream(PATH, query={}, idle_timeout=5) as pieces:
                return [piece async for piece in pieces]

    assert run(scenario()) == [b'"in"']


def test_no_token_gets_into_messages_or_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    error, _ = ask_with(Tokens("s3cret"))
    assert "s3cret" not in str(error) + repr(error) + caplog.text


# --- limits ---


def test_requests_beyond_the_pool_wait_and_watches_do_not_count() -> None:
    under_way, most = 0, 0
    release = asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 2:
            release.set()
        await release.wait()
        under_way -= 1
        return await says("done")(request)

    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server, pool_size=2) as client:
            server.on("GET", PATH, slow)
            server.on("WATCH", "/watch", stream(b"x"))
            async with (
                client.stream("/watch", query={"watch": "1"}, idle_timeout=5),
                client.stream("/watch", query={"watch": "1"}, idle_timeout=5),
                asyncio.TaskGroup() as group,
            ):
                for _ in range(6):
                    group.create_task(client.request("GET", PATH))

    run(scenario())
    assert most == 2


def test_waiting_for_a_slot_does_not_count_as_waiting_for_an_answer() -> None:
    gate = asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        await gate.wait()
        return await says("done")(request)

    async def scenario() -> bytes:
        async with FakeApiServer() as server, client_of(server, pool_size=1) as client:
            server.on("GET", PATH, slow)
            async with asyncio.TaskGroup() as group:
                group.create_task(client.request("GET", PATH))
                await server.until_asked("GET", 1)
                second = group.create_task(client.request("GET", PATH, timeout=0.05))
                asyncio.get_running_loop().call_later(0.1, gate.set)
            return second.result()

    assert run(scenario()) == b'"done"'


def test_the_rate_of_requests_can_be_limited() -> None:
    async def scenario() -> list[float]:
        timing = FakeTiming()
        async with FakeApiServer() as server, client_of(server, timing=timing, qps=2, burst=1) as client:
            server.on("GET", PATH, says("done"))
            for _ in range(3):
                await client.request("GET", PATH)
        return timing.naps

    assert run(scenario()) == [0.5, 0.5]


def test_silence_in_a_stream_is_noticed() -> None:
    async def scenario() -> tuple[bytes, ClusterError]:
        async with FakeApiServer() as server, client_of(server) as client:
            server.on("GET", PATH, stream(b"first"))
            async with client.stream(PATH, query={}, idle_timeout=0.1) as pieces:
                first = await anext(pieces)
                with pytest.raises(ClusterError) as raised:
                    await anext(pieces)
            return first, raised.value

    first, error = run(scenario())
    assert (first, error.reason) == (b"first", "Timeout")


def test_a_stream_that_never_opens_ends_with_the_timeout() -> None:
    async def scenario() -> ClusterError:
        async with FakeApiServer() as server, client_of(server, timeout=0.1) as client:
            server.on("GET", PATH, silence)
            with pytest.raises(ClusterError) as raised:
                async with client.stream(PATH, query={}, idle_timeout=600):
                    pass
            return raised.value

    assert run(scenario()).reason == "Timeout"


def test_a_closed_client_says_so() -> None:
    async def scenario() -> None:
        async with FakeApiServer() as server:
            await client_of(server).request("GET", PATH, retry=False)

    with pytest.raises(ClusterError, match="the client is closed"):
        run(scenario())


def test_a_proxy_is_asked_and_its_password_stays_secret() -> None:
    async def scenario() -> tuple[FakeApiServer, str]:
        async with FakeApiServer() as proxy:
            proxy.on("GET", "/version", says("by proxy"))
            url = proxy.url.replace("http://", "http://ann:s3cret@")
            access = Access("test", "http://api.example", ConfiguredCredentials(), proxy=url)
            async with ApiClient(access, timing=FakeTiming()) as client:
                assert await client.request("GET", "/version") == b'"by proxy"'
            tunnelled = Access("test", "https://api.example", ConfiguredCredentials(), proxy=url)
            async with ApiClient(tunnelled, timing=FakeTiming()) as client:
                with pytest.raises(ClusterError) as raised:
                    await client.request("GET", "/version", retry=False)
            return proxy, str(raised.value) + repr(raised.value.__cause__)

    proxy, message = run(scenario())
    assert proxy.asked[0].headers["Host"] == "api.example"
    assert proxy.asked[0].headers["Proxy-Authorization"].startswith("Basic ")
    assert "s3cret" not in message


def test_a_write_whose_turn_comes_too_late_is_not_sent() -> None:
    """Each of the two waits for its turn; only the first one may be sent when it comes, and is asked about twice."""

    async def scenario() -> tuple[list[str], str]:
        answers = iter((True, True, False))
        timing = FakeTiming()
        options = {"timing": timing, "qps": 2, "burst": 1, "may_write": lambda: next(answers)}
        async with FakeApiServer() as server, client_of(server, **options) as client:
            for method in ("POST", "GET"):
                server.on(method, PATH, says("done"), says("done"))
            await client.request("POST", PATH, body={})
            with pytest.raises(NotSentError) as raised:
                await client.request("POST", PATH, body={}, retry=True)
            assert not raised.value.may_be_done
            await client.request("GET", PATH)
            return [asked.method for asked in server.asked], str(raised.value).replace(server.url, "URL")

    methods, message = run(scenario())
    assert methods == ["POST", "GET"]
    assert message == f"POST URL{PATH}: not sent, because the lease of this process is over"


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT"])
def test_a_write_is_not_sent_when_the_lease_ends_while_the_connection_is_made(method: str) -> None:
    """A process that is stopped in a handshake goes on with it, however long that took."""

    async def scenario() -> tuple[list[bytes], NotSentError]:
        is_leading, came = True, list[bytes]()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal is_leading
            is_leading = False
            came.append(await reader.read())
            writer.close()

        async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
            access = Access("test", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", ConfiguredCredentials())
            async with SlowToConnect(access, timing=FakeTiming(), may_write=lambda: is_leading) as client:
                with pytest.raises(NotSentError, match="the lease of this process is over") as raised:
                    await client.request(method, PATH, body={"a": 1}, retry=True)
            await asyncio.sleep(0.05)
            return came, raised.value

    came, error = run(scenario())
    assert came == [b""]
    assert not error.may_be_done


class SlowToConnect(ApiClient):
    """A client whose connections are noticed by the server before anything is sent."""

    def _opened(self, kept_seconds: float) -> aiohttp.ClientSession:
        session = super()._opened(kept_seconds)
        assert session.connector is not None
        connect = session.connector.connect

        async def slowly(*args: Any, **options: Any) -> Any:
            connection = await connect(*args, **options)
            await asyncio.sleep(0.05)
            return connection

        session.connector.connect = slowly  # type: ignore[method-assign]
        return session


def test_a_token_that_no_header_can_have_is_one_sentence_and_never_sent(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\nsecond")

    async def scenario() -> tuple[ClusterError, int]:
        credentials = ConfiguredCredentials(token=Token("tokenFile", FakeTiming(), path=token))
        async with FakeApiServer() as server:
            access = Access("test", server.url, credentials)
            with pytest.raises(ConfigError) as raised:
                async with ApiClient(access, timing=FakeTiming()) as client:
                    await client.request("GET", PATH)
            return raised.value, len(server.asked)

    error, n_asked = run(scenario())
    assert str(error) == f"tokenFile: the file {token} has a line break or a control character; expected a token"
    assert n_asked == 0


def test_what_no_header_can_have_fails_the_request_and_not_the_process() -> None:
    async def scenario() -> ClusterError:
        async with FakeApiServer() as server:
            access = Access("test", server.url, ConfiguredCredentials(authorization="Basic a\r\nX-Injected: b"))
            async with ApiClient(access, timing=FakeTiming()) as client:
                with pytest.raises(ClusterError) as raised:
                    await client.request("GET", PATH)
                assert server.asked == []
                return raised.value

    error = run(scenario())
    assert "Injected" not in str(error)
    assert (error.status, error.reason) == (0, "UnusableCredentials")


def test_the_connection_of_a_list_is_closed_soon_and_serves_no_other_request() -> None:
    """It would keep buffers of the size of the list."""
    seen: dict[str, Any] = {}

    async def note(request: web.Request) -> web.StreamResponse:
        seen["list" if "limit" in request.query else "one"] = request.transport
        return web.json_response({})

    async def scenario() -> tuple[bool, bool]:
        async with FakeApiServer() as server, client_of(server) as client:
            server.on("GET", PATH, note)
            server.on("LIST", PATH, note)
            await client.request("GET", PATH)
            await client.request("GET", PATH, query={"limit": 500})
            are_apart = seen["list"] is not seen["one"]
            for _ in range(100):
                if seen["list"].is_closing():
                    break
                await asyncio.sleep(0.1)
            return are_apart, seen["list"].is_closing() and not seen["one"].is_closing()

    assert asyncio.run(scenario()) == (True, True)


# --- waits ---


def test_a_user_hears_of_a_request_that_is_slow_and_of_each_new_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_client, "_SLOW_SECONDS", 0.01)
    heard: list[str] = []

    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server, on_wait=heard.append) as asking:
            server.on("GET", PATH, silence, says({}))
            await asking.request("GET", PATH, timeout=0.2)
            assert heard[:2] == [
                f"still waiting for GET {server.url}{PATH}, 0.2 s at most",
                f"GET {server.url}{PATH}: no answer in time; try 2 of 5 is in 0.2 s",
            ]

    run(scenario())


def test_a_user_hears_of_a_server_that_asks_for_patience() -> None:
    heard: list[str] = []

    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server, on_wait=heard.append) as asking:
            server.on("GET", PATH, status(429, "TooManyRequests", headers={"Retry-After": "20"}), says({}))
            await asking.request("GET", PATH)

    run(scenario())
    (sentence,) = heard
    assert sentence.endswith("429 TooManyRequests; try 2 of 5 is in 20 s")
