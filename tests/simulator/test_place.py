"""One try per pod: what goes where, and what preemption would do, without doing it."""

import pytest

from kubesched.scheduler import TieBreak
from kubesched.simulator import Simulator, pending_in_order, place
from kubesched.testing.builders import make_node, make_pod


def placed(*objects, **options):
    return {one.pod.removeprefix("default/"): one for one in place(Simulator(objects, **options), TieBreak.FIRST)}


def pending(name: str, cpu: str = "1", **said):
    return make_pod(name, requests={"cpu": cpu}, **said)


def test_each_placement_is_seen_by_the_next() -> None:
    found = placed(make_node("a", allocatable={"cpu": "1"}), make_node("b"), pending("p"), pending("q"))
    assert {name: one.node for name, one in found.items()} == {"p": "b", "q": "b"}
    full = placed(make_node("a", allocatable={"cpu": "1"}), pending("p"), pending("q"))
    assert (full["p"].node, full["q"].message) == ("a", "0/1 nodes are available: 1 Insufficient cpu.")


def test_pods_are_taken_by_priority_and_then_as_they_stand() -> None:
    pods = [make_pod("a"), make_pod("b", priority=3), make_pod("c"), make_pod("d", priority=3)]
    assert [pod.name for pod in pending_in_order(pods)] == ["b", "d", "a", "c"]


def test_victims_are_named_and_stay() -> None:
    victim = make_pod("v", node="n", requests={"cpu": "1"})
    leaving = make_pod("w", node="n", requests={"cpu": "1"}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    objects = (make_node("n", allocatable={"cpu": "2"}), victim, leaving)
    found = placed(*objects, pending("p", "2", priority=5), pending("q", "2", priority=4))
    for one in found.values():
        (outcome,) = one.preemption
        assert (one.node, outcome.node, outcome.victims) == ("", "n", ("default/v",))


def test_pods_of_other_schedulers_are_left_out() -> None:
    assert placed(make_node("n"), pending("p", spec={"schedulerName": "another"})) == {}


def test_a_gated_or_terminating_pod_is_tried_all_the_same() -> None:
    found = placed(make_node("n"), pending("p", spec={"schedulingGates": [{"name": "g"}]}))
    assert found["p"].node == "n"


@pytest.mark.parametrize(("tie_break", "nodes"), [(TieBreak.FIRST, {"a"}), (TieBreak.RANDOM, {"a", "b"})])
def test_ties_are_broken_as_told(tie_break: TieBreak, nodes: set[str]) -> None:
    taken = set()
    for seed in range(10):
        simulator = Simulator([make_node("a"), make_node("b"), pending("p")], seed=seed)
        taken |= {one.node for one in place(simulator, tie_break)}
    assert taken == nodes
