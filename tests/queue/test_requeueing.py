import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.errors import PluginError
from kubesched.framework import QueueingHint
from kubesched.queue.in_flight import RecordedEvent
from kubesched.queue.requeueing import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    QueueingStrategy,
    Registration,
    RequeueingTable,
)
from tests.queue.waiting import ASSIGNED_POD_DELETE, NODE_ADD, NODE_TAINT, POD_DELETE, make_info, make_pod

SKIP, AFTER_BACKOFF, IMMEDIATELY = QueueingStrategy


class Hint:
    """A hint with a fixed answer that keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def __call__(self, pod, old, new):
        self.asked.append((pod.name, old, new))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def queue_hint():
    return Hint(QueueingHint.QUEUE)


def skip_hint():
    return Hint(QueueingHint.SKIP)


def table(*entries, profile="default-scheduler"):
    return RequeueingTable({profile: [Registration(*entry) for entry in entries]})


def two_profiles(of_a, *of_b):
    return RequeueingTable({"a": [Registration(*of_a)], "b": [Registration(*entry) for entry in of_b]})


def rejected_by(*plugins, pending=()):
    return make_info(unschedulable_plugins=set(plugins), pending_plugins=set(pending))


def judge(of, info, event=NODE_ADD, old=None, new=None):
    return of.strategy(info, event, old, new)


def test_a_pod_that_nobody_rejected_is_tried_after_its_backoff():
    assert judge(table(), rejected_by()) is AFTER_BACKOFF


def test_a_hint_that_says_queue_lets_the_pod_go_after_its_backoff():
    assert judge(table((NODE_ADD, "P", queue_hint())), rejected_by("P")) is AFTER_BACKOFF


def test_a_hint_that_says_skip_does_not():
    assert judge(table((NODE_ADD, "P", skip_hint())), rejected_by("P")) is SKIP


def test_an_event_without_hint_function_always_queues():
    assert judge(table((NODE_ADD, "P", None)), rejected_by("P")) is AFTER_BACKOFF


def test_a_hint_that_cannot_tell_counts_as_queue():
    assert judge(table((NODE_ADD, "P", Hint(PluginError("no")))), rejected_by("P")) is AFTER_BACKOFF


def test_only_hints_of_rejecting_plugins_are_asked():
    other = queue_hint()
    assert judge(table((NODE_ADD, "Q", other)), rejected_by("P")) is SKIP
    assert other.asked == []


def test_only_hints_registered_for_the_event_are_asked():
    other = queue_hint()
    assert judge(table((NODE_TAINT, "P", other)), rejected_by("P")) is SKIP
    assert other.asked == []


def test_only_hints_of_the_profile_of_the_pod_are_asked():
    assert judge(table((NODE_ADD, "P", None), profile="other"), rejected_by("P")) is SKIP


def test_after_a_skip_the_next_hint_is_asked():
    both = table((NODE_ADD, "P", skip_hint()), (NODE_ADD, "Q", queue_hint()))
    assert judge(both, rejected_by("P", "Q")) is AFTER_BACKOFF


def test_the_first_queue_is_enough():
    second = queue_hint()
    judge(table((NODE_ADD, "P", queue_hint()), (NODE_ADD, "Q", second)), rejected_by("P", "Q"))
    assert second.asked == []


def test_queue_from_a_pending_plugin_lets_the_pod_go_at_once():
    assert judge(table((NODE_ADD, "P", queue_hint())), rejected_by(pending={"P"})) is IMMEDIATELY


def test_a_pending_plugin_is_asked_although_another_said_queue():
    both = table((NODE_ADD, "P", queue_hint()), (NODE_ADD, "Q", queue_hint()))
    assert judge(both, rejected_by("P", pending={"Q"})) is IMMEDIATELY


def test_a_pending_plugin_that_says_skip_leaves_the_queue_of_another():
    both = table((NODE_ADD, "P", queue_hint()), (NODE_ADD, "Q", skip_hint()))
    assert judge(both, rejected_by("P", pending={"Q"})) is AFTER_BACKOFF


def test_a_hint_is_given_the_pod_and_both_objects():
    hint, old, new = queue_hint(), make_pod("old"), make_pod("new")
    judge(table((NODE_ADD, "P", hint)), rejected_by("P"), old=old, new=new)
    assert hint.asked == [("a", old, new)]


@pytest.mark.parametrize("event", [FORCE_ACTIVATE, UNSCHEDULABLE_TIMEOUT])
def test_a_wildcard_event_asks_no_hint(event):
    hint = skip_hint()
    assert judge(table((NODE_ADD, "P", hint)), rejected_by("P"), event) is AFTER_BACKOFF
    assert hint.asked == []


def test_a_wildcard_event_about_a_pod_is_for_that_pod_alone():
    assert judge(table(), rejected_by("P"), FORCE_ACTIVATE, new=make_pod("a")) is AFTER_BACKOFF
    assert judge(table(), rejected_by("P"), FORCE_ACTIVATE, new=make_pod("b")) is SKIP


def test_a_registration_for_pods_covers_events_of_assigned_pods():
    assert judge(table((POD_DELETE, "P", None)), rejected_by("P"), ASSIGNED_POD_DELETE) is AFTER_BACKOFF


def test_a_wildcard_registration_covers_everything():
    everything = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)
    assert judge(table((everything, "P", None)), rejected_by("P"), NODE_TAINT) is AFTER_BACKOFF


def test_interest_names_the_plugins_of_all_profiles():
    both = two_profiles([NODE_ADD, "P"], [NODE_ADD, "Q"], [NODE_TAINT, "R"])
    assert both.interest(NODE_ADD).plugins == {"P", "Q"}


def test_a_gate_may_open_by_the_events_that_its_plugin_registered_in_any_profile():
    both = two_profiles([NODE_ADD, "P"], [NODE_ADD, "Q"], [NODE_TAINT, "P"])
    gated, free = rejected_by("P", "Q"), rejected_by("P")
    gated.gating_plugin = "P"
    events = (NODE_ADD, NODE_TAINT, POD_DELETE, FORCE_ACTIVATE)
    assert [both.may_ungate(gated, event) for event in events] == [True, True, False, True]
    assert all(both.may_ungate(free, event) for event in events)


def test_the_event_that_helps_most_counts_when_several_are_replayed():
    of, info = table((NODE_ADD, "P", None), (NODE_TAINT, "Q", None)), rejected_by("P", pending={"Q"})
    add, taint = RecordedEvent(NODE_ADD, None, None), RecordedEvent(NODE_TAINT, None, None)
    answers = [of.replay(info, events) for events in ([], [add], [add, taint], [taint, add])]
    assert answers == [SKIP, AFTER_BACKOFF, IMMEDIATELY, IMMEDIATELY]
