import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource, EventType, WatchEvent, kind_of
from kubesched.errors import PluginError
from kubesched.framework import EventRegistration, Plugin, QueueingHint, Status
from kubesched.scheduler.registrations import registrations
from kubesched.testing import FakeCluster, make_object, make_pod

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)


def registered(**hooks) -> list:
    found = registrations(FakeCluster(type("Some", (Plugin,), hooks)()).framework)
    return [entry for entry in found if entry[1] == "Some"]


def fits(self, state, pod, node) -> Status:
    return Status.SUCCESS


def test_a_plugin_that_may_reject_and_does_not_say_hears_of_everything():
    (entry,) = registered(filter=fits)
    assert entry.event.is_wildcard
    assert entry.hint is None


def test_a_plugin_that_only_scores_hears_of_nothing():
    assert registered(score=lambda self, state, pod, node: 1) == []


def test_an_empty_list_means_that_no_event_helps():
    assert registered(filter=fits, events_to_register=lambda self: []) == []


def test_a_hint_gives_its_answer():
    entry = EventRegistration(NODE_ADD, lambda pod, old, new: QueueingHint.SKIP)
    found, *_ = registered(filter=fits, events_to_register=lambda self: [entry])
    assert found.event == NODE_ADD
    assert found.hint(make_pod("p"), None, None) is QueueingHint.SKIP


@pytest.mark.parametrize(
    ("actions", "hears_of_taints"),
    [
        ([ActionType.ADD], True),
        ([ActionType.ADD | ActionType.UPDATE_NODE_LABEL], True),
        ([ActionType.ADD, ActionType.UPDATE_NODE_TAINT], False),  # it says itself when taints help
        ([ActionType.UPDATE_NODE_LABEL], False),
    ],
)
def test_who_hears_of_new_nodes_hears_of_their_taints(actions, hears_of_taints):
    entries = [EventRegistration(ClusterEvent(EventResource.NODE, action), None) for action in actions]
    found = [(found.event, found.hint) for found in registered(filter=fits, events_to_register=lambda self: entries)]
    added = found[len(entries) :]
    assert added == (
        [(ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT), None)] if hears_of_taints else []
    )


@pytest.mark.parametrize("answer", [None, True, "Queue"])
def test_a_hint_that_answers_nonsense_is_a_fault_of_its_plugin(answer):
    entry = EventRegistration(NODE_ADD, lambda pod, old, new: answer)
    found, *_ = registered(filter=fits, events_to_register=lambda self: [entry])
    with pytest.raises(PluginError, match="a hint must return a QueueingHint") as raised:
        found.hint(make_pod("p"), None, None)
    assert raised.value.plugin == "Some"


@pytest.mark.parametrize(
    ("wrong", "ask", "says"),
    [
        (
            {"part": lambda pod: []},
            lambda entry: entry.part,
            "part of a queueing hint of plugin Some: TypeError: unhashable",
        ),
        ({"part": lambda pod: pod.no_such}, lambda entry: entry.part, "no_such"),
        ({"objects": list, "keys_of": lambda pod: "a"}, lambda entry: entry.keys_of, "keys_of must be a list of keys"),
        ({"objects": lambda pod: "team-a/data"}, lambda entry: entry.objects, "objects must be a list of keys"),
        ({"objects": lambda pod: [1]}, lambda entry: entry.objects, "objects must be a list of keys"),
        ({"objects": lambda pod: None}, lambda entry: entry.objects, "objects of a queueing hint of plugin Some"),
    ],
)
def test_what_a_hint_reads_is_checked_like_its_answer(wrong, ask, says):
    entry = EventRegistration(NODE_ADD, lambda pod, old, new: QueueingHint.SKIP, **wrong)
    found, *_ = registered(filter=fits, events_to_register=lambda self: [entry])
    with pytest.raises(PluginError, match=says):
        ask(found)(make_pod("p"))


QUOTA_UPDATED = ClusterEvent("quotas.v1.example.com", ActionType.ADD | ActionType.UPDATE)


def test_a_plugin_hears_of_a_kind_that_it_reads_and_that_kubesched_does_not_decode():
    entry = EventRegistration(QUOTA_UPDATED)
    reads = ("example.com/v1/Quota",)
    (found,) = registered(filter=fits, reads=reads, events_to_register=lambda self: [entry])
    cluster = FakeCluster()
    quota = make_object("example.com/v1/Quota", "q", spec={"gpus": 1})
    changed = make_object("example.com/v1/Quota", "q", spec={"gpus": 2})
    seen = [
        [(change.event.label, found.event.covers(change.event)) for change in cluster.cluster_state.apply(told)]
        for told in (
            WatchEvent(EventType.ADDED, kind_of(quota), quota),
            WatchEvent(EventType.MODIFIED, kind_of(quota), quota),
            WatchEvent(EventType.MODIFIED, kind_of(quota), changed),
            WatchEvent(EventType.DELETED, kind_of(quota), changed),
        )
    ]
    name = "quotas.v1.example.com"
    assert seen == [[(f"{name}Add", True)], [], [(f"{name}Update", True)], [(f"{name}Delete", False)]]


def test_events_of_a_kind_that_the_plugin_does_not_read_are_refused():
    entry = EventRegistration(QUOTA_UPDATED)
    with pytest.raises(
        PluginError, match=r"events of 'quotas.v1.example.com' never come; expected .* a kind in `reads`"
    ):
        registered(filter=fits, events_to_register=lambda self: [entry])
