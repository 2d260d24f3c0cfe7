"""One pod from assume to confirmed: whatever way it ends, it is bound or everything is given back."""

from collections.abc import Callable
from typing import Any

import pytest

from kubesched.api import EventType
from kubesched.framework import Bind, PatchPodStatus, Plugin, RecordEvent, Status, Wait
from kubesched.plugins import NodeResourcesFit
from kubesched.scheduler import UNCONFIRMED_SECONDS, BindingCycle, WaitRequest
from kubesched.testing.builders import make_node, make_pod
from tests.scheduler.driving import Driven, Steps

POD = make_pod("p", requests={"cpu": "1"})
GIVEN_BACK = ["reserve", "permit", "unreserve"]


class Waits(Steps):
    """Waits in PreBind for what never comes."""

    async def pre_bind(self, state, pod, node_name):
        await self.handle.wait(lambda: False, 60.0)
        return Status.SUCCESS


def driven_by(*plugins: Plugin) -> Driven:
    return Driven(*plugins, objects=[make_node("n"), POD])


def check_nothing_is_left(driven: Driven) -> None:
    """The pod waits as it did before it was tried."""
    driven.cluster_state.check_invariants()
    driven.scheduler.queue.check_invariants()
    assert (driven.held("n"), driven.cluster_state.assumed_uids, driven.scheduler.waiting_pods) == (0, [], {})
    assert driven.counts == {"active": 1}
    assert driven.scheduler.queue.in_flight_events() == {"PodPopped": 0}
    assert driven.done(RecordEvent) == []


# --- a binding that was made although the request failed ---


def test_a_binding_that_the_watch_has_shown_stands_although_the_request_failed() -> None:
    driven = driven_by(steps := Steps())
    driven.refusals[Bind], driven.loses_answers = "no answer in time", True
    decision = driven.attempt()
    assert (decision.node_name, driven.held("n"), driven.counts) == ("n", 1000, {})
    assert [event.reason for event in driven.done(RecordEvent)] == ["Scheduled"]
    assert steps.calls == ["reserve", "permit", "pre_bind", "post_bind"]


def test_a_pod_that_somebody_else_binds_there_keeps_its_room() -> None:
    class Overtaken(Steps):
        def pre_bind(self, state, pod, node_name):
            driven.tell(make_pod("p", requests={"cpu": "1"}, node="n"))
            return Status.error("the volume is gone")

    driven = driven_by(steps := Overtaken())
    driven.attempt()
    assert (driven.held("n"), driven.counts, steps.calls) == (1000, {}, ["reserve", "permit"])


def test_a_pod_that_is_on_a_node_already_fails_its_attempt_and_nothing_else() -> None:
    driven = driven_by(Steps())
    driven.cluster_state.assume(driven.cluster_state.pod_info(POD), "n")
    decision = driven.attempt()
    assert "is in the cache, so can't be assumed" in decision.outcome.message
    assert decision.reason == "SchedulerError"


# --- broken off ---


def never_started(cycle: BindingCycle) -> None:
    cycle.close()


def closed_where_it_waits(cycle: BindingCycle) -> None:
    cycle.send(None)
    cycle.close()


def cancelled_where_it_waits(cycle: BindingCycle) -> None:
    cycle.send(None)
    with pytest.raises(KeyboardInterrupt):
        cycle.throw(KeyboardInterrupt())


def dropped(cycle: BindingCycle) -> None:
    cycle.send(None)


@pytest.mark.parametrize("end", [never_started, closed_where_it_waits, cancelled_where_it_waits, dropped])
@pytest.mark.parametrize("steps", [Steps, Waits, lambda: Steps(permit=Wait(60))])
def test_a_cycle_that_is_broken_off_leaves_everything_as_before(
    steps: Callable[[], Steps], end: Callable[[BindingCycle], None]
) -> None:
    driven = driven_by(plugin := steps())
    end(driven.decide())
    assert plugin.calls == GIVEN_BACK
    check_nothing_is_left(driven)


