"""The API server in memory: each action becomes the events that a real one would send."""

import pytest

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.framework import Action, Bind, DeletePod, PatchPodStatus, RecordEvent
from kubesched.session import MemoryCluster
from kubesched.state import ClusterState
from kubesched.testing.builders import make_node, make_pod

POD = make_pod("p")


class Told:
    """A cluster over a state, with the events that came."""

    def __init__(self) -> None:
        self.events: list[WatchEvent] = []
        self.cluster_state = ClusterState()
        self.cluster = MemoryCluster(self.cluster_state, self.take)
        self.cluster_state.load([("Node", make_node("n")), ("Pod", POD)])

    def take(self, event: WatchEvent) -> None:
        self.events.append(event)
        self.cluster_state.apply(event)

    @property
    def pod(self) -> Pod:
        found = self.cluster_state.objects.get("Pod", POD.key)
        assert isinstance(found, Pod)
        return found


@pytest.fixture
def told() -> Told:
    return Told()


def test_a_binding_is_confirmed_with_its_annotations(told: Told) -> None:
    placed = told.cluster_state.assume(told.cluster_state.pod_info(POD), "n")
    assert told.cluster.perform(Bind(placed.pod, "n", {"a": "b"})).error == ""
    assert (told.pod.node_name, told.pod.annotations, told.cluster_state.assumed_uids) == ("n", {"a": "b"}, [])


def test_a_deleted_pod_cannot_be_bound(told: Told) -> None:
    placed = told.cluster_state.assume(told.cluster_state.pod_info(POD), "n")
    told.cluster.perform(DeletePod(POD, make_pod("q"), "n"))
    assert told.cluster.perform(Bind(placed.pod, "n")).error == 'pods "p" not found'
    assert (told.cluster_state.objects.get("Pod", POD.key), told.cluster.n_changes) == (None, 1)


def test_a_victim_is_gone_and_remembered(told: Told) -> None:
    action = DeletePod(POD, make_pod("q"), "n")
    told.cluster.perform(action)
    assert [(event.type, event.object.name) for event in told.events] == [(EventType.DELETED, "p")]
    assert told.cluster.evicted == [action]


def test_a_nomination_is_written_once_and_only_while_the_pod_waits(told: Told) -> None:
    for _ in range(2):
        told.cluster.perform(PatchPodStatus(POD, nominated_node_name="n"))
    assert (told.pod.status.nominated_node_name, len(told.events)) == ("n", 1)
    assert told.pod.metadata.resource_version != POD.metadata.resource_version
    told.cluster.perform(PatchPodStatus(POD, nominated_node_name=""))
    assert told.pod.status.nominated_node_name == ""
    told.cluster_state.apply(WatchEvent(EventType.MODIFIED, "Pod", make_pod("p", node="n")))
    told.cluster.perform(PatchPodStatus(POD, nominated_node_name="n"))
    assert told.pod.status.nominated_node_name == ""


def test_conditions_and_events_change_nothing(told: Told) -> None:
    told.cluster.perform(PatchPodStatus(POD, condition=("PodScheduled", "False", "Unschedulable", "no")))
    told.cluster.perform(RecordEvent("FailedScheduling", "Warning", "Scheduling", POD, "no"))
    assert (told.events, [event.note for event in told.cluster.events]) == ([], ["no"])


class Reboot(Action, frozen=True):
    pass


def test_what_a_simulated_cluster_cannot_do_is_an_error_for_who_asked(told: Told) -> None:
    done = told.cluster.perform(Reboot())
    assert done.error == "a simulated cluster cannot do Reboot"


def test_changes_that_others_could_notice_are_counted(told: Told) -> None:
    told.cluster.perform(PatchPodStatus(POD, nominated_node_name="n"))
    told.cluster.perform(RecordEvent("Scheduled", "Normal", "Binding", POD, "yes"))
    assert told.cluster.n_changes == 0
    told.cluster.perform(DeletePod(POD, POD, "n"))
    assert told.cluster.n_changes == 1
