"""Too little room: smaller requests, and one more node."""

import pytest

from kubesched.api import KubeObject
from kubesched.explanation import explain
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, filling, fixes_of, texts


def test_a_misspelt_device_of_a_tainted_pool_is_corrected_and_no_such_node_is_bought():
    nodes = [
        make_node("n1", allocatable=SMALL),
        make_node("gpu", allocatable={**SMALL, "nvidia.com/gpu": "2"}, taints=["nvidia.com/gpu:NoSchedule"]),
    ]
    said = texts(make_pod("p", requests={"nvidia.com/gpus": 1}), *nodes)
    corrected = "correct the name of the resource nvidia.com/gpus (no node has it) to nvidia.com/gpu"
    assert said[0] == f"tolerate nvidia.com/gpu:NoSchedule and {corrected}"
    assert not [text for text in said if text.startswith("add a node")]


def test_the_smallest_cut_of_a_request_that_opens_a_node_is_named():
    pod = make_pod("p", requests={"cpu": "1500m", "memory": "1Gi"})
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    fixes = fixes_of(pod, *nodes, filling("n1", cpu="1"), filling("n2", cpu="1200m"))
    assert fixes["lower the request to 1 cpu"].n_nodes == 1


def test_several_short_resources_are_cut_together():
    pod = make_pod("p", requests={"cpu": "3", "memory": "5Gi"})
    assert "lower the requests to 2 cpu and 4Gi memory" in texts(pod, make_node("n1", allocatable=SMALL))


def test_requests_of_several_containers_and_init_containers_are_cut():
    def container(name: str, cpu: str) -> dict:
        return {"name": name, "resources": {"requests": {"cpu": cpu}}}

    spec = {"containers": [container("a", "2"), container("b", "1")], "initContainers": [container("i", "4")]}
    assert "lower the request to 2 cpu" in texts(make_pod("p", spec=spec), make_node("n1", allocatable=SMALL))


@pytest.mark.parametrize("cores", ["500", "500Mi", "50k"])
def test_cores_that_no_node_has_were_meant_as_milli_cpu(cores: str):
    spec = {
        "containers": [
            {"name": "a", "resources": {"requests": {"cpu": cores}}},
            {"name": "b", "resources": {"requests": {"cpu": "1"}}},
        ]
    }
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(3)]
    said = fixes_of(make_pod("p", spec=spec), *nodes)
    fix = f"correct the cpu request {cores} (no node has it) to {cores.rstrip('Mik')}m"
    assert next(iter(said)) == fix
    assert said[fix].n_nodes == 3


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
    assert texts(pod, plain) == ["add a node with at least 1 example.com/gpu (no node has such a device)"]


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
    assert "add a node like n1 with at least 2.5 cpu" in said


