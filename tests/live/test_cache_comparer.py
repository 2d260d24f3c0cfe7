"""SIGUSR2: the caches are compared with the API server; what is on its way is no difference."""

import asyncio
import logging
import os
import signal
from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import pytest

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.framework import Action, ActionDone
from kubesched.live import LiveScheduler
from kubesched.live.cache_comparer import CacheComparer, on_sigusr2
from kubesched.scheduler import straight
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.live.fake_api import Sleepless, on_a_loop

IDENTITY = {"uid": "uid-leaving", "resourceVersion": "1"}


class Bed:
    """A scheduler that knows what it was shown, and an API server that has what a test puts there.

    Attributes:
        at_server: by kind and key; lists are made of it.
        before_list: what happens before each list of pods, one entry for each.
    """

    def __init__(self, *objects: KubeObject, page_size: int = 1000) -> None:
        self.timing = Sleepless()
        self.live = LiveScheduler(set_up(), lambda state: self, clock=self.timing, rng=Random(0))
        self.at_server = {(type(obj).__name__, obj.key): obj for obj in objects}
        self.before_list: list[Any] = []
        self.n_lists = 0
        self.page_size = page_size
        for obj in objects:
            self.show(obj)
        self.live.feed.hand_over()
        self.live.feed.release()
        self.comparer = CacheComparer(self, self.live)  # type: ignore[arg-type]

    # --- the API server ---

    async def request(self, method: str, path: str, *, query: Any, type: Any, **_: Any) -> Any:
        kind = {"nodes": "Node", "pods": "Pod"}[path.rpartition("/")[2]]
        start = int(query.get("continue", 0))
        if kind == "Pod" and not start:
            self.n_lists += 1
            if self.before_list:
                self.before_list.pop(0)()
        items = [_item(obj) for (of, _), obj in self.at_server.items() if of == kind]
        page = {"resourceVersion": "9"}
        if start + self.page_size < len(items):
            page["continue"] = str(start + self.page_size)
        items = items[start : start + self.page_size]
        return msgspec.convert({"kind": f"{kind}List", "metadata": page, "items": items}, type)

    # --- the scheduler ---

    def show(self, obj: KubeObject, type_: EventType = EventType.ADDED) -> None:
        self.live.feed([WatchEvent(type_, type(obj).__name__, obj)])

    def put(self, obj: KubeObject) -> None:
        self.at_server[type(obj).__name__, obj.key] = obj

    def remove(self, obj: KubeObject) -> None:
        del self.at_server[type(obj).__name__, obj.key]

    async def compared(self) -> dict[str, tuple[str, str]]:
        return await self.comparer.compare()

    def emit(self, action: Action) -> None:
        pass

    async def perform(self, action: Action) -> ActionDone:
        return ActionDone(action)

    async def finish(self) -> None:
        pass


def _item(obj: KubeObject) -> Any:
    meta = obj.metadata
    about = {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid, "resourceVersion": meta.resource_version}
    return {"metadata": about, "spec": {"nodeName": getattr(obj, "node_name", "")}}


def pod(name: str = "web", version: str = "1", node: str = "n1", **more: Any) -> KubeObject:
    return make_pod(
        name, node=node, metadata={"uid": f"uid-{name}", "resourceVersion": version}, requests={"cpu": "1"}, **more
    )


@pytest.mark.parametrize("page_size", [1, 2, 1000])
@on_a_loop
async def test_a_cache_that_equals_the_server_has_no_differences(page_size):
    bed = Bed(make_node("n1"), make_node("n2"), pod(), pod("db"), pod("waits", node=""), page_size=page_size)
    assert await bed.compared() == {}
    assert bed.n_lists == 1


@on_a_loop
async def test_a_pod_that_the_server_does_not_have_is_a_difference():
    bed = Bed(make_node("n1"), pod())
    bed.remove(pod())
    differences = await bed.compared()
    assert differences == {
        "Pod default/web": ("version 1, uid uid-web, on node n1", "none, the API server does not have it")
    }
    assert bed.timing.slept == [2.0] * 4


@on_a_loop
async def test_a_node_that_was_never_shown_is_a_difference():
    bed = Bed(make_node("n1"))
    bed.put(make_node("n2", metadata={"uid": "u2", "resourceVersion": "4"}))
    assert await bed.compared() == {"Node n2": ("does not have it", "version 4, uid u2")}


@on_a_loop
async def test_a_missed_update_and_a_missed_binding_are_differences():
    bed = Bed(make_node("n1"), pod(), pod("db", node=""))
    bed.put(pod(version="2"))
    bed.put(pod("db", version="3"))
    assert await bed.compared() == {
        "Pod default/web": ("version 1, uid uid-web, on node n1", "version 2, uid uid-web, on node n1"),
        "Pod default/db": ("version 1, uid uid-db", "version 3, uid uid-db, on node n1"),
    }


