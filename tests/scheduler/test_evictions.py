"""Victims leave one after another, the preemptor waits for the last one, and failures come back."""

from collections.abc import Iterator

import pytest

from kubesched.api import EventType, Pod
from kubesched.framework import ActionDone, DeletePod, PatchPodStatus, Plugin, RecordEvent, Status, Wait
from kubesched.plugins import DefaultPreemption, NodeResourcesFit
from kubesched.release import Release
from kubesched.scheduler import WaitRequest
from kubesched.testing.builders import make_node, make_pod
from tests.scheduler.driving import Driven, Steps

NODE = make_node("n", allocatable={"cpu": "2"})
VICTIMS = [make_pod(name, requests={"cpu": "1"}, node="n") for name in ("a", "b")]
HIGH = make_pod("high", requests={"cpu": "2"}, priority=9)


def preempting(*plugins: Plugin) -> Driven:
    return Driven(NodeResourcesFit(), DefaultPreemption(), *plugins, objects=[NODE, *VICTIMS, HIGH])


def deletions(driven: Driven) -> Iterator[Pod]:
    """The victims in the order in which they are to be deleted; each is gone when the next one is asked for."""
    eviction = driven.decide()
    answer: ActionDone | None = ActionDone(eviction.send(None))  # the preemptor's status comes first
    while True:
        try:
            action = eviction.send(answer)
        except StopIteration:
            return
        assert isinstance(action, DeletePod)
        yield action.pod
        driven.tell(action.pod, EventType.DELETED)
        answer = ActionDone(action)


def test_the_preemptor_is_gated_until_its_last_victim_leaves() -> None:
    driven = preempting()
    leaving = deletions(driven)
    next(leaving)
    assert driven.counts == {"unschedulable": 1}
    next(leaving)
    assert driven.counts == {"gated": 1}
    (gated,) = driven.scheduler.queue.pending().pods
    assert (gated.gated_by, gated.message) == (
        "DefaultPreemption",
        "waiting for the preemption for this pod to be finished",
    )
    assert list(leaving) == []
    driven.pass_time(2)
    assert driven.attempt().node_name == "n"


