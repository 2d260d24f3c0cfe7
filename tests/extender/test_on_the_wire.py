"""The extender asked as a kube-scheduler asks it, byte for byte: where its verbs are, and what HTTP may do.

What is told is in test_answers_on_the_wire.py, binds are in test_binds_on_the_wire.py.
"""

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import yaml

from kubesched.extender import ExtenderOptions
from kubesched.framework import Plugin, Status
from tests.extender.asking import FilterResult, HostPriority, PreemptionResult, as_go, captured
from tests.extender.wired import Client, First, Reply, Wired, as_go_sends, ask, filtered, get, posted, tell
from tests.wire.test_wire import SPELLINGS, spelled

FILTERS = {"filter-names", "filter-nodes"}
KINDS: dict[str, Any] = {"filter": FilterResult, "prioritize": list[HostPriority], "preempt": PreemptionResult}


class Second(Plugin):
    """Takes nothing, and likes everything."""

    def filter(self, state, pod, node):
        return Status.unschedulable("never")

    def score(self, state, pod, node):
        return 100


# --- where the verbs are ---


@pytest.mark.parametrize(
    "path",
    [
        "/filter",
        "//filter",  # urlPrefix http://host/, or filterVerb: /filter
        "///filter",
        "/filter/",
        "/filter//",
        "//filter?x=1",
        "/filter?x=1",
        "/filter?x=//&y=%2F",
        "/predicates/First",
        "//predicates//First/",
        "/predicates/First?x=1",
        "/%66ilter",
        "/api/scheduler/filter",  # urlPrefix http://host/api/scheduler
        "/scheduler/predicates/First",
        "//api//%66ilter/",
        "/predicates/filter",  # urlPrefix http://host/predicates, and not a plugin named filter
    ],
)
def test_a_verb_is_answered_where_the_configuration_puts_it(path: str):
    reply = posted(path, captured("filter-names"))
    assert filtered(reply).NodeNames == ["n1"]


def test_verbs_with_a_name_ask_that_plugin_alone():
    async def story(_: Wired, client: Client) -> list[Any]:
        paths = ("/filter", "/predicates/First", "/predicates/Second", "/prioritize", "/priorities/First")
        return [(await client.post(path, captured("filter-names"))).json for path in paths]

    both, first, second, scores, first_scores = tell(story, First, Second)
    assert both["NodeNames"] == second["NodeNames"] == []
    assert first["NodeNames"] == ["n1"]
    assert second["FailedAndUnresolvableNodes"] == {"n1": "never", "n2": "never"}
    assert scores == [{"Host": "n1", "Score": 10}, {"Host": "n2", "Score": 5}]
    assert first_scores == [{"Host": "n1", "Score": 10}, {"Host": "n2", "Score": 0}]


@pytest.mark.parametrize("path", ["/preempt", "/preemption", "//preempt/"])
@pytest.mark.parametrize("form", ["preempt-meta", "preempt-victims"])
def test_preempt_has_two_names_and_answers_by_uid_in_both_modes(path: str, form: str):
    assert posted(path, captured(form)).json == {
        "NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "v1"}], "NumPDBViolations": 2}}
    }


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/filters", 'no such path: "/filters"; expected one of /bind, /filter, '),
        ("/base/filters", 'no such path: "/base/filters"; expected one of '),
        ("/base/predicates/third", "no plugin named 'third'; expected one of First, Second"),
        ("/base/inspect", 'no such path: "/base/inspect"; expected one of '),
        ("/base/healthz", 'no such path: "/base/healthz"; expected one of '),
        ("/", 'no such path: "/"; expected one of '),
        ("/predicates/third", "no plugin named 'third'; expected one of First, Second"),
        ("/priorities/third", "no plugin named 'third'; expected one of First, Second"),
        ("/bind", "this extender does not bind: no plugin takes part in binding; start it with --bind"),
    ],
)
def test_a_path_that_is_none_is_one_sentence(path: str, sentence: str):
    reply = posted(path, captured("filter-names"), First, Second)
    assert (reply.status, reply.text.count("\n")) == (404, 1)
    assert reply.text.startswith(sentence)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/filter", "//filter/", "/prioritize", "/preempt", "/bind", "/predicates/First"])
