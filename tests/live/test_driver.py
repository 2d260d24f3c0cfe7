"""What a live scheduler does with what happens: one pod after another, bindings side by side, an orderly end."""

import asyncio
import re
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from kubesched.api import EventType, KubeObject
from kubesched.cluster import Timing
from kubesched.framework import Action, ActionDone, Bind, PatchPodStatus, Plugin, RecordEvent, Status, Wait
from kubesched.live import LiveScheduler
from kubesched.metrics import Observer
from kubesched.scheduler import TieBreak, straight
from kubesched.setup import ExtenderCalls, set_up
from kubesched.testing import make_node, make_pod
from tests.live.fake_api import FakeTiming, on_a_loop
from tests.live.shown_cluster import ShownCluster


class Notes(Observer):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def bound(self, decision, seconds, queued_seconds):
        self.told.append(f"{decision.pod.name} bound")

    def failed(self, decision, seconds):
        self.told.append(f"{decision.pod.name} failed: {decision.outcome.message}")


class Cluster(ShownCluster):
    """Carries out actions at once, or as a test says, and shows the outcome."""

    def __init__(
        self,
        *plugins: type[Plugin],
        objects: list[KubeObject] | None = None,
        timing: Timing | None = None,
        configuration: bytes | None = None,
        calls: ExtenderCalls | None = None,
        **options: Any,
    ) -> None:
        self.actions: list[Action] = []
        self.gate: asyncio.Event | None = None
        self.refusal = ""
        self.is_leader = True
        self.notes = Notes()
        self.timing = timing or FakeTiming()
        self.live = LiveScheduler(
            set_up(configuration, plugins=plugins, extender_calls=calls),
            lambda state: self,
            clock=self.timing,
            rng=Random(0),
            tie_break=TieBreak.FIRST,
            observer=self.notes,
            **options,
        )
        for obj in objects or [make_node("n1"), make_node("n2")]:
            self.show(obj)
        self.live.feed.hand_over()
        self.live.feed.release()

    async def finish(self) -> None:
        pass

    def may_write(self) -> bool:
        return self.is_leader

    def emit(self, action: Action) -> None:
        self.actions.append(action)

    async def perform(self, action: Action) -> ActionDone:
        self.actions.append(action)
        if isinstance(action, Bind):
            if self.gate is not None:
                await self.gate.wait()
            if not self.refusal:
                bound = make_pod(action.pod.name, node=action.node_name, metadata={"uid": action.pod.uid})
                self.show(bound, EventType.MODIFIED)
        return ActionDone(action, self.refusal if isinstance(action, Bind) else "")

    def bindings(self) -> list[str]:
        return [action.pod.name for action in self.actions if isinstance(action, Bind)]


@on_a_loop
async def test_pods_that_were_there_and_pods_that_come_are_bound():
    cluster = Cluster(objects=[make_node("n1"), make_pod("first")])

    async def story():
        await cluster.until(lambda: cluster.notes.told == ["first bound"])
        cluster.show(make_pod("second"))
        await cluster.until(lambda: len(cluster.notes.told) == 2)

    await cluster.while_running(story)
    notes = [action.note for action in cluster.actions if isinstance(action, RecordEvent)]
    assert notes == [f"Successfully assigned default/{name} to n1" for name in ("first", "second")]


@on_a_loop
async def test_nobody_is_placed_before_everything_is_known_and_it_leads():
    cluster = Cluster()
    cluster.show(make_pod("p"))
    await asyncio.sleep(0.01)
    assert cluster.actions == []


@on_a_loop
async def test_a_binding_that_takes_long_does_not_hold_up_the_next_pod():
    cluster = Cluster()
    cluster.gate = asyncio.Event()

    async def story():
        for name in ("a", "b", "c"):
            cluster.show(make_pod(name))
        await cluster.until(lambda: cluster.bindings() == ["a", "b", "c"])
        assert cluster.notes.told == []
        cluster.gate.set()
        await cluster.until(lambda: len(cluster.notes.told) == 3)

    await cluster.while_running(story)


