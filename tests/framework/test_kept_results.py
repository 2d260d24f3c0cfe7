"""Equal pods that fit nowhere get the answers of the first of them, until a row changes."""

from random import Random

import pytest

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.framework import (
    Codes,
    CycleState,
    DependsOn,
    Diagnosis,
    Framework,
    NominatedPods,
    Plugin,
    PodChanges,
    Services,
    Status,
    find_feasible,
)
from kubesched.plugins import DefaultPreemption, NodeResourcesFit
from kubesched.plugins.args import DefaultPreemptionArgs
from kubesched.scheduler import build_frameworks, straight
from kubesched.state import ClusterState, Nodes, PodInfo, WhatIfNodes
from kubesched.testing import make_node, make_pod, minimal_profile


class Crowded(Plugin):
    """Rejects each node; notes how many questions are about moved pods."""

    depends_on = DependsOn.ROW
    reasons = (Status.unschedulable("node(s) were crowded"),)

    def __init__(self) -> None:
        super().__init__()
        self.n_what_if = 0

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        self.n_what_if += isinstance(nodes, WhatIfNodes)
        return (nodes.n_pods >= 0).astype(int)

    def filter_part(self, state: CycleState, pod: Pod) -> object:
        return None


class ReadsAnything(Crowded):
    depends_on = DependsOn.ANYTHING


class CountsPods(Crowded):
    """Looks at pods in PreFilter, and follows those that are moved."""

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        return Status.SUCCESS

    def remove_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        pass

    def add_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        pass


class Cluster:
    """Some nodes with a pod of priority 0 each, and a framework that preempts."""

    def __init__(self, *plugins: Plugin, n_nodes: int = 3, args: DefaultPreemptionArgs | None = None) -> None:
        self.cluster_state = ClusterState()
        self.nominated: list[tuple[str, PodInfo]] = []
        self.rng = Random(1)
        pods = [make_pod(f"low-{i}", node=f"n{i}", requests={"cpu": "1"}, priority=0) for i in range(n_nodes)]
        nodes = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}) for i in range(n_nodes)]
        self.cluster_state.load([*[("Node", one) for one in nodes], *[("Pod", one) for one in pods]])
        nominated = NominatedPods(self.cluster_state.columns, lambda: self.nominated, lambda: len(self.nominated))
        services = Services(rng=self.rng, nominated=nominated)
        profile = minimal_profile(*plugins, DefaultPreemption(args))
        self.framework: Framework = build_frameworks([profile], self.cluster_state, services)["default-scheduler"]

    def attempt(self, pod: Pod) -> tuple[Diagnosis, str]:
        """The diagnosis of a pod, and what preemption says."""
        state = CycleState(self.cluster_state.pod_info(pod))
        diagnosis = find_feasible(self.framework, state, self.cluster_state.snapshot().nodes)
        _, status = straight(self.framework.run_post_filter(state, pod, diagnosis))
        return diagnosis, status.message

    def apply(self, type_: EventType, pod: Pod) -> None:
        self.cluster_state.apply(WatchEvent(type_, "Pod", pod))


def waiting(name: str, cpu: str = "1", priority: int = 5) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, priority=priority)


def test_what_preemption_finds_is_found_once_for_equal_pods() -> None:
    rule = Crowded()
    cluster = Cluster(rule)
    first, second = cluster.attempt(waiting("a")), cluster.attempt(waiting("b"))
    assert rule.n_what_if == 1
    assert (first[0].message, first[1]) == (second[0].message, second[1])
    assert "3 node(s) were crowded" in first[1]


def test_another_priority_and_other_parts_are_looked_at() -> None:
    rule = Crowded()
    cluster = Cluster(NodeResourcesFit(), rule)
    for pod in (waiting("a"), waiting("b", priority=6), waiting("c", "2"), waiting("d")):
        cluster.attempt(pod)
    assert rule.n_what_if == 3


def test_a_pod_that_comes_or_goes_ends_it() -> None:
    rule = Crowded()
    cluster = Cluster(rule)
    cluster.attempt(waiting("a"))
    cluster.apply(EventType.DELETED, make_pod("low-0", node="n0", requests={"cpu": "1"}, priority=0))
    assert "1 No preemption victims found" in cluster.attempt(waiting("b"))[1]
    assert rule.n_what_if == 2


@pytest.mark.parametrize("rule", [ReadsAnything(), CountsPods()], ids=["reads anything", "counts pods"])
def test_what_depends_on_more_than_rows_is_found_for_each_pod(rule: Crowded) -> None:
    cluster = Cluster(rule)
    cluster.attempt(waiting("a"))
    cluster.attempt(waiting("b"))
    assert rule.n_what_if == 2


def test_a_pod_that_counts_nominations_shares_nothing() -> None:
    """With the nominated pod, which has a higher priority, an eviction from n0 does not make enough room."""
    cluster = Cluster(NodeResourcesFit(), n_nodes=1)
    promised = cluster.cluster_state.pod_info(waiting("promised", priority=9))
    cluster.nominated.append(("n0", promised))
    assert "Insufficient cpu" in cluster.attempt(waiting("a", "2"))[1]
    cluster.nominated.clear()
    assert cluster.attempt(waiting("b", "2"))[1] == ""


def test_random_numbers_are_drawn_as_if_each_pod_were_looked_at() -> None:
    args = DefaultPreemptionArgs(min_candidate_nodes_percentage=0, min_candidate_nodes_absolute=1)
    kept, asked = Cluster(Crowded(), n_nodes=5, args=args), Cluster(ReadsAnything(), n_nodes=5, args=args)
    for name in "abc":
        assert kept.attempt(waiting(name))[1] == asked.attempt(waiting(name))[1]
    assert kept.rng.random() == asked.rng.random()


def test_results_are_given_back() -> None:
    cluster = Cluster(NodeResourcesFit(), Crowded())
    results = cluster.framework._results
    for number in range(40):
        cluster.attempt(waiting("p", f"{number + 1}m"))
        assert len(results) == min(number + 1, 16)  # the oldest one goes, not all
    cluster.apply(EventType.ADDED, make_pod("more", node="n0"))
    cluster.attempt(waiting("p"))
    assert len(results) == 1
