"""Kinds that plugins name are found by discovery, watched where they have a watch, and else listed every 15 seconds."""

import asyncio
from typing import Any

import pytest

from kubesched.api import Unstructured, kind_named
from kubesched.cluster import ClusterWatch, find_served
from kubesched.errors import ClusterError, NotFoundError
from tests.cluster.fake_api_server import (
    FakeApiServer,
    client_of,
    line,
    no_answer,
    says,
    silence,
    status,
    stream,
    text,
)
from tests.cluster.fake_timing import FakeTiming, run
from tests.cluster.test_reflector import Heard

METRICS, NODES = "/apis/metrics.k8s.io/v1beta1", "/apis/metrics.k8s.io/v1beta1/nodes"
EXAMPLE = "/apis/example.com/v1"
NODE_METRICS = "metrics.k8s.io/v1beta1/NodeMetrics"


def resources(*found: tuple[str, str, tuple[str, ...]]) -> Any:
    return says({"resources": [{"name": name, "kind": kind, "verbs": verbs} for name, kind, verbs in found]})


def usage(name: str, cpu: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "usage": {"cpu": cpu, "memory": "1Gi"}}


def listed(*items: dict[str, Any], kind: str = "NodeMetrics", version: str = "") -> Any:
    return says({"kind": f"{kind}List", "metadata": {"resourceVersion": version}, "items": items})


def watched(server: FakeApiServer, kind: str, count: int) -> tuple[Heard, FakeTiming, ClusterWatch]:
    """What a watch of one kind brings, up to an event."""

    async def scenario() -> tuple[Heard, FakeTiming, ClusterWatch]:
        heard, timing = Heard(), FakeTiming()
        async with server, client_of(server, timing=timing) as client:
            watch = ClusterWatch(client, heard, kinds=[kind])
            task = asyncio.create_task(watch.run())
            await watch.synced()
            await heard.at_least(count)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return heard, timing, watch

    return run(scenario())


def test_a_kind_without_a_watch_is_listed_every_15_seconds() -> None:
    server = FakeApiServer()
    server.on("GET", METRICS, resources(("nodes", "NodeMetrics", ("get", "list"))))
    first, second = [usage("a", "1"), usage("b", "1")], [usage("a", "2"), usage("b", "1")]
    server.on("LIST", NODES, listed(*first), listed(*second), listed(usage("a", "2")))
    heard, timing, _ = watched(server, NODE_METRICS, 4)
    assert [(event.type.value, event.object.name) for event in heard.events] == [
        ("ADDED", "a"),
        ("ADDED", "b"),
        ("MODIFIED", "a"),
        ("DELETED", "b"),
    ]
    assert {event.kind for event in heard.events} == {"metrics.k8s.io/v1beta1/nodes"}
    assert timing.naps[:2] == [15.0, 15.0]
    assert not server.asked_for("WATCH")
    found = heard.events[2].object
    assert isinstance(found, Unstructured)
    assert (found.kind, found.document["usage"]["cpu"]) == ("NodeMetrics", "2")


@pytest.mark.parametrize("name", ["example.com/v1/Quota", "example.com/v1/quotas", "example.com/v1/Quota?"])
def test_a_kind_with_a_watch_is_watched_whichever_way_it_is_named(name: str) -> None:
    server = FakeApiServer()
    server.on("GET", EXAMPLE, resources(("quotas/status", "Quota", ("get",)), ("quotas", "Quota", ("list", "watch"))))
    quota = {"apiVersion": "example.com/v1", "kind": "Quota", "metadata": {"name": "q", "namespace": "shop"}}
    server.on("LIST", f"{EXAMPLE}/quotas", listed(quota, kind="Quota", version="5"))
    server.on("WATCH", f"{EXAMPLE}/quotas", stream(line("DELETED", quota)))
    heard, _, watch = watched(server, name, 2)
    assert [(event.type.value, event.kind, event.object.key) for event in heard.events] == [
        ("ADDED", "example.com/v1/quotas", "shop/q"),
        ("DELETED", "example.com/v1/quotas", "shop/q"),
    ]
    assert list(watch.reflectors) == ["example.com/v1/quotas"]