@on_a_loop
async def test_a_refused_binding_brings_the_pod_back_to_the_queue():
    cluster = Cluster()
    cluster.refusal = "403 Forbidden"

    async def story():
        cluster.show(make_pod("p"))
        await cluster.until(lambda: cluster.notes.told)
        cluster.refusal = ""
        assert isinstance(cluster.timing, FakeTiming)
        cluster.timing.seconds += 30
        cluster.show(make_node("n3"))  # an event wakes the loop
        cluster.live.scheduler.activate([make_pod("p")])
        await cluster.until(lambda: len(cluster.notes.told) == 2)

    await cluster.while_running(story)
    assert cluster.notes.told == ['p failed: running Bind plugin "DefaultBinder": 403 Forbidden', "p bound"]


class Holds(Plugin):
    """Makes pods wait for a minute."""

    given_back: list[str] = []

    def permit(self, state, pod, node_name):
        return Wait(60)

    def unreserve(self, state, pod, node_name):
        self.given_back.append(pod.name)


@on_a_loop
async def test_an_end_gives_back_what_waits():
    Holds.given_back.clear()
    cluster = Cluster(Holds)

    async def story():
        cluster.show(make_pod("p"))
        await cluster.until(lambda: cluster.live.scheduler.waiting_pods)

    await cluster.while_running(story)
    assert Holds.given_back == ["p"]
    assert make_pod("p") in cluster.live.scheduler.queue
    assert not cluster.live._tasks


@on_a_loop
async def test_an_end_waits_for_the_answer_to_a_binding_that_was_sent():
    cluster = Cluster()
    cluster.gate = asyncio.Event()

    async def story():
        cluster.show(make_pod("p"))
        await cluster.until(cluster.bindings)
        asyncio.get_running_loop().call_later(0.05, cluster.gate.set)

    await cluster.while_running(story)
    assert cluster.notes.told == ["p bound"]


class WaitsInPermit(Plugin):
    """Makes pods wait until another plugin lets them go."""

    def permit(self, state, pod, node_name):
        return Wait(60)


@on_a_loop
async def test_a_plugin_that_does_not_let_itself_be_cancelled_does_not_hold_up_the_end(monkeypatch, caplog):
    is_over = asyncio.Event()

    class Stubborn(Plugin):
        async def pre_bind(self, state, pod, node_name):
            while not is_over.is_set():
                with suppress(asyncio.CancelledError):
                    await is_over.wait()
            return Status.SUCCESS

    monkeypatch.setattr("kubesched.live.driver._FINISH_SECONDS", 0.05)
    cluster = Cluster(Stubborn, objects=[make_node("n1"), make_pod("p")])
    try:
        async with asyncio.timeout(5):
            await cluster.while_running(lambda: cluster.until(lambda: cluster.live.n_binding))
        assert "still running after 0.05 s: bind default/p" in caplog.text
    finally:
        is_over.set()
        await cluster.until(lambda: not cluster.live.n_binding)


@pytest.mark.parametrize(("is_leader", "outcomes"), [(True, ["p bound"]), (False, [])], ids=["stop", "lost lease"])
@on_a_loop
async def test_a_stop_waits_for_the_answer_to_a_binding_and_a_lost_lease_does_not(is_leader, outcomes):
    cluster = Cluster(objects=[make_node("n1"), make_pod("p")])
    gate = cluster.gate = asyncio.Event()
    cluster.is_leader = is_leader

    async def story():
        await cluster.until(lambda: any(isinstance(action, Bind) for action in cluster.actions))
        asyncio.get_running_loop().call_later(0.1, gate.set)

    await cluster.while_running(story)
    assert cluster.notes.told == outcomes


@on_a_loop
async def test_a_waiting_pod_goes_on_when_it_is_allowed():
    cluster = Cluster(WaitsInPermit)

    async def story():
        cluster.show(make_pod("p"))
        await cluster.until(lambda: cluster.live.scheduler.waiting_pods)
        (waiting,) = cluster.live.scheduler.waiting_pods.values()
        waiting.allow("WaitsInPermit")
        await cluster.until(lambda: cluster.notes.told == ["p bound"])

    await cluster.while_running(story)