@on_a_loop
async def test_an_event_on_its_way_is_no_difference():
    bed = Bed(make_node("n1"), pod())
    bed.put(pod(version="2"))
    bed.put(pod("new", version="3"))
    bed.before_list = [lambda: None, lambda: (bed.show(pod(version="2")), bed.show(pod("new", version="3")))]
    assert await bed.compared() == {}
    assert bed.n_lists == 2


@on_a_loop
async def test_a_pod_that_changes_before_every_list_is_no_difference():
    bed = Bed(make_node("n1"), pod())

    def change(version: int) -> None:
        bed.show(pod(version=str(version - 1)))
        bed.put(pod(version=str(version)))

    bed.before_list = [lambda version=version: change(version) for version in range(2, 7)]
    assert await bed.compared() == {}


@on_a_loop
async def test_a_wrong_sum_of_a_node_counts_at_once():
    bed = Bed(make_node("n1"), pod())
    columns = bed.live.cluster_state.columns
    columns.requested[0, columns.row_of["n1"]] += 500
    columns.n_pods[columns.row_of["n1"]] = 7
    assert await bed.compared() == {"Node n1, requested cpu": ("1500", "1000"), "Node n1, pods": ("7", "1")}


@on_a_loop
async def test_a_pod_that_waits_nowhere_is_a_difference():
    waits, other = pod("waits", node=""), pod("other", node="", spec={"schedulerName": "another"})
    bed = Bed(make_node("n1"), waits, other)
    bed.live.scheduler.queue.delete(waits)
    assert await bed.compared() == {"Pod default/waits": ("nowhere", "in the queue")}


@on_a_loop
async def test_a_pod_that_waits_and_does_not_exist_is_a_difference():
    bed = Bed(make_node("n1"))
    bed.live.scheduler.queue.add(pod("ghost", node=""), 0.0)
    assert await bed.compared() == {"Pod default/ghost": ("in the queue", "nowhere, it does not exist")}


@on_a_loop
async def test_pods_in_flight_assumed_and_gated_are_where_they_have_to_be():
    gated = pod("gated", node="", spec={"schedulingGates": [{"name": "example.com/wait"}]})
    leaving = pod("leaving", node="")
    bed = Bed(make_node("n1"), gated, leaving, pod("assumed", node=""))
    scheduler = bed.live.scheduler
    scheduler.queue.delete(leaving)
    going = make_pod("leaving", metadata={**IDENTITY, "deletionTimestamp": "2026-01-01T00:00:00Z"})
    scheduler.cluster_state.objects.put("Pod", going)
    bed.put(going)
    taken = straight(scheduler.attempt())
    assert taken is not None
    assert scheduler.cluster_state.assumed_uids == ["uid-assumed"]
    assert await bed.compared() == {}
    assert taken[1] is not None
    taken[1].close()


@on_a_loop
async def test_sigusr2_logs_one_line_when_nothing_differs_and_each_difference(caplog):
    caplog.set_level(logging.INFO)
    bed = Bed(make_node("n1"), pod())
    with on_sigusr2(bed.comparer.ask):
        running = asyncio.create_task(bed.comparer.run())
        os.kill(os.getpid(), signal.SIGUSR2)
        while len(caplog.messages) < 2:  # noqa: ASYNC110 - the log has no event
            await asyncio.sleep(0.001)
        dump, outcome = caplog.messages
        assert dump.startswith("cache dump: nodes 1, pods 1, assumed 0, active 0, backoff 0, unschedulable 0, gated 0")
        assert outcome == "cache comparison: no differences to the API server"
        caplog.clear()
        bed.remove(pod())
        os.kill(os.getpid(), signal.SIGUSR2)
        while len(caplog.messages) < 2:  # noqa: ASYNC110 - the log has no event
            await asyncio.sleep(0.001)
        assert caplog.messages[1].startswith("cache comparison: Pod default/web: cache version 1, uid uid-web, on node")
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@on_a_loop
async def test_a_comparison_that_fails_is_logged_and_the_next_one_is_made(caplog):
    caplog.set_level(logging.INFO)
    bed = Bed(make_node("n1"), pod())

    def fail() -> None:
        raise RuntimeError("a fault of ours")

    bed.before_list = [fail]
    running = asyncio.create_task(bed.comparer.run())
    for expected in ("cache comparison: failed", "cache comparison: no differences to the API server"):
        bed.comparer.ask()
        async with asyncio.timeout(10):
            while expected not in caplog.messages and not running.done():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.001)
    assert "a fault of ours" in caplog.text
    assert not running.done()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
