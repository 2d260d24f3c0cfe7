"""Requests of plugins: what is sent, what comes back, and what is refused before it is sent."""

import re
from typing import Any

import pytest

from kubesched.cluster import PluginRequests
from kubesched.errors import ClusterError, NotSentError
from kubesched.framework.plugin_client import NoClient
from tests.live.fake_api import FakeApi, on_a_loop


def requests(api: FakeApi, read_only: str = "") -> PluginRequests:
    return PluginRequests(api, lambda: read_only)  # type: ignore[arg-type]


@on_a_loop
async def test_an_answer_is_plain_values_and_none_without_a_body():
    api = FakeApi(lambda method, path, body: b'{"a": [1]}' if method == "GET" else b"")
    client = requests(api)
    assert client
    assert await client.request("GET", "/api/v1/nodes/n") == {"a": [1]}
    assert await client.request("DELETE", "/api/v1/nodes/n") is None
    assert await client.patch("/api/v1/nodes/n", {"b": 2}) is None
    assert api.requests[-1] == ("PATCH", "/api/v1/nodes/n", {"b": 2})


@on_a_loop
async def test_an_answer_that_is_not_json_is_an_error_of_the_cluster():
    with pytest.raises(ClusterError, match="GET /api: the answer is not JSON"):
        await requests(FakeApi(lambda method, path, body: b"ok")).request("GET", "/api")


NODE = "/api/v1/nodes/n"
UNSENDABLE = pytest.mark.parametrize(
    ("method", "path", "more", "said"),
    [
        ("get", "/api", {}, "method: found 'get'"),
        (["GET"], "/api", {}, "method: found"),
        ("GET", "api", {}, "path: found 'api'; expected one below /api/ or /apis/"),
        *(
            ("GET", path, {}, "expected one below /api/ or /apis/")
            for path in ("//evil", "/@evil", "/metrics", "/apix")
        ),
        *(
            ("GET", path, {}, "expected one below /api/ or /apis/")
            for path in (None, b"/api", f"{NODE}?a=b", f"{NODE}#/a")
        ),
        *(
            ("GET", f"/api/v1/namespaces/{dots}/secrets", {}, "expected no segment . or ..")
            for dots in ("..", ".", "%2e%2e", "%2E.", "a%2f..%2fb")
        ),
        ("GET", "/apis/..", {}, "expected no segment . or .."),
        *(
            ("GET", f"{NODE}{mark}a", {}, "expected no control characters")
            for mark in ("\r\n", "%0d%0A", "\0", "\ud800")
        ),
        *(("GET", NODE, {"query": query}, "query: found") for query in ("a=b", {"a": None}, {"a": 1.5}, {1: "a"}, [1])),
        ("GET", NODE, {"query": {"a": "\ud800"}}, "query: found"),
    ],
)


@UNSENDABLE
@on_a_loop
async def test_what_is_not_a_request_is_refused(method: Any, path: Any, more: dict[str, Any], said: str):
    api = FakeApi()
    for client in (requests(api), NoClient()):
        with pytest.raises(ValueError, match=re.escape(said)) as told:
            await client.request(method, path, **more)
        assert str(told.value).isprintable()
    assert api.requests == []


@pytest.mark.parametrize("content_type", ["a\r\nX: 1", "é", None])
@on_a_loop
async def test_a_content_type_is_one_header(content_type: Any):
    with pytest.raises(ValueError, match="content_type: found"):
        await requests(FakeApi()).request("PATCH", NODE, {}, content_type=content_type)


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "body", [object(), {1, object()}, "\ud800", {("a",): 1}, nested(100_000), lambda: 1, [1j]], ids=type
)
@on_a_loop
async def test_a_body_that_is_not_json_is_one_error(body: Any):
    api = FakeApi()
    with pytest.raises(ValueError, match=f"PATCH {NODE}: the body cannot be written as JSON: ") as told:
        await requests(api).patch(NODE, body)
    assert type(told.value) is ValueError
    assert api.requests == []


@on_a_loop
async def test_names_in_paths_are_sent_as_they_are_written():
    api = FakeApi()
    for path in ("/api", "/apis", "/apis/example.com/v1/n%C3%A9/a..b", "/api/v1/nodes/...", "/api/v1/nodes/a%3Fb"):
        await requests(api).request("GET", path, query={"limit": 5, "labelSelector": "a=ü"})
        assert api.requests[-1][1] == path


@on_a_loop
async def test_a_deep_answer_is_an_answer():
    deep = b"[" * 100_000 + b"]" * 100_000
    assert isinstance(await requests(FakeApi(lambda method, path, body: deep)).request("GET", NODE), list)


@on_a_loop
async def test_a_run_that_writes_nothing_still_reads():
    api = FakeApi()
    client = requests(api, "a dry run writes nothing")
    await client.request("GET", "/api")
    with pytest.raises(NotSentError, match="POST /api: not sent, because a dry run writes nothing"):
        await client.request("POST", "/api", {})
    assert [method for method, _, _ in api.requests] == ["GET"]