@pytest.mark.parametrize("steps", [Steps, lambda: Steps(permit=Wait(60))])
def test_a_pod_whose_cycle_was_broken_off_is_tried_again_as_if_for_the_first_time(steps: Callable[[], Steps]) -> None:
    driven = driven_by(plugin := steps())
    driven.decide().close()
    plugin.answers.clear()
    decision = driven.attempt()
    assert (decision.node_name, decision.attempt) == ("n", 1)


def test_in_flight_events_do_not_pile_up_behind_a_cycle_that_was_broken_off() -> None:
    driven = driven_by(Steps(permit=Wait(60)))
    cycle = driven.decide()
    driven.tell(make_node("n", labels={"a": "b"}))
    assert driven.scheduler.queue.in_flight_events()["PodPopped"] == 1
    cycle.close()
    driven.tell(make_node("n", labels={"a": "c"}))
    check_nothing_is_left(driven)


def test_room_that_a_broken_off_cycle_gives_back_is_news_for_others() -> None:
    small = make_node("n", allocatable={"cpu": "1"})
    driven = Driven(NodeResourcesFit(), Steps(), objects=[small, POD, make_pod("other", requests={"cpu": "1"})])
    cycle = driven.decide()
    assert driven.attempt().node_name == ""
    assert driven.counts == {"unschedulable": 1}
    cycle.close()
    assert driven.counts == {"active": 1, "backoff": 1}


def test_a_deleted_pod_is_not_put_back() -> None:
    driven = driven_by(Steps())
    cycle = driven.decide()
    driven.tell(POD, EventType.DELETED)
    cycle.close()
    assert (driven.counts, driven.scheduler.queue.in_flight_events(), driven.held("n")) == ({}, {"PodPopped": 0}, 0)


def test_a_reserve_that_is_interrupted_gives_everything_back() -> None:
    class Interrupted(Steps):
        def reserve(self, state, pod, node_name):
            raise KeyboardInterrupt

    driven = driven_by(plugin := Interrupted())
    with pytest.raises(KeyboardInterrupt):
        driven.attempt()
    assert plugin.calls == ["unreserve"]
    check_nothing_is_left(driven)


# --- broken off while the Binding may be made ---


def sent(driven: Driven) -> None:
    """A driver has sent the Binding, and breaks the cycle off before there is an answer."""
    cycle: Any = driven.decide()
    action = cycle.send(None)
    while not isinstance(action, Bind):
        assert isinstance(action, PatchPodStatus | WaitRequest)
        action = cycle.send(driven._perform(action))
    driven.scheduler.note_written(action)
    cycle.close()


def test_a_binding_of_a_pod_that_is_not_on_its_way_is_nobodys() -> None:
    driven = driven_by(Steps())
    driven.scheduler.note_written(Bind(make_pod("p"), "n"))
    cycle = driven.decide()
    cycle.close()
    check_nothing_is_left(driven)


def test_a_pod_whose_binding_may_be_made_keeps_its_room_until_the_watch_shows_it() -> None:
    driven = driven_by(plugin := Steps())
    sent(driven)
    assert (driven.held("n"), driven.counts, driven.scheduler.queue.in_flight_events()) == (1000, {}, {"PodPopped": 0})
    driven.tell(make_pod("p", requests={"cpu": "1"}, node="n"))
    driven.pass_time(UNCONFIRMED_SECONDS)
    assert (driven.held("n"), driven.counts, plugin.calls) == (1000, {}, ["reserve", "permit", "pre_bind"])


def test_a_pod_that_the_watch_does_not_show_is_tried_again_after_ten_minutes() -> None:
    driven = driven_by(plugin := Steps())
    sent(driven)
    assert driven.scheduler.next_deadline() == UNCONFIRMED_SECONDS == 600
    driven.pass_time(UNCONFIRMED_SECONDS)
    assert plugin.calls[-1] == "unreserve"
    assert (driven.held("n"), driven.counts) == (0, {"active": 1})