def test_a_verb_is_posted_to_and_nothing_else(method: str, path: str):
    async def story(_: Wired, client: Client) -> tuple[int, str, str]:
        await client.raw.send(method, path)
        head = (await client.raw.reader.readuntil(b"\r\n\r\n")).decode()
        said = "" if method == "HEAD" else (await client.raw.reader.readuntil(b"\n")).decode()
        after = await client.post("/filter", captured("filter-names"))
        assert after.status == 200, "the connection goes on"
        return int(head.split()[1]), head, said

    status, head, said = tell(story)
    assert status == 405
    assert "\r\nAllow: POST\r\n" in head
    assert said in ("", f'method {method} is not allowed at "{path}"; allowed: POST\n')


def test_every_verb_of_the_printed_stanza_is_answered():
    async def story(running: Wired, client: Client) -> dict[str, int]:
        text = running.extender.offer.stanza(running.server.url, node_cache_capable=True, http_timeout=5)
        (stanza,) = yaml.safe_load(text)["extenders"]
        verbs = [verb for key, verb in stanza.items() if key.endswith("Verb")]
        assert stanza["urlPrefix"] == "http://{}:{}".format(*running.server.address)
        return {verb: (await client.post(f"/{verb}", b"{}")).status for verb in verbs}

    assert tell(story) == {"filter": 200, "prioritize": 500, "preempt": 500}


ODD_PATHS = [
    "",
    "/filter",
    "//filter//",
    "/predicates",
    "/predicates/",
    "/filter/..",
    "/./filter",
    "/healthz/",
    "//",
    "/%C3%A9",
]


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_nothing_is_ever_redirected(method: str):
    """Go's client would follow with a GET without a body."""

    async def story(_: Wired, client: Client) -> list[Reply]:
        return [await client.say(as_go_sends(path or "/", b"{}", method=method)) for path in ODD_PATHS]

    for reply in tell(story):
        assert reply.status in (200, 404, 405, 500)
        assert "location" not in reply.headers


# --- what Go's client sends and reads ---


@pytest.mark.parametrize(
    ("verb", "form"),
    [(verb, form) for verb in ("filter", "prioritize") for form in sorted(FILTERS)]
    + [("preempt", form) for form in ("preempt-meta", "preempt-victims")],
)
@pytest.mark.parametrize("how", SPELLINGS, ids=["Go", "lower", "UPPER", "mIxEd", "tagged"])
def test_captured_requests_in_any_spelling_get_gos_names(verb: str, form: str, how: Callable[[bytes], bytes]):
    reply = posted(f"/{verb}", spelled(how, captured(form)))
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert int(reply.headers["content-length"]) == len(reply.text.encode())
    assert reply.headers.get("connection", "keep-alive") == "keep-alive"
    assert not reply.headers.keys() & {"content-encoding", "transfer-encoding"}
    _, end = json.JSONDecoder().raw_decode(reply.text)
    assert end == len(reply.text)
    msgspec.json.decode(reply.text, type=KINDS[verb])  # refuses keys that are not Go's


