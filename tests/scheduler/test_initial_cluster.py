"""The cluster that a run begins with, however its driver gets it."""

import random

from msgspec.structs import replace

from kubesched.api import KubeObject, ObjectMeta
from kubesched.explanation import Explainer
from kubesched.extender import ClusterWrites, Extender
from kubesched.framework import Plugin, Status, VirtualClock
from kubesched.scheduler import load_cluster
from kubesched.session import Simulator
from kubesched.setup import set_up
from kubesched.state import ClusterState
from kubesched.testing.builders import make_node, make_pod

WAITING = [make_pod("b"), make_pod("a", priority=9)]
OBJECTS = [
    make_pod("early", node="n"),
    WAITING[0],
    make_node("n"),
    make_pod("homeless", node="gone"),
    make_pod("done", status={"phase": "Succeeded"}),
    WAITING[1],
]


class Any(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS


def known(cluster_state: ClusterState) -> list[str]:
    """The pods on the node, after a check that all columns are right."""
    cluster_state.check_invariants()
    return [info.pod.name for info in cluster_state.snapshot().node_info("n").pods]


def test_pods_without_a_node_come_back_in_their_order_and_the_others_are_in_the_state() -> None:
    cluster_state = ClusterState()
    assert load_cluster(cluster_state, iter(OBJECTS)) == WAITING
    assert known(cluster_state) == ["early"]
    assert cluster_state.objects.get("Pod", "default/a") is None
    assert list(cluster_state.homeless) == ["gone"]


def test_pods_and_claims_that_have_never_met_an_api_server_are_told_apart() -> None:
    def bare(obj: KubeObject) -> KubeObject:
        return replace(obj, metadata=ObjectMeta(obj.name))

    simulator = Simulator(
        [
            make_node("n", allocatable={"cpu": "3", "pods": "10"}),
            *(bare(make_pod(name, node="n", requests={"cpu": "1"})) for name in "ab"),
            *(bare(make_pod(name, requests={"cpu": "1"})) for name in "cd"),
        ]
    )
    assert [(p.pod, p.node) for p in simulator.run().placements] == [("default/c", "n"), ("default/d", "")]
    assert known(simulator.cluster_state) == ["a", "b", "c"]


def test_the_order_of_the_objects_does_not_matter() -> None:
    for seed in range(5):
        shuffled = random.Random(seed).sample(OBJECTS, len(OBJECTS))
        cluster_state = ClusterState()
        assert {pod.name for pod in load_cluster(cluster_state, shuffled)} == {"a", "b"}
        assert known(cluster_state) == ["early"]


def test_simulator_and_explainer_and_extender_begin_with_the_same_cluster() -> None:
    simulator = Simulator(OBJECTS, set_up(plugins=[Any]))
    explainer = Explainer(OBJECTS, set_up(plugins=[Any]))
    setup = set_up(plugins=[Any], default_plugins=False)
    extender = Extender(setup, clock=VirtualClock(), is_watched=True, writes=ClusterWrites())
    assert extender.load(OBJECTS) == WAITING  # they follow when the plugins have started
    assert simulator.pending == WAITING
    assert explainer.pending == WAITING[::-1]
    assert [known(driver.cluster_state) for driver in (simulator, explainer, extender)] == [["early"]] * 3
