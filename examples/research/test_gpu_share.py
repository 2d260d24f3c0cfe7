"""What sharing does, in simulations and by contract."""

import numpy as np
import pytest
from gpu_share import DEVICES, GpuRows, GpuShare, room_on

from kubesched import Pod, Simulator
from kubesched.testing import FakeCluster, check_plugin, filter_all, make_node, make_pod, varied_scenario
from kubesched.traces import GPU_SHARE


def gpu_node(name: str = "n1", n_gpus: int = 2):
    return make_node(name, allocatable={"cpu": "16", GPU_SHARE: 1000 * n_gpus})


def gpu_pod(name: str, milli: int, node: str = "", devices: str = "") -> Pod:
    notes = {DEVICES: devices} if devices else {}
    return make_pod(name, requests={GPU_SHARE: milli, "cpu": "1"}, node=node, annotations=notes)


def devices_of(*objects: object) -> dict[str, str]:
    """Pod -> its node and GPUs, empty for a pod that stays pending."""
    simulator = Simulator(objects, plugins=[GpuShare])
    placements = simulator.run().placements
    found = {}
    for placement in placements:
        info = simulator.cluster_state.objects.get("Pod", placement.pod)
        found[info.name] = f"{placement.node}:{info.annotations.get(DEVICES, '')}" if placement.node else ""
    return found


def test_a_share_takes_the_gpu_with_the_least_room_that_is_enough():
    pods = [gpu_pod("a", 700), gpu_pod("b", 400), gpu_pod("c", 300)]
    assert devices_of(gpu_node(), *pods) == {"a": "n1:0", "b": "n1:1", "c": "n1:0"}


def test_whole_gpus_are_gpus_that_nobody_has_a_share_of():
    assert devices_of(gpu_node(n_gpus=4), gpu_pod("a", 10), gpu_pod("b", 3000), gpu_pod("c", 1000)) == {
        "a": "n1:0",
        "b": "n1:1,2,3",
        "c": "",
    }


def test_the_sum_of_free_shares_is_not_enough():
    held = [gpu_pod("a", 600, "n1", "0"), gpu_pod("b", 600, "n1", "1")]
    verdicts = filter_all(GpuShare(), gpu_pod("c", 500), [gpu_node(), gpu_node("n2")], held)
    assert verdicts["n1"].message == "node(s) had no GPU with enough room"
    assert verdicts["n2"].is_success


def test_a_pod_without_a_gpu_fits_anywhere_and_gets_none():
    assert devices_of(gpu_node(n_gpus=0), make_pod("web")) == {"web": "n1:"}


def test_a_gpu_comes_back_when_its_pod_goes():
    held = gpu_pod("a", 1000, "n1", "0")
    with FakeCluster(GpuShare(), nodes=[gpu_node(n_gpus=1)], pods=[held]) as cluster:
        assert not cluster.filter(gpu_pod("b", 1))["n1"].is_success
        cluster.remove(held)
        assert cluster.filter(gpu_pod("b", 1))["n1"].is_success


def test_a_pod_without_the_annotation_counts_on_the_gpu_that_fits_best():
    held = [gpu_pod("a", 300, "n1", "1"), gpu_pod("b", 500, "n1")]
    with FakeCluster(GpuShare(), nodes=[gpu_node()], pods=held) as cluster:
        assert room_on(cluster.nodes[0])[:2] == [1000, 200]


@pytest.mark.parametrize("devices", ["7", "-1", "one", ""])
def test_an_annotation_that_names_no_gpu_of_the_node_does_no_harm(devices: str):
    pod = make_pod("odd", requests={GPU_SHARE: 1000}, node="n1", annotations={DEVICES: devices})
    assert filter_all(GpuShare(), gpu_pod("b", 1000), [gpu_node()], [pod])["n1"].is_success


def test_rows_follow_pods_and_nodes_that_come_and_go():
    rows, pod = GpuRows(), gpu_pod("a", 250, "n1", "0")
    with FakeCluster(GpuShare(), nodes=[gpu_node(), gpu_node("n2", 1)]) as cluster:

        def room() -> list[list[int]]:
            return rows.room(cluster.nodes)[:2].T.tolist()

        assert room() == [[1000, 1000], [1000, 0]]
        cluster.put(pod)
        assert room() == [[750, 1000], [1000, 0]]
        assert rows.room(cluster.nodes.select(np.array([1])))[:2].T.tolist() == [[1000, 0]]
        cluster.put(*(gpu_node(f"more-{i}", 1) for i in range(100)))
        assert room()[:2] == [[750, 1000], [1000, 0]]
        cluster.remove(pod, gpu_node("n2", 1))
        assert room()[0] == [1000, 1000]
        assert len(room()) == 101


SCENARIO = varied_scenario().extended(
    nodes=[gpu_node("gpu-1"), gpu_node("gpu-2", 8)],
    pods=[gpu_pod("resident", 600, "gpu-1", "1"), gpu_pod("other", 2000, "gpu-2", "0,1")],
    pending=[gpu_pod("part", 500), gpu_pod("two", 2000), gpu_pod("nine", 9000)],
)


@pytest.mark.parametrize("check", check_plugin(GpuShare, scenario=SCENARIO), ids=str)
def test_contract(check):
    check()
