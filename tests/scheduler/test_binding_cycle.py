"""From the chosen node to the bound pod: which hook runs, and what its answer causes."""

import pytest

from kubesched.framework import Bind, PatchPodStatus, Plugin, RecordEvent, Status
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.testing.builders import make_node, make_pod
from tests.scheduler.driving import Driven, Steps

OBJECTS = (make_node("n"), make_pod("p"))


def driven_by(*plugins: Plugin, release: Release = DEFAULT_RELEASE) -> Driven:
    driven = Driven(*plugins, objects=OBJECTS, release=release)
    driven.decision = driven.attempt()
    return driven


class Binder(Plugin):
    """Answers as its class says."""

    answer: Status = Status.SUCCESS

    def bind(self, state, pod, node_name):
        return self.answer


def binder(name: str, answer: Status) -> Plugin:
    return type(name, (Binder,), {"answer": answer})()


def test_a_binder_that_skips_leaves_the_pod_to_the_next_one() -> None:
    assert driven_by(binder("A", Status.SKIP), binder("B", Status.SUCCESS)).decision.node_name == "n"


def test_where_every_binder_skips_the_attempt_failed() -> None:
    decision = driven_by(binder("A", Status.SKIP)).decision
    assert (decision.node_name, decision.reason) == ("", "SchedulerError")


def test_a_binder_that_fails_keeps_the_next_one_from_trying() -> None:
    decision = driven_by(binder("A", Status.error("no")), binder("B", Status.SUCCESS)).decision
    assert decision.outcome.message == 'running Bind plugin "A": no'


def test_pre_bind_is_left_out_where_its_pre_flight_says_so() -> None:
    class Idle(Steps):
        def pre_bind_pre_flight(self, state, pod, node_name):
            return Status.SKIP

    idle = Idle()
    driven = driven_by(idle)
    assert "pre_bind" not in idle.calls
    assert driven.done(PatchPodStatus) == []  # nobody waits, so nobody has to know the node before it is bound


def test_a_pod_that_pre_bind_works_for_is_nominated_first() -> None:
    driven = driven_by(Steps())
    assert [type(action) for action in driven.actions[:2]] == [PatchPodStatus, Bind]
    assert driven.actions[0].nominated_node_name == "n"


def test_versions_before_the_nomination_is_expected_write_none_before_pre_bind() -> None:
    expected = {"NominatedNodeNameForExpectation": True}
    releases = (Release(34), Release(34).with_gates(expected), Release(35))
    assert [len(driven_by(Steps(), release=one).done(PatchPodStatus)) for one in releases] == [0, 1, 1]


@pytest.mark.parametrize("answer", [Status.unschedulable("no"), Status.pending("no")])
def test_a_pre_flight_can_only_succeed_skip_or_fail(answer: Status) -> None:
    class Odd(Steps):
        def pre_bind_pre_flight(self, state, pod, node_name):
            return answer

    decision = driven_by(Odd()).decision
    assert decision.reason == "SchedulerError"
    assert f'PreBindPreFlight Odd returned "{answer.code.value}", which is unsupported' in decision.outcome.message


def test_hooks_of_the_binding_cycle_may_be_coroutines() -> None:
    class Awaits(Steps):
        async def pre_bind(self, state, pod, node_name):
            done = await self.handle.perform(PatchPodStatus(pod, nominated_node_name="seen"))
            self.calls.append(done.error)
            return Status.SUCCESS

    awaits = Awaits()
    driven = driven_by(awaits)
    assert [action.nominated_node_name for action in driven.done(PatchPodStatus)] == ["n", "seen"]
    assert awaits.calls == ["reserve", "permit", "", "post_bind"]


def test_the_event_of_a_failure_is_about_the_pod_as_it_is_by_then() -> None:
    class Fails(Steps):
        async def pre_bind(self, state, pod, node_name):
            driven.tell(make_pod("p", metadata={"resourceVersion": "2"}))
            return Status.error("no luck")

    driven = Driven(Fails(), objects=[make_node("n"), make_pod("p")])
    driven.attempt()
    (event,) = driven.done(RecordEvent)
    assert event.regarding.metadata.resource_version == "2"


def test_a_rejection_after_permit_is_no_verdict_of_a_plugin_that_an_event_could_change() -> None:
    driven = driven_by(Steps(pre_bind=Status.unschedulable("changed my mind")))
    assert driven.decision.outcome.message == "0/1 nodes are available: 1 changed my mind."
    assert (driven.decision.unschedulable_plugins, driven.counts) == (frozenset(), {"backoff": 1})


def test_no_events_are_kept_for_a_pod_that_permit_has_let_go_on() -> None:
    kept = []

    class Slow(Steps):
        def pre_bind_pre_flight(self, state, pod, node_name):
            kept.append(driven.scheduler.queue.in_flight_events())
            return Status.SUCCESS

        def pre_bind(self, state, pod, node_name):
            driven.tell(make_node("n", labels={"a": "b"}))
            kept.append(driven.scheduler.queue.in_flight_events())
            return Status.SUCCESS

    driven = Driven(Slow(), objects=OBJECTS)
    driven.attempt()
    assert kept == [{"PodPopped": 1}, {"PodPopped": 0}]


def test_a_fault_after_binding_does_not_undo_it() -> None:
    class Clumsy(Plugin):
        def post_bind(self, state, pod, node_name):
            raise RuntimeError("late")

    driven = driven_by(Clumsy())
    assert (driven.decision.node_name, driven.counts) == ("n", {})
