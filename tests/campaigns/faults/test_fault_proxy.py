"""The proxy makes the faults that it is told to make, and no others."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from campaigns.faults.fault import Fault, called
from campaigns.faults.fault_proxy import FaultProxy
from tests.cluster.fake_api_server import FakeApiServer, line, node, objects, says, stream

NODES = "/api/v1/nodes"
BINDING = "/api/v1/namespaces/default/pods/a/binding"


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    """A proxy before an API server with one node."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = FakeApiServer()
    server.on("LIST", NODES, objects(node("n1")))
    server.on("WATCH", NODES, stream(line("ADDED", node("n2"))))
    server.on("POST", BINDING, says({"kind": "Status"}, 201))
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(5)
    with FaultProxy(server.url) as proxy:
        yield proxy
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(5)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def connection(proxy: FaultProxy) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(proxy.url.removeprefix("http://"), timeout=5)


def ask(proxy: FaultProxy, method: str, path: str) -> tuple[int, dict[str, str], Any]:
    asked = connection(proxy)
    body = json.dumps({"target": {"name": "n1"}}) if method == "POST" else None
    asked.request(method, path, body)
    answer = asked.getresponse()
    found = answer.status, dict(answer.getheaders()), json.loads(answer.read())
    asked.close()
    return found


@pytest.mark.parametrize(
    ("method", "path", "verb", "resource", "name"),
    [
        ("GET", NODES, "list", "nodes", ""),
        ("GET", "/api/v1/nodes/n1", "get", "nodes", "n1"),
        ("POST", BINDING, "create", "pods/binding", "a"),
        ("PATCH", "/api/v1/namespaces/default/pods/a/status", "patch", "pods/status", "a"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x", "update", "leases", "x"),
        ("POST", "/apis/events.k8s.io/v1/namespaces/default/events", "create", "events", ""),
        ("GET", "/api/v1/namespaces/default", "get", "namespaces", "default"),
    ],
)
def test_a_request_is_named_by_verb_resource_and_name(
    method: str, path: str, verb: str, resource: str, name: str
) -> None:
    call = called(method, path, is_watch=False)
    assert (call.verb, call.resource, call.name) == (verb, resource, name)


def test_a_fault_is_made_as_often_as_it_says(proxy: FaultProxy) -> None:
    proxy.make(Fault("list", "nodes", times=1, status=429, headers={"Retry-After": "2"}))
    status, headers, body = ask(proxy, "GET", NODES)
    assert (status, headers["Retry-After"], body["reason"]) == (429, "2", "TooManyRequests")
    assert ask(proxy, "GET", NODES)[0] == 200
    assert [call.status for call in proxy.called("list", "nodes")] == [429, 200]


def test_a_fault_leaves_other_requests_alone(proxy: FaultProxy) -> None:
    proxy.make(Fault("create", "pods/binding", status=500, is_done=True))
    assert ask(proxy, "GET", NODES)[0] == 200
    assert ask(proxy, "POST", BINDING)[0] == 500
    proxy.calm()
    assert ask(proxy, "POST", BINDING)[0] == 201


def test_lines_come_into_an_open_watch(proxy: FaultProxy) -> None:
    watching = connection(proxy)
    watching.request("GET", f"{NODES}?watch=true")
    answer = watching.getresponse()
    assert json.loads(answer.readline())["object"]["metadata"]["name"] == "n2"
    assert proxy.say("nodes", b"garbage") == 1
    assert answer.readline() == b"garbage\n"
    watching.close()


def test_the_lines_of_a_watch_are_changed(proxy: FaultProxy) -> None:
    proxy.make(Fault("watch", "nodes", change=lambda lines: lines.replace(b"ADDED", b"SEEN")))
    watching = connection(proxy)
    watching.request("GET", f"{NODES}?watch=true")
    assert json.loads(watching.getresponse().readline())["type"] == "SEEN"
    watching.close()
