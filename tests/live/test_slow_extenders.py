"""While an extender takes its time, the pod is decided on the state as it was, and everything else goes on."""

import asyncio
import json

from kubesched.api import EventType
from kubesched.framework import ActionDone, Bind, CallExtender
from kubesched.testing import make_node, make_pod
from tests.live.fake_api import on_a_loop
from tests.live.test_driver import Cluster

FILTER = {"urlPrefix": "http://slow", "filterVerb": "filter", "nodeCacheCapable": True}
BIND = {"urlPrefix": "http://binder", "bindVerb": "bind"}


def extended(*extenders: dict[str, object]) -> bytes:
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps({**kind, "extenders": list(extenders)}).encode()


class Slow:
    """An extender that answers when `is_open` is set, with the names that it was asked about."""

    def __init__(self) -> None:
        self.is_open = asyncio.Event()
        self.calls: list[CallExtender] = []

    async def call(self, action: CallExtender) -> ActionDone:
        self.calls.append(action)
        if action.verb == "filter":
            await self.is_open.wait()
        names = json.loads(action.body).get("NodeNames")
        return ActionDone(action, answer=json.dumps({"NodeNames": names}).encode())

    async def close(self) -> None:
        pass


@on_a_loop
async def test_events_wait_until_the_extender_has_answered():
    slow = Slow()
    cluster = Cluster(calls=slow, configuration=extended(FILTER))

    async def story():
        cluster.show(make_pod("p"))
        await cluster.until(lambda: len(slow.calls) == 1)
        cluster.show(make_node("n3"))
        cluster.show(make_node("n1"), EventType.DELETED)
        await asyncio.sleep(0.02)
        assert cluster.live.cluster_state.columns.n_nodes == 2
        slow.is_open.set()
        await cluster.until(lambda: cluster.notes.told == ["p bound"])
        assert set(cluster.live.cluster_state.columns.row_of) == {"n2", "n3"}

    await cluster.while_running(story)


@on_a_loop
async def test_a_binding_that_fails_meanwhile_gives_its_room_back_afterwards():
    slow = Slow()
    slow.is_open.set()
    cluster = Cluster(calls=slow, configuration=extended(FILTER))
    cluster.gate, cluster.refusal = asyncio.Event(), "403 Forbidden"

    async def story():
        cluster.show(make_pod("first"))
        await cluster.until(lambda: cluster.bindings() == ["first"])
        slow.is_open.clear()
        cluster.show(make_pod("second"))
        await cluster.until(lambda: len(slow.calls) == 2)
        cluster.gate.set()
        await asyncio.sleep(0.02)
        assert cluster.live.cluster_state.n_placed == 1
        assert cluster.notes.told == []
        slow.is_open.set()
        await cluster.until(lambda: any(text.startswith("first failed") for text in cluster.notes.told))

    await cluster.while_running(story)


@on_a_loop
async def test_bindings_go_on_between_pods_that_an_extender_is_asked_about():
    slow = Slow()
    slow.is_open.set()
    cluster = Cluster(calls=slow, configuration=extended(FILTER))

    async def story():
        for number in range(30):
            cluster.show(make_pod(f"p{number}"))
        await cluster.until(lambda: len(cluster.notes.told) >= 5)
        assert len(slow.calls) < 30
        await cluster.until(lambda: len(cluster.notes.told) == 30)

    await cluster.while_running(story)


@on_a_loop
async def test_a_run_that_ends_while_an_extender_is_asked_leaves_the_pod_in_the_queue():
    slow = Slow()
    cluster = Cluster(calls=slow, configuration=extended(FILTER))

    async def story():
        cluster.show(make_pod("p"))
        await cluster.until(lambda: len(slow.calls) == 1)
        cluster.show(make_node("n3"))

    await cluster.while_running(story)
    assert cluster.live.scheduler.queue.counts()["active"] == 1
    assert cluster.live.cluster_state.columns.n_nodes == 3
    assert cluster.bindings() == []


@on_a_loop
async def test_an_extender_binds_and_the_api_server_is_not_asked():
    slow = Slow()
    slow.is_open.set()
    cluster = Cluster(calls=slow, configuration=extended(FILTER, BIND))

    async def story():
        cluster.show(make_pod("p"))
        await cluster.until(lambda: cluster.notes.told == ["p bound"])
        assert [call.verb for call in slow.calls] == ["filter", "bind"]
        assert not any(isinstance(action, Bind) for action in cluster.actions)

    await cluster.while_running(story)
