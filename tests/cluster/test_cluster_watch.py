import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from kubesched.api import KINDS, WATCHED_KINDS, WatchEvent
from kubesched.cluster import ApiClient, ClusterWatch, Sink, list_path
from kubesched.errors import ClusterError
from kubesched.state import ClusterState
from tests.cluster.fake_api_server import (
    Answer,
    FakeApiServer,
    client_of,
    line,
    node,
    objects,
    silence,
    status,
    stream,
)
from tests.cluster.fake_timing import FakeTiming, run

POD = {
    "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "5"},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
}


@asynccontextmanager
async def empty_cluster(timing: FakeTiming | None = None) -> AsyncIterator[tuple[FakeApiServer, ApiClient]]:
    """A server with nothing of any kind, and a client; a test lines up what is to come first."""
    async with FakeApiServer() as server, client_of(server, timing=timing) as client:
        yield server, client


def be_empty(server: FakeApiServer) -> None:
    """Where nothing else is lined up."""
    for kind in KINDS:
        for method, answer in (("LIST", objects()), ("WATCH", stream())):
            if not server.has(method, list_path(kind)):
                server.on(method, list_path(kind), answer)


def ignore(events: list[WatchEvent]) -> None:
    pass


async def until_synced(client: ApiClient, sink: Sink, **options: object) -> ClusterWatch:
    watch = ClusterWatch(client, sink, **options)  # type: ignore[arg-type]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watch.run())
        await watch.synced()
        task.cancel()
    return watch


def test_all_kinds_reach_one_state() -> None:
    async def scenario() -> ClusterState:
        cluster_state = ClusterState()

        def apply(events: list[WatchEvent]) -> None:
            for event in events:
                cluster_state.apply(event)

        async with empty_cluster() as (server, client):
            server.on("LIST", list_path("Node"), objects(node("n1")))
            server.on("LIST", list_path("Pod"), objects(POD))
            be_empty(server)
            await until_synced(client, apply)
            assert {asked.path for asked in server.asked_for("LIST")} == {list_path(kind) for kind in WATCHED_KINDS}
        return cluster_state

    cluster_state = run(scenario())
    row = cluster_state.columns.row_of["n1"]
    assert [info.pod.key for info in cluster_state.columns.pods[row]] == ["shop/web"]
    cluster_state.check_invariants()


def test_pods_that_are_over_are_not_asked_for() -> None:
    async def scenario() -> list[str | None]:
        async with empty_cluster() as (server, client):
            be_empty(server)
            await until_synced(client, ignore, kinds=("Pod", "Node"))
            return [server.asked_for("LIST", list_path(kind))[0].query.get("fieldSelector") for kind in ("Pod", "Node")]

    assert run(scenario()) == ["status.phase!=Succeeded,status.phase!=Failed", None]


def test_only_the_kinds_that_want_it_keep_their_json() -> None:
    async def scenario() -> dict[str, bool]:
        heard: list[WatchEvent] = []
        async with empty_cluster() as (server, client):
            for kind in ("Node", "Namespace"):
                server.on("LIST", list_path(kind), objects(node("a") | {"extra": 1}))
            be_empty(server)
            await until_synced(client, heard.extend, kinds=("Node", "Namespace"), wants_raw={"Node"})
        return {event.kind: "extra" in event.object.document for event in heard}

    assert run(scenario()) == {"Node": True, "Namespace": False}


def test_a_kind_that_cannot_be_listed_is_named_when_the_time_is_over() -> None:
    async def scenario() -> None:
        async with empty_cluster() as (server, client):
            server.on("LIST", list_path("Pod"), status(403, "Forbidden", "no pods for you"))
            be_empty(server)
            watch = ClusterWatch(client, ignore, kinds=("Node", "Pod"))
            task = asyncio.create_task(watch.run())
            try:
                await watch.synced(timeout=0.2)
            finally:
                task.cancel()

    with pytest.raises(ClusterError, match=r"^not all kinds could be listed within 0.2 s: Pod: GET .* no pods for you"):
        run(scenario())


@pytest.mark.parametrize("refusal", [status(404, "NotFound"), status(403, "Forbidden", "not in your role")])
def test_a_start_does_not_wait_for_an_optional_kind_that_the_server_lacks(refusal: Answer) -> None:
    async def scenario() -> None:
        async with empty_cluster() as (server, client):
            server.on("LIST", list_path("ResourceClaim"), refusal)
            be_empty(server)
            await until_synced(client, ignore)

    run(scenario())


def test_the_age_is_that_of_the_kind_that_was_silent_longest() -> None:
    async def scenario() -> None:
        timing = FakeTiming()
        async with empty_cluster(timing) as (server, client):
            gate = asyncio.Event()

            async def later(request: web.Request) -> web.StreamResponse:
                await gate.wait()
                return await stream(line("ADDED", node("b", "11")))(request)

            server.on("WATCH", list_path("Node"), later)
            server.on("WATCH", list_path("Namespace"), silence)
            be_empty(server)
            told = asyncio.Event()
            watch = ClusterWatch(client, lambda events: told.set(), kinds=("Node", "Namespace"))
            assert watch.age() == float("inf")
            task = asyncio.create_task(watch.run())
            await watch.synced()
            await server.until_asked("WATCH", 2)
            assert watch.age() == 0
            timing.seconds += 90
            gate.set()
            await told.wait()
            assert watch.reflectors["Node"].last_contact == timing.seconds
            assert watch.age() == 90
            task.cancel()

    run(scenario())


def test_stopping_ends_all_watches() -> None:
    async def scenario() -> int:
        async with empty_cluster() as (server, client):
            be_empty(server)
            before = asyncio.all_tasks()
            watch = ClusterWatch(client, ignore)
            task = asyncio.create_task(watch.run())
            await watch.synced()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return len([t for t in asyncio.all_tasks() - before if t.get_name().startswith("watch ")])

    assert run(scenario()) == 0


def test_what_the_sink_raises_ends_all_watches() -> None:
    def refuse(events: list[WatchEvent]) -> None:
        raise ValueError("enough")

    async def scenario() -> None:
        async with empty_cluster() as (server, client):
            server.on("LIST", list_path("Node"), objects(node("a")))
            be_empty(server)
            await ClusterWatch(client, refuse).run()

    with pytest.raises(ExceptionGroup) as raised:
        run(scenario())
    assert raised.group_contains(ValueError, match="enough")
