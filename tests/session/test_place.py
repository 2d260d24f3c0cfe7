import pytest

from kubesched.framework import Plugin, Status
from kubesched.scheduler import TieBreak
from kubesched.session import PodState, Simulator, place, place_all
from kubesched.testing import make_node, make_object, make_pod
from tests.device_cluster import GPU, NOT_DECIDED, device_cluster

NODES = [make_node("n1", allocatable={"cpu": "2"}), make_node("n2", allocatable={"cpu": "1"})]


def test_each_placement_is_seen_by_the_next_pod():
    pods = [make_pod(f"p{i}", requests={"cpu": "1"}) for i in range(4)]
    placed = list(place(Simulator([*NODES, *pods]), TieBreak.FIRST))
    assert sorted(one.node for one in placed[:3]) == ["n1", "n1", "n2"]
    assert placed[3].message == "0/2 nodes are available: 2 Insufficient cpu."


def test_victims_are_named_and_stay():
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "nightly", "uid": "1", "controller": True}
    victim = make_pod("victim", node="n1", requests={"cpu": "2"}, metadata={"ownerReferences": [owner]})
    pods = [make_pod(f"p{i}", priority=5, requests={"cpu": "2"}) for i in range(2)]
    report = place_all(Simulator([*NODES, victim, *pods]), TieBreak.FIRST)
    assert [placement.nominated_node for placement in report.placements] == ["n1", "n1"]
    assert report.count(PodState.UNSCHEDULABLE) == 2
    assert [(one.pod, one.owner) for one in report.victims] == [("default/victim", "Job/nightly")] * 2
    assert report.before.held("n1") == report.after.held("n1")


def test_a_pod_of_another_scheduler_is_not_tried():
    foreign = make_pod("p", spec={"schedulerName": "volcano"})
    (placement,) = place_all(Simulator([*NODES, foreign]), TieBreak.FIRST).placements
    assert placement.state is PodState.NOT_TRIED
    assert placement.message == 'no profile has the scheduler name "volcano"; found: default-scheduler'


class Broken(Plugin):
    def score(self, state, pod, node):
        raise ValueError("no")


class Nowhere(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("nowhere")


def test_a_score_that_fails_is_an_error_of_the_pod():
    (placement,) = place_all(Simulator([*NODES, make_pod("p")], None, [Broken]), TieBreak.FIRST).placements
    assert (placement.state, placement.reason) == (PodState.ERROR, "SchedulerError")
    assert "Broken" in placement.message


def test_without_nodes_nobody_asks_for_preemption():
    (placed,) = place(Simulator([make_object("Namespace", "default"), make_pod("p")]), TieBreak.FIRST)
    assert (placed.message, placed.post_filter_message) == ("no nodes available to schedule pods", "")


def test_a_pod_in_a_cluster_without_nodes_is_unschedulable():
    (placement,) = place_all(Simulator([make_pod("p")]), TieBreak.FIRST).placements
    assert (placement.state, placement.message) == (PodState.UNSCHEDULABLE, "no nodes available to schedule pods")


def test_progress_is_told_pod_by_pod():
    told = []
    pods = [make_pod(f"p{i}") for i in range(3)]
    place_all(
        Simulator([*NODES, *pods], None, [Nowhere]), TieBreak.FIRST, lambda done, total: told.append((done, total))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.usefixtures("no_search")
def test_a_pod_that_is_not_decided_names_no_victims():
    wanting = make_pod("wants-gpu", priority=1000, requests={GPU: 1})
    report = place_all(Simulator([*device_cluster(), wanting]), TieBreak.FIRST)
    (placement,) = report.placements
    assert (placement.state, placement.diagnosis) == (PodState.NOT_DECIDED, NOT_DECIDED)
    assert report.victims == ()