def owned_by(kind: str) -> dict:
    return {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": "a", "uid": kind, "controller": True}]}


def test_a_request_of_a_whole_machine_is_told_what_an_empty_one_takes():
    daemon = make_pod("agent", node="n1", requests={"cpu": "438m"}, metadata=owned_by("DaemonSet"))
    node = make_node("n1", allocatable={"cpu": "7910m", "memory": "32Gi", "pods": "10"})
    pod = make_pod("p", requests={"cpu": "8"})
    assert texts(pod, node, daemon)[0] == "lower the request to 7.47 cpu (7.91 less 438m of DaemonSets)"
    said = texts(pod, node, daemon, filling("n1", cpu="2250m"))
    assert said[0] == "lower the request to 5.22 cpu (n1 takes 7.47 cpu when it is empty: 7.91 less 438m of DaemonSets)"


def test_a_large_node_that_exists_is_not_invented():
    nodes = [make_node("n1", allocatable=SMALL), make_node("n2", allocatable={"cpu": "16"}, taints=["db:NoSchedule"])]
    said = texts(make_pod("p", requests={"cpu": "9"}), *nodes)
    assert "tolerate db:NoSchedule" in said
    assert not [text for text in said if text.startswith("add")]


@pytest.mark.parametrize(("resource", "amount"), [("nvidia.com/gpu", "16"), ("vpc.amazonaws.com/pod-eni", "9")])
def test_a_device_that_a_node_has_and_does_not_offer_is_repaired_and_not_bought(resource: str, amount: str):
    status = {"allocatable": {"cpu": "4", "pods": "9", resource: "0"}, "capacity": {"cpu": "4", resource: amount}}
    said = texts(make_pod("p", requests={resource: "1"}), make_object("Node", "n1", status=status))
    has = f"on n1: it has {amount} (capacity), offers 0 (allocatable)"
    assert said == [f"repair the device plugin of {resource}, {has}"]


def test_huge_pages_that_a_node_does_not_offer_need_its_kubelet():
    pages = "hugepages-2Mi"
    status = {"allocatable": {"cpu": "4", "pods": "9", pages: "0"}, "capacity": {"cpu": "4", pages: "1Gi"}}
    pod = make_pod("p", requests={pages: "512Mi", "cpu": "1"})
    (only,) = texts(pod, make_object("Node", "n1", status=status))
    assert only.startswith(f"restart the kubelet, which offers {pages}, on n1: it has 1Gi (capacity)")


def test_a_misspelt_resource_is_corrected():
    node = make_node("n1", allocatable={**SMALL, "nvidia.com/gpu": "4"})
    said = texts(make_pod("p", requests={"nvidia.com/gpus": "1"}), node)
    assert said[0] == "correct the name of the resource nvidia.com/gpus (no node has it) to nvidia.com/gpu"


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("nvidia.com/gpu", "amd.com/gpu"),
        ("devices.kubevirt.io/kvm", "devices.kubevirt.io/tun"),
        ("intel.com/sriov", "intel.com/sriov_dpdk"),
    ],
)
def test_another_device_is_not_called_a_misspelt_name(asked: str, there: str):
    said = texts(make_pod("p", requests={asked: "1"}), make_node("n1", allocatable={**SMALL, there: "4"}))
    assert not [text for text in said if there in text]


def replicated(n: int, *, running: int = 0) -> list[KubeObject]:
    """A ReplicaSet that wants pods of 3 cores, with some running pods of one core, and one that is pending."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": True}
    metadata = {"ownerReferences": [owner]}
    old = [make_pod(f"old-{i}", node="n1", requests={"cpu": "1"}, metadata=metadata) for i in range(running)]
    replica_set = make_object("ReplicaSet", "web", metadata={"uid": "rs"}, spec={"replicas": n})
    return [replica_set, *old, make_pod("new", requests={"cpu": "3"}, metadata=metadata)]


def lowered(*objects: KubeObject) -> list[str]:
    said = [fix.text for fix in explain(objects, "default/new").fixes]
    return [text for text in said if text.startswith("lower")]


def test_a_smaller_request_has_room_for_all_replicas_or_says_for_how_many():
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}) for i in (1, 2)]
    assert lowered(*nodes, *replicated(2)) == ["lower the request to 2 cpu"]
    assert lowered(*nodes, *replicated(3)) == [
        "lower the request to 1 cpu (n1 takes 2 cpu when it is empty; room for all 3 pods)",
        "lower the request to 2 cpu (room for 2 of 3 pods)",
    ]
    assert lowered(*nodes, *replicated(9)) == ["lower the request to 2 cpu (room for 2 of 9 pods)"]  # 0.4 is much less


def test_the_replicas_that_run_make_room_for_those_of_the_new_template():
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}) for i in (1, 2)]
    assert lowered(*nodes, *replicated(2, running=1)) == ["lower the request to 2 cpu"]


def test_full_nodes_have_no_room_for_replicas_however_small_they_are():
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "1"}) for i in (1, 2)]
    assert lowered(*nodes, *replicated(3)) == ["lower the request to 2 cpu (room for 2 of 3 pods)"]


def test_the_amounts_of_a_sum_add_up():
    daemon = make_pod("agent", node="n1", requests={"memory": "1436Mi"}, metadata=owned_by("DaemonSet"))
    node = make_node("n1", allocatable={"cpu": "8", "memory": "60.5Gi", "pods": "10"})
    said = texts(make_pod("p", requests={"memory": "60Gi"}), node, daemon)
    assert said[0] == "lower the request to 59Gi memory (60.5Gi less 1436Mi of DaemonSets)"