def test_the_server_decides_how_the_plural_of_a_kind_is_written() -> None:
    server = FakeApiServer()
    server.on("GET", EXAMPLE, resources(("gpuzen", "Gpu", ("list", "watch"))))
    gpu = {"apiVersion": "example.com/v1", "kind": "Gpu", "metadata": {"name": "g"}}
    server.on("LIST", f"{EXAMPLE}/gpuzen", listed(gpu, kind="Gpu", version="5"))
    server.on("WATCH", f"{EXAMPLE}/gpuzen", stream())
    heard, _, _ = watched(server, "example.com/v1/Gpu", 1)
    assert heard.events[0].kind == kind_named("example.com/v1/Gpu").key


def found(server: FakeApiServer, name: str) -> None:
    async def scenario() -> None:
        async with server, client_of(server) as client:
            await find_served(client, kind_named(name))

    run(scenario())


def test_a_plural_that_does_not_show_its_kind_is_refused() -> None:
    server = FakeApiServer()
    server.on("GET", EXAMPLE, resources(("gpuzen", "Gpu", ("list",))))
    with pytest.raises(ClusterError, match=r"gpuzen: write example.com/v1/Gpu, because this plural does not show"):
        found(server, "example.com/v1/gpuzen")


def test_a_kind_that_the_server_lacks_is_missing() -> None:
    server = FakeApiServer()
    server.on("GET", EXAMPLE, resources(("gpus", "Gpu", ("get",))))
    with pytest.raises(NotFoundError, match=r"the API server has no Quota in example.com/v1"):
        found(server, "example.com/v1/Quota")
    with pytest.raises(NotFoundError, match=r"Gpu of example.com/v1 cannot be listed"):
        found(server, "example.com/v1/Gpu")


@pytest.mark.parametrize("answer", [status(404, "NotFound"), status(403, "Forbidden"), status(503, "Unavailable")])
def test_a_missing_kind_stops_no_start_where_it_is_optional(answer: Any) -> None:
    server = FakeApiServer()
    server.on("GET", METRICS, answer)
    _, _, watch = watched(server, f"{NODE_METRICS}?", 0)
    assert "metrics.k8s.io/v1beta1" in watch.reflectors["metrics.k8s.io/v1beta1/nodes"].last_error


NOT_OF_KUBERNETES: dict[str, Any] = {
    "resources is null": says({"resources": None}),
    "a name is a number": says({"resources": [{"name": 5}], "metadata": 5}),
    "null": says(None),
    "list": says([]),
    "HTML": text("<html>"),
    "redirect": status(302, "Found"),
    "unauthorized": status(401, "Unauthorized"),
}