class Breaks(Plugin):
    """A connection of its own that fails."""

    async def pre_bind(self, state, pod, node_name):
        await asyncio.sleep(0.001)
        if pod.name == "odd":
            raise asyncio.CancelledError
        return Status.SUCCESS


@on_a_loop
async def test_a_plugin_that_awaits_a_connection_of_its_own_and_fails_costs_its_pod_the_attempt():
    cluster = Cluster(Breaks)

    async def story():
        for name in ("odd", "even"):
            cluster.show(make_pod(name))
        await cluster.until(lambda: len(cluster.notes.told) == 2)

    await cluster.while_running(story)
    assert sorted(cluster.notes.told) == [
        "even bound",
        'odd failed: running PreBind plugin "Breaks": CancelledError',
    ]


@on_a_loop
async def test_events_are_handled_between_pods():
    """A node that comes while a thousand pods are placed gets some of them."""
    large = {"cpu": "1000", "memory": "1Ti", "pods": "2000"}
    cluster = Cluster(objects=[make_node("n1", allocatable=large)], timing=Timing())

    async def story():
        for i in range(1000):
            cluster.show(make_pod(f"p{i}", requests={"cpu": "10m"}))
        await cluster.until(cluster.bindings)
        cluster.show(make_node("n2", allocatable=large))
        await cluster.until(lambda: len(cluster.notes.told) == 1000)

    await cluster.while_running(story)
    nodes = {action.node_name for action in cluster.actions if isinstance(action, Bind)}
    assert nodes == {"n1", "n2"}


@pytest.mark.parametrize("n", [300])
@on_a_loop
async def test_nothing_is_left_of_pods_that_are_gone(n):
    cluster = Cluster()
    before = cluster.live.cluster_state.sizes()

    async def story():
        for i in range(n):
            cluster.show(make_pod(f"p{i}"))
        await cluster.until(lambda: len(cluster.notes.told) >= 110)
        for i in range(n):
            cluster.show(make_pod(f"p{i}"), EventType.DELETED)

    await cluster.while_running(story)
    assert not cluster.live._tasks
    assert len(cluster.live.scheduler.queue) == 0
    assert {k: v for k, v in cluster.live.cluster_state.sizes().items() if "slots" in k} == {
        k: v for k, v in before.items() if "slots" in k
    }


@on_a_loop
async def test_a_pod_that_no_event_wakes_is_tried_again_after_the_time_that_was_given():
    timing = FakeTiming()
    cluster = Cluster(
        objects=[make_node("n1"), make_pod("huge", requests={"cpu": "99"})], timing=timing, max_in_unschedulable=60.0
    )
    scheduler = cluster.live.scheduler
    assert straight(scheduler.attempt()) is not None
    tried = []
    for _ in range(6):
        timing.seconds += 30
        scheduler.advance()
        tried.append(straight(scheduler.attempt()) is not None)
    assert tried.index(True) in (2, 3)  # the pods are looked at every 30 seconds


class Crashes(Plugin):
    """Has a mistake in its second line."""

    def filter(self, state, pod, node):
        disks = pod.annotations["disks"]
        return Status.SUCCESS if disks else Status.unschedulable("no disks")


@on_a_loop
async def test_the_event_and_the_condition_of_a_crash_have_the_line_of_the_plugin():
    cluster = Cluster(Crashes)

    async def story():
        cluster.show(make_pod("web"))
        await cluster.until(lambda: any(isinstance(action, PatchPodStatus) for action in cluster.actions))

    await cluster.while_running(story)
    (event,) = [action for action in cluster.actions if isinstance(action, RecordEvent)]
    assert event.reason == "FailedScheduling"
    text = r"""running "Crashes" filter plugin: KeyError: 'disks' \(test_driver\.py:\d+ in filter\)"""
    assert re.fullmatch(text, event.note)
    (patch,) = [action for action in cluster.actions if isinstance(action, PatchPodStatus)]
    assert patch.condition[3] == event.note