@pytest.mark.parametrize(("minor", "deleted"), [(34, {"a", "b"}), (35, {"b"})])
def test_a_victim_that_is_leaving_already_is_deleted_again_before_v1_35(minor: int, deleted: set[str]) -> None:
    leaving = make_pod("a", requests={"cpu": "1"}, node="n", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    objects = [NODE, leaving, VICTIMS[1], HIGH]
    driven = Driven(NodeResourcesFit(), DefaultPreemption(), objects=objects, release=Release(minor))
    assert {victim.name for victim in deletions(driven)} == deleted


def test_no_victim_leaves_before_the_status_of_the_preemptor_is_written() -> None:
    """The event of that status wakes a preemptor that an extender rejected; it has to be gated still."""
    driven = preempting()
    eviction = driven.decide()
    written = eviction.send(None)
    assert written == PatchPodStatus(written.pod, nominated_node_name="n")
    assert written.pod.name == "high"
    assert isinstance(eviction.send(ActionDone(written, error="timeout")), DeletePod)
    eviction.close()


def test_a_victim_on_its_way_out_ends_the_gate() -> None:
    driven = preempting()
    leaving = deletions(driven)
    next(leaving)
    last = next(leaving)
    driven.tell(
        make_pod(last.name, requests={"cpu": "1"}, node="n", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    )
    assert HIGH.uid not in driven.scheduler.frameworks["default-scheduler"].handle.preempting


def test_one_victim_may_hold_up_two_preemptors_and_none_when_another_pod_has_its_name() -> None:
    driven = preempting()
    higher = make_pod("higher", requests={"cpu": "2"}, priority=10)
    handle = driven.scheduler.frameworks["default-scheduler"].handle
    first = driven.decide()
    driven.tell(higher)
    second = driven.decide()
    assert HIGH.uid in handle.preempting
    assert higher.uid in handle.preempting
    second.close()
    assert HIGH.uid in handle.preempting
    assert higher.uid not in handle.preempting
    for victim in VICTIMS:
        driven.tell(make_pod(victim.name, node="n", metadata={"uid": f"another-{victim.name}"}))
    assert HIGH.uid not in handle.preempting
    first.close()
    assert not driven.scheduler._evictions._preemptors


def test_a_victim_that_cannot_be_deleted_puts_the_preemptor_back() -> None:
    driven = preempting()
    driven.refusals[DeletePod] = "no"
    driven.attempt()
    assert len(driven.done(DeletePod)) == 1  # the last one stays
    assert driven.counts == {"active": 1}


@pytest.mark.parametrize("n_done", [0, 1])
def test_an_eviction_that_is_broken_off_puts_the_preemptor_back(n_done: int) -> None:
    driven = preempting()
    eviction = driven.decide()
    for _ in range(n_done):
        eviction.send(None)
    eviction.close()
    assert driven.counts == {"active": 1}
    assert HIGH.uid not in driven.scheduler.frameworks["default-scheduler"].handle.preempting


def test_a_deleted_preemptor_is_not_put_back() -> None:
    driven = preempting()
    eviction = driven.decide()
    driven.tell(HIGH, EventType.DELETED)
    eviction.close()
    assert driven.counts == {}


def test_nobody_waits_for_victims_that_are_leaving_already() -> None:
    leaving = make_pod("a", requests={"cpu": "2"}, node="n", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    driven = Driven(NodeResourcesFit(), DefaultPreemption(), objects=[NODE, leaving, HIGH])
    assert driven.attempt().nominated_node_name == "n"
    assert driven.done(DeletePod) == []


def test_a_victim_in_permit_is_rejected_and_the_preemptor_hears_of_it() -> None:
    class Holds(Steps):
        def permit(self, state, pod, node_name):
            return Wait(60) if pod.name == "low" else Status.SUCCESS

    low = make_pod("low", requests={"cpu": "2"})
    driven = Driven(NodeResourcesFit(), DefaultPreemption(), Holds(), objects=[NODE, low])
    driven.attempt()
    binding = driven._binding
    driven.tell(HIGH)
    driven.attempt()
    driven._binding = binding
    (event,) = (event for event in driven.done(RecordEvent) if event.reason == "Preempted")
    note = f"Preempted by pod {HIGH.uid} on node n (in kube-scheduler memory)."
    assert (event.regarding.name, event.note) == ("low", note)
    assert driven.resume().outcome.message == "0/1 nodes are available: 1 preempted."
    driven.pass_time(2)
    assert driven.attempt().pod.name == "high"


class Awaits(Plugin):
    """Awaits what it is given in PreBind of the pod `low`."""

    def __init__(self, request) -> None:
        super().__init__()
        self.request = request
        self.n_done = 0

    async def pre_bind(self, state, pod, node_name):
        if pod.name == "low":
            await self.request(self.handle, pod)
            self.n_done += 1
        return Status.SUCCESS


def for_a_condition(handle, pod):
    return handle.wait(lambda: False, 600, ["PersistentVolume"])


def for_a_write(handle, pod):
    return handle.perform(PatchPodStatus(pod))


@pytest.mark.parametrize("request_of", [for_a_condition, for_a_write])
def test_a_victim_in_pre_bind_is_not_deleted_but_tried_again(request_of) -> None:
    low = make_pod("low", requests={"cpu": "2"})
    plugin = Awaits(request_of)
    driven = Driven(NodeResourcesFit(), DefaultPreemption(), plugin, objects=[NODE, low])
    cycle = driven.decide()
    nomination = cycle.send(None)
    request = cycle.send(ActionDone(nomination))
    answers = []
    if isinstance(request, WaitRequest):
        driven.scheduler.waits.begin(request, lambda holds, error: answers.append(holds))
    driven.tell(HIGH)
    driven.attempt()
    assert driven.done(DeletePod) == []
    (event,) = (event for event in driven.done(RecordEvent) if event.reason == "Preempted")
    assert event.note == f"Preempted by pod {HIGH.uid} on node n (in kube-scheduler memory)."
    assert answers == ([True] if isinstance(request, WaitRequest) else [])
    with pytest.raises(StopIteration) as end:
        cycle.send(True if isinstance(request, WaitRequest) else ActionDone(request))
    message = 'running PreBind plugin "Awaits": preempted by DefaultPreemption'
    assert (end.value.value.outcome.message, end.value.value.reason) == (message, "SchedulerError")
    assert plugin.n_done == 0
    driven.pass_time(2)
    assert driven.attempt().pod.name == "high"
    assert driven.attempt().pod.name == "low"


def test_a_victim_that_is_preempted_twice_leaves_once() -> None:
    low = make_pod("low", requests={"cpu": "2"})
    driven = Driven(NodeResourcesFit(), DefaultPreemption(), Awaits(for_a_condition), objects=[NODE, low])
    cycle = driven.decide()
    cycle.send(ActionDone(cycle.send(None)))
    for name in ("high", "higher"):
        driven.tell(make_pod(name, requests={"cpu": "2"}, priority=len(name)))
        driven.attempt()
    assert driven.done(DeletePod) == []
    cycle.close()
