"""Fragmentation is the expected share of what is free that popular pods cannot use, also after nodes changed."""

from random import Random

import pytest

from kubesched.api import Node, Pod
from kubesched.replay.fragmentation import Fragmentation
from kubesched.session import Session
from kubesched.testing import make_node, make_pod
from tests.trials import seeds

GPU = "nvidia.com/gpu"


def shares(nodes: list[Node], pods: list[Pod], *resources: str) -> list[float | None]:
    with Session(nodes) as session:
        return Fragmentation(session.cluster_state, pods, resources).shares()


def test_what_is_free_where_a_pod_does_not_fit_is_of_no_use_to_it() -> None:
    nodes = [
        make_node("n1", allocatable={"cpu": "8", GPU: "1"}),
        make_node("n2", allocatable={"cpu": "1", GPU: "3"}),
    ]
    pod = make_pod("p", requests={"cpu": "2", GPU: "1"})
    assert shares(nodes, [pod], GPU, "cpu") == [pytest.approx(3 / 4), pytest.approx(1 / 9)]


def test_pods_that_ask_for_no_gpu_can_use_none() -> None:
    nodes = [make_node("n1", allocatable={"cpu": "8", GPU: "1"})]
    asks, does_not = make_pod("p", requests={"cpu": "1", GPU: "1"}), make_pod("q", requests={"cpu": "1"})
    assert shares(nodes, [asks, asks, asks, does_not], GPU, "cpu") == [pytest.approx(1 / 4), pytest.approx(0)]


def test_node_affinity_taints_and_the_number_of_pods_count() -> None:
    nodes = [
        make_node("n1", labels={"gpu": "T4"}, allocatable={"cpu": "1"}),
        make_node("n2", labels={"gpu": "P100"}, allocatable={"cpu": "1"}),
        make_node("n3", labels={"gpu": "T4"}, allocatable={"cpu": "1"}, taints=["only=gpu:NoSchedule"]),
        make_node("n4", labels={"gpu": "T4"}, allocatable={"cpu": "1", "pods": "0"}),
    ]
    assert shares(nodes, [make_pod("p", requests={"cpu": "1"}, node_selector={"gpu": "T4"})], "cpu") == [0.75]


def test_where_nothing_is_free_there_is_nothing_to_measure() -> None:
    closed = make_node("n1", unschedulable=True)
    assert shares([closed], [make_pod("p", requests={"cpu": "1"})], "cpu", GPU) == [None, None]


def test_rare_shapes_do_not_count() -> None:
    nodes = [make_node("n1", allocatable={"cpu": "4"})]
    usual, rare = make_pod("p", requests={"cpu": "1"}), make_pod("q", requests={"cpu": "5"})
    with Session(nodes) as session:
        found = Fragmentation(session.cluster_state, [*[usual] * 99, rare], ("cpu",))
        assert (found.n_shapes, found.covered) == (1, 0.99)
        assert found.shares() == [pytest.approx(0)]


@pytest.mark.parametrize("seed", seeds(3))
def test_it_equals_a_count_from_the_beginning_after_any_changes(seed: int) -> None:
    rng = Random(seed)
    nodes = [make_node(f"n{i}", allocatable={"cpu": str(rng.randint(1, 9)), GPU: str(i % 3)}) for i in range(80)]
    pods = [make_pod(f"p{i}", requests={"cpu": str(rng.randint(1, 3)), GPU: str(i % 2)}) for i in range(60)]
    with Session(nodes) as session:
        kept = Fragmentation(session.cluster_state, pods, ("cpu", GPU))
        for i, pod in enumerate(pods):
            session.bind(pod, rng.choice(nodes).name)
            if i % 7 == 0:
                session.change([make_node(f"new{i}", allocatable={"cpu": "3", GPU: "1"})], gone=[nodes.pop()])
            if i % 5 == 0:
                anew = Fragmentation(session.cluster_state, pods, ("cpu", GPU)).shares()
                assert kept.shares() == pytest.approx(anew)