@pytest.mark.parametrize("answer", NOT_OF_KUBERNETES.values(), ids=NOT_OF_KUBERNETES)
@pytest.mark.parametrize("place", ["discovery", "list"])
def test_an_answer_that_is_not_of_kubernetes_stops_no_start(
    answer: Any, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubesched.cluster.reflector._PATIENCE_SECONDS", 60)
    server = FakeApiServer()
    server.on("GET", METRICS, answer if place == "discovery" else resources(("nodes", "NodeMetrics", ("list",))))
    server.on("LIST", NODES, answer)
    _, _, watch = watched(server, f"{NODE_METRICS}?", 0)
    assert "/apis/metrics.k8s.io/v1beta1" in watch.reflectors["metrics.k8s.io/v1beta1/nodes"].last_error


def test_a_kind_that_a_start_went_on_without_is_found_later() -> None:
    server = FakeApiServer()
    server.on("GET", METRICS, says(None), resources(("nodes", "NodeMetrics", ("list",))))
    server.on("LIST", NODES, text("<html>"), listed(usage("a", "1")))
    heard, _, _ = watched(server, f"{NODE_METRICS}?", 1)
    assert heard.events[0].object.name == "a"


@pytest.mark.parametrize("place", ["discovery", "list", "closed"])
def test_a_server_that_gives_no_answer_delays_a_start_for_some_seconds(
    place: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubesched.cluster.reflector._PATIENCE_SECONDS", 0.3)
    server = FakeApiServer()
    served = resources(("nodes", "NodeMetrics", ("list",)))
    server.on("GET", METRICS, {"discovery": silence, "list": served, "closed": no_answer}[place])
    server.on("LIST", NODES, silence)
    _, _, watch = watched(server, f"{NODE_METRICS}?", 0)
    assert watch.age() < float("inf")
    said = [record.message for record in caplog.records if "no list within 0.3 s" in record.message]
    assert len(said) == 1
    assert said[0].startswith("watching nodes.metrics.k8s.io: ")
    assert said[0].endswith("the plugins that read it go on without it until it comes")


def test_a_fault_that_stays_is_logged_once_and_again_after_a_list(caplog: pytest.LogCaptureFixture) -> None:
    server = FakeApiServer()
    server.on("GET", METRICS, resources(("nodes", "NodeMetrics", ("list",))))
    down = status(503, "Unavailable")
    server.on("LIST", NODES, down, down, listed(usage("a", "1")), down, down, listed(usage("a", "2")))
    watched(server, f"{NODE_METRICS}?", 2)
    said = [record.message for record in caplog.records if "503 Unavailable" in record.message]
    assert len(said) == 2


def test_a_kind_that_is_listed_in_time_is_not_given_up(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubesched.cluster.reflector._PATIENCE_SECONDS", 0.1)

    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server) as client:
            server.on("GET", EXAMPLE, resources(("quotas", "Quota", ("list", "watch"))))
            server.on("LIST", f"{EXAMPLE}/quotas", listed(kind="Quota", version="5"))
            server.on("WATCH", f"{EXAMPLE}/quotas", silence)
            watch = ClusterWatch(client, Heard(), kinds=["example.com/v1/Quota?"])
            task = asyncio.create_task(watch.run())
            await watch.synced()
            await asyncio.sleep(0.2)
            task.cancel()

    run(scenario())
    assert "no list within" not in caplog.text


def test_a_start_that_waits_for_a_missing_kind_names_it() -> None:
    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server) as client:
            watch = ClusterWatch(client, Heard(), kinds=[NODE_METRICS])
            task = asyncio.create_task(watch.run())
            try:
                await watch.synced(timeout=0.2)
            finally:
                task.cancel()

    with pytest.raises(ClusterError, match=r"not all kinds could be listed .*metrics.k8s.io/v1beta1/nodes: GET .* 404"):
        run(scenario())


@pytest.mark.parametrize("answer", [status(404, "NotFound"), resources(("racks", "Rack", ("list",)))])
@pytest.mark.parametrize(
    ("end", "said"),
    [
        (
            "",
            ", and nothing is scheduled until it is there; a ? at the end of its name makes it optional",
        ),
        ("?", ""),
    ],
)
def test_a_missing_kind_is_reported_with_the_plugins_that_read_it(
    answer: Any, end: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server) as client:
            server.on("GET", EXAMPLE, answer)
            readers = {"example.com/v1/rackz": ("Rack", "Power"), "v1/configmaps": ("Other",)}
            watch = ClusterWatch(client, Heard(), kinds=[f"example.com/v1/rackz{end}"], readers=readers)
            task = asyncio.create_task(watch.run())
            while not watch.reflectors["example.com/v1/rackz"].last_error:  # noqa: ASYNC110 - a text sets no event
                await asyncio.sleep(0.001)
            task.cancel()

    run(scenario())
    told = [message for message in caplog.messages if message.startswith("watching")]
    assert told[0].rpartition(" (")[0].endswith(f"; plugin Rack and plugin Power declares it in reads{said}")


def test_an_optional_kind_that_comes_later_is_found() -> None:
    server = FakeApiServer()
    server.on("GET", METRICS, status(404, "NotFound"), resources(("nodes", "NodeMetrics", ("list",))))
    server.on("LIST", NODES, listed(usage("a", "1")))
    heard, timing, _ = watched(server, f"{NODE_METRICS}?", 1)
    assert timing.naps[0] == 60.0
    assert heard.events[0].object.name == "a"
