"""Events of plugins: what is accepted, and what a run without an API server keeps of them."""

import pytest

from kubesched.api import KubeObject, Unstructured
from kubesched.framework import Plugin, PluginEvents, Status, logged_plugin_events
from kubesched.framework.plugin_events import plugin_event
from kubesched.session import Simulator
from kubesched.testing import FakeCluster, make_node, make_pod

POD = make_pod("p")


def event(**changes):
    given = {"regarding": POD, "type": "Warning", "reason": "NoLicense", "note": "No license is left."} | changes
    return plugin_event("my-plugin", "gpu", **given)


def test_an_event_names_the_plugin_and_its_scheduler():
    made = event()
    assert (made.action, made.controller, made.regarding) == ("my-plugin", "gpu", POD)


def test_a_note_is_cut_to_what_an_api_server_takes():
    assert event(note="ä" * 600).note == "ä" * 512
    assert event(note="\ud800").note == "?"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "Error"}, "the type of an event is Normal or Warning; found 'Error'"),
        ({"reason": ""}, "one word such as QuotaExceeded; found ''"),
        ({"reason": "no license"}, "one word such as QuotaExceeded; found 'no license'"),
        ({"reason": "a" * 129}, "one word such as QuotaExceeded"),
        ({"regarding": "p"}, "an event is about an object of Kubernetes, such as the pod; found 'p'"),
    ],
)
def test_what_an_api_server_refuses_is_refused_in_the_hook(changes, said):
    with pytest.raises(ValueError, match=said):
        event(**changes)


def test_equal_events_are_one_and_the_least_used_makes_room():
    new = []
    kept = PluginEvents(new.append)
    for number in range(1001):
        for _ in range(2):
            kept.record(event(reason=f"A{number}"))
            kept.record(event(reason="Always"))
    assert len(new) == 1002
    assert [kept.events[0].reason, kept.events[1].reason, kept.events[-1].reason] == ["Always", "A2", "A1000"]
    assert len(kept.events) == 1000


def test_the_first_note_counts_until_the_object_changes():
    kept = PluginEvents()
    for note in ("n1 is full", "n2 is full"):
        kept.record(event(note=note))
    kept.record(event(regarding=make_pod("p", metadata={"resourceVersion": "2"}), note="n3 is full"))
    assert [one.note for one in kept.events] == ["n1 is full", "n3 is full"]


def test_a_run_that_writes_no_events_logs_a_limited_number(caplog):
    caplog.set_level("INFO", "kubesched.plugin")
    events = logged_plugin_events(lambda: 0.0)
    for _ in range(3):
        for number in range(1500):
            events.record(event(regarding=make_pod(f"p{number}")))
    assert len(caplog.records) == 100


class Odd(KubeObject, frozen=True):
    pass


@pytest.mark.parametrize("about", [Unstructured(), Unstructured(kind="Quota"), Odd()])
def test_an_object_without_a_kind_is_refused_in_the_hook(about):
    with pytest.raises(ValueError, match="an object that has an apiVersion and a kind; found"):
        event(regarding=about)


class Tells(Plugin):
    def filter(self, state, pod, node):
        self.handle.event(pod, "Warning", "NoLicense", "No license is left.")
        self.handle.event(node, "Normal", "Looked", "A pod was here.")
        return Status.SUCCESS

    def reserve(self, state, pod, node_name):
        self.handle.event(state.pod, "Normal", "Taken", f"{node_name} was taken.")
        return Status.SUCCESS

    def score(self, state, pod, node):
        self.handle.metrics.counter("scores", "Scores.", labels=("node",)).add(node.name)
        return 1


NODES = [make_node("n1"), make_node("n2")]


def test_a_test_reads_events_and_metrics():
    with FakeCluster(Tells(), nodes=NODES) as cluster:
        cluster.score(POD)
        seen = [(event.regarding.key, event.reason, event.action) for event in cluster.events]
        assert seen == [("default/p", "NoLicense", "Tells"), ("n1", "Looked", "Tells"), ("n2", "Looked", "Tells")]
        assert cluster.metrics == {
            'kubesched_plugin_Tells_scores_total{node="n1"}': 1.0,
            'kubesched_plugin_Tells_scores_total{node="n2"}': 1.0,
        }


def test_a_simulation_collects_events():
    simulator = Simulator([*NODES, POD], plugins=[Tells])
    simulator.run()
    assert [event.reason for event in simulator.plugin_events.events] == ["NoLicense", "Looked", "Looked", "Taken"]
    assert {event.controller for event in simulator.plugin_events.events} == {"default-scheduler"}


class Writes(Plugin):
    async def pre_bind(self, state, pod, node_name):
        if self.handle.client:
            return Status.error("there should be none")
        await self.handle.client.patch("/api/v1/nodes/n1", {})
        return Status.SUCCESS


def test_a_run_without_an_api_server_says_so():
    simulator = Simulator([*NODES, POD], plugins=[Writes])
    (placement,) = simulator.run().placements
    assert "PATCH /api/v1/nodes/n1: this run has no API server; a live scheduler has one" in placement.message


class Counts(Plugin):
    def score(self, state, pod, node):
        self.handle.metrics.counter("scores", "Scores.", labels=("node",)).add()
        return 1


def test_a_simulation_finds_a_wrong_use_of_metrics():
    (placement,) = Simulator([*NODES, POD], plugins=[Counts]).run().placements
    assert (
        "kubesched_plugin_Counts_scores: found 0 label values; expected one for each label (node)" in placement.message
    )