@pytest.mark.parametrize(
    "header", ["", "Content-Type: text/plain\r\n", "Content-Type: application/json; charset=utf-8\r\n"]
)
@pytest.mark.parametrize(
    "accept", ["", "Accept-Encoding: gzip\r\n", "Accept-Encoding: identity\r\n", "Accept: text/html\r\n"]
)
def test_headers_that_say_nothing_of_the_verb_change_nothing(header: str, accept: str):
    body = captured("filter-names")
    request = (
        f"POST /filter HTTP/1.1\r\nHost: localhost\r\n{header}{accept}Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    reply = tell(lambda _, client: client.say(request))
    assert filtered(reply).NodeNames == ["n1"]
    assert "content-encoding" not in reply.headers


def test_a_body_that_comes_compressed_is_read():
    body = gzip.compress(captured("filter-names"))
    reply = tell(lambda _, client: client.post("/filter", body, Content_Encoding="gzip"))
    assert filtered(reply).NodeNames == ["n1"]


def test_only_who_asks_gets_the_metrics_compressed():
    async def story(running: Wired, client: Client) -> tuple[str | None, bytes]:
        plain = await get(running, "/metrics")
        await client.raw.send("GET", "/metrics", headers=["Accept-Encoding: gzip"])
        head = (await client.raw.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        return plain.headers.get("content-encoding"), await client.raw.reader.readexactly(length)

    encoding, compressed = tell(story)
    assert encoding is None
    assert b"kubesched_extender_requests_total" in gzip.decompress(compressed)


def test_a_client_that_waits_for_the_word_to_go_on_gets_it():
    async def story(_: Wired, client: Client) -> tuple[bytes, Reply]:
        body = captured("filter-names")
        request = as_go_sends("/filter", body, Expect="100-continue")
        await client.raw.send_raw(request[: -len(body)])
        word = await client.raw.reader.readuntil(b"\r\n\r\n")
        return word, await client.say(body)

    word, reply = tell(story)
    assert word == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert filtered(reply).NodeNames == ["n1"]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_a_body_in_chunks_is_read(size: int):
    body = captured("filter-nodes")
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    head = b"POST /filter HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    reply = tell(lambda _, client: client.say(head + chunks))
    assert [as_go(raw)["metadata"]["name"] for raw in filtered(reply).raws] == ["n1"]


def test_a_request_may_arrive_in_any_pieces():
    async def story(running: Wired, client: Client) -> Reply:
        for byte in as_go_sends("/filter", captured("filter-names")):
            await client.raw.send_raw(bytes([byte]))
            await asyncio.sleep(0)
        return await client.hear()

    assert filtered(tell(story)).NodeNames == ["n1"]


def test_requests_that_do_not_wait_are_answered_in_their_order():
    async def story(_: Wired, client: Client) -> list[Reply]:
        paths = ["/filter", "/prioritize", "/nothing", "/preempt", "/filter"]
        bodies = [captured("preempt-meta" if path == "/preempt" else "filter-names") for path in paths]
        await client.raw.send_raw(b"".join(map(as_go_sends, paths, bodies)))
        return [await client.hear() for _ in paths]

    first, scores, nothing, plan, last = tell(story)
    assert (first.json, nothing.status) == (last.json, 404)
    assert (type(scores.json), type(plan.json)) == (list, dict)


def test_an_idle_connection_outlives_the_clients_patience_and_not_for_ever():
    """Go drops a connection after 90 idle seconds; the server must not be the first. Here time jumps."""

    async def story(_: Wired, client: Client) -> tuple[list[int], bool]:
        loop = asyncio.get_running_loop()
        ahead, time = 0.0, loop.time
        loop.time = lambda: time() + ahead  # type: ignore[method-assign]
        statuses = []
        for seconds in (0.0, 91.0, 91.0):
            ahead += seconds
            for _ in range(5):  # whatever is due by now happens
                await asyncio.sleep(0)
            statuses.append((await client.post("/filter", captured("filter-names"))).status)
        ahead += 1000.0
        return statuses, await client.is_closed()

    assert tell(story) == ([200] * 3, True)


def test_nobody_reaches_the_server_from_outside_unless_asked_for():
    assert ExtenderOptions().server.host == "127.0.0.1"
    assert ExtenderOptions().server.keep_alive_seconds > 90


@pytest.mark.parametrize(("header", "stays"), [("", False), ("Connection: keep-alive\r\n", True)])
def test_clients_of_http_1_0_are_served(header: str, stays: bool):
    async def story(_: Wired, client: Client) -> tuple[Reply, bool]:
        body = captured("filter-names")
        request = f"POST /filter HTTP/1.0\r\n{header}Content-Length: {len(body)}\r\n\r\n".encode() + body
        reply = await client.say(request)
        if stays:
            return reply, (await client.say(request)).status == 200
        return reply, not await client.is_closed()

    reply, stayed = tell(story)
    assert filtered(reply).NodeNames == ["n1"]
    assert stayed is stays


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"POST /filter HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"POST /filter HTTP/1.1\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: -4\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: localhost\r\nA: " + b"b" * 9000 + b"\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"POST /" + b"f" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",  # TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_ends_its_connection_and_nothing_else(request_: bytes):
    async def story(running: Wired, client: Client) -> tuple[int, bool, Reply]:
        status = (await client.say(request_)).status
        return status, await client.is_closed(), await ask(running, "/filter", captured("filter-names"))

    status, closed, after = tell(story)
    assert (status, closed, after.status) == (400, True, 200)


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_too_large_is_refused(is_chunked: bool):
    async def story(running: Wired, client: Client) -> tuple[Reply, bool, Reply]:
        framing, body = (
            ("Transfer-Encoding: chunked", b"800\r\n" + b" " * 2048) if is_chunked else ("Content-Length: 2048", b"")
        )
        reply = await client.say(f"POST /filter HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\n".encode() + body)
        return reply, await client.is_closed(), await ask(running, "/filter", captured("filter-names"))

    refusal, closed, after = tell(story, max_body_bytes=1024, body_seconds=0.1)
    assert (refusal.status, closed, after.status) == (413, True, 200)
    assert refusal.text.endswith("expected at most 1024 bytes\n")
