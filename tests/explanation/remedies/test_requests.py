"""Too little room: smaller requests, and one more node."""

import pytest

from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, filling, fixes_of, texts


def test_the_smallest_cut_of_a_request_that_opens_a_node_is_named():
    pod = make_pod("p", requests={"cpu": "1500m", "memory": "1Gi"})
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    fixes = fixes_of(pod, *nodes, filling("n1", cpu="1"), filling("n2", cpu="1200m"))
    assert fixes["request 500m cpu less"].n_nodes == 1


def test_several_short_resources_are_cut_together():
    pod = make_pod("p", requests={"cpu": "3", "memory": "5Gi"})
    assert "request 1 cpu and 1Gi memory less" in texts(pod, make_node("n1", allocatable=SMALL))


def test_requests_of_several_containers_and_init_containers_are_cut():
    def container(name: str, cpu: str) -> dict:
        return {"name": name, "resources": {"requests": {"cpu": cpu}}}

    spec = {"containers": [container("a", "2"), container("b", "1")], "initContainers": [container("i", "4")]}
    assert "request 2 cpu less" in texts(make_pod("p", spec=spec), make_node("n1", allocatable=SMALL))


def test_cores_that_no_node_has_were_meant_as_milli_cpu():
    spec = {
        "containers": [
            {"name": "a", "resources": {"requests": {"cpu": "500"}}},
            {"name": "b", "resources": {"requests": {"cpu": "1"}}},
        ]
    }
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(3)]
    said = fixes_of(make_pod("p", spec=spec), *nodes)
    assert next(iter(said)) == "correct the cpu request 500, which no node has, to 500m"
    assert said["correct the cpu request 500, which no node has, to 500m"].n_nodes == 3


@pytest.mark.parametrize("cores", ["64", "500"])
def test_few_cores_and_those_that_some_node_has_were_meant(cores: str):
    nodes = [make_node("n1", allocatable=SMALL), make_node("n2", allocatable={"cpu": cores}, unschedulable=True)]
    assert not [text for text in texts(make_pod("p", requests={"cpu": cores}), *nodes) if "correct" in text]
    assert not [text for text in texts(make_pod("p", requests={"cpu": "64"}), nodes[0]) if "correct" in text]


def test_the_new_node_is_like_the_nearest_one():
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(3)]
    full = [filling(f"n{i}", cpu=cpu) for i, cpu in enumerate(("2", "1", "1500m"))]
    assert "add a node like n1" in texts(make_pod("p", requests={"cpu": "1500m"}), *nodes, *full)


def test_a_node_is_not_invented_where_another_one_has_the_device():
    plain = make_node("n1", allocatable=SMALL)
    gpu = make_node("n2", allocatable={**SMALL, "example.com/gpu": "1"}, taints=["gpu:NoSchedule"])
    pod = make_pod("p", requests={"example.com/gpu": "1"})
    said = texts(pod, plain, gpu, filling("n2", **{"example.com/gpu": "1"}))
    assert "tolerate gpu:NoSchedule and add a node like n2" in said
    assert not [text for text in said if "add a node like n1" in text]
    assert "add a node like n1 but with 1 example.com/gpu" in texts(pod, plain)


def test_a_node_more_of_that_size_takes_its_daemons_along():
    daemon = make_pod(
        "agent",
        node="n1",
        requests={"cpu": "500m"},
        metadata={"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "a", "controller": True}]},
    )
    node = make_node("n1", allocatable=SMALL)
    held = filling("n1", cpu="1")
    assert "add a node like n1" in texts(make_pod("p", requests={"cpu": "1500m"}), node, daemon, held)
    said = texts(make_pod("p", requests={"cpu": "2"}), node, daemon, held)
    assert "add a node like n1 but with 3 cpu" in said
