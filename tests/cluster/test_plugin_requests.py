"""Requests of plugins: what is sent, what comes back, and what is refused before it is sent."""

import pytest

from kubesched.cluster import PluginRequests
from kubesched.errors import ClusterError, NotSentError
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
    with pytest.raises(ClusterError, match="GET /livez: the answer is not JSON"):
        await requests(FakeApi(lambda method, path, body: b"ok")).request("GET", "/livez")


@pytest.mark.parametrize(("method", "path", "said"), [("get", "/api", "method: found 'get'"), ("GET", "api", "path: ")])
@on_a_loop
async def test_what_is_not_a_request_is_refused(method: str, path: str, said: str):
    api = FakeApi()
    with pytest.raises(ValueError, match=said):
        await requests(api).request(method, path)
    assert api.requests == []


@on_a_loop
async def test_a_run_that_writes_nothing_still_reads():
    api = FakeApi()
    client = requests(api, "a dry run writes nothing")
    await client.request("GET", "/api")
    with pytest.raises(NotSentError, match="POST /api: not sent, because a dry run writes nothing"):
        await client.request("POST", "/api", {})
    assert [method for method, _, _ in api.requests] == ["GET"]
