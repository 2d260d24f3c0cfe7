import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.errors import PluginError
from kubesched.framework import EventRegistration, Plugin, QueueingHint, Status
from kubesched.scheduler.registrations import registrations
from kubesched.testing import FakeCluster, make_pod

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)


def registered(**hooks) -> list:
    found = registrations(FakeCluster(type("Some", (Plugin,), hooks)()).framework)
    return [entry for entry in found if entry[1] == "Some"]


def fits(self, state, pod, node) -> Status:
    return Status.SUCCESS


def test_a_plugin_that_may_reject_and_does_not_say_hears_of_everything():
    ((event, _, hint),) = registered(filter=fits)
    assert event.is_wildcard
    assert hint is None


def test_a_plugin_that_only_scores_hears_of_nothing():
    assert registered(score=lambda self, state, pod, node: 1) == []


def test_an_empty_list_means_that_no_event_helps():
    assert registered(filter=fits, events_to_register=lambda self: []) == []


def test_a_hint_gives_its_answer():
    entry = EventRegistration(NODE_ADD, lambda pod, old, new: QueueingHint.SKIP)
    ((event, _, hint),) = registered(filter=fits, events_to_register=lambda self: [entry])
    assert event == NODE_ADD
    assert hint(make_pod("p"), None, None) is QueueingHint.SKIP


@pytest.mark.parametrize("answer", [None, True, "Queue"])
def test_a_hint_that_answers_nonsense_is_a_fault_of_its_plugin(answer):
    entry = EventRegistration(NODE_ADD, lambda pod, old, new: answer)
    ((_, _, hint),) = registered(filter=fits, events_to_register=lambda self: [entry])
    with pytest.raises(PluginError, match="a hint must return a QueueingHint") as raised:
        hint(make_pod("p"), None, None)
    assert raised.value.plugin == "Some"
