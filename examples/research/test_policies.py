"""What each policy prefers, and the contract of all."""

import policies
import pytest
from fragmentation import TaskClass
from gpu_share import DEVICES
from policies import FGD, BestFit, DotProd, GpuClustering, GpuPacking, Random
from test_gpu_share import gpu_pod

from kubesched import Plugin, Simulator, TieBreak
from kubesched.testing import Scenario, check_plugin, make_node, make_pod, score_all
from kubesched.traces import GPU_MODEL, GPU_SHARE

CLASSES = (
    TaskClass(cpu=4000, share=500, n_gpus=1, popularity=0.5),
    TaskClass(cpu=8000, share=1000, n_gpus=1, popularity=0.3),
    TaskClass(cpu=8000, share=1000, n_gpus=8, popularity=0.1),
    TaskClass(cpu=1000, share=0, n_gpus=0, popularity=0.1),
)


def node(name: str, n_gpus: int, cpu: int = 64):
    return make_node(name, allocatable={"cpu": str(cpu), "memory": "512Gi", GPU_SHARE: 1000 * n_gpus})


def scores(plugin: Plugin, milli: int, nodes, pods=()) -> dict[str, int]:
    return score_all(plugin, gpu_pod("new", milli), nodes, pods)


def test_best_fit_prefers_the_node_that_has_least_left():
    nodes = [node("large", 8), node("small", 2), node("used", 8)]
    given = scores(BestFit(), 500, nodes, [gpu_pod("a", 7000, "used", "0,1,2,3,4,5,6")])
    assert given["used"] > given["small"] > given["large"]
    assert given == {"large": 28, "small": 66, "used": 72}


def test_dot_product_prefers_the_node_that_is_least_like_the_pod():
    nodes = [node("gpus", 8, cpu=8), node("cpus", 2, cpu=128)]
    assert scores(DotProd(), 2000, nodes) == {"gpus": 87, "cpus": 96}


def test_packing_prefers_used_gpus_then_used_nodes_then_small_nodes():
    nodes = [node("used-gpu", 2), node("used-node", 2), node("free-2", 2), node("free-8", 8)]
    pods = [gpu_pod("a", 600, "used-gpu", "0"), gpu_pod("b", 900, "used-node", "0")]
    assert scores(GpuPacking(), 300, nodes, pods) == {"used-gpu": 96, "used-node": 49, "free-2": 31, "free-8": 25}


def test_clustering_prefers_nodes_with_pods_of_its_kind():
    nodes = [node("alike", 8), node("mixed", 8), node("free", 8), node("others", 8)]
    pods = [
        gpu_pod("a", 500, "alike", "0"),
        gpu_pod("b", 500, "mixed", "0"),
        gpu_pod("c", 1000, "mixed", "1"),
        gpu_pod("d", 1000, "others", "0"),
    ]
    assert scores(GpuClustering(), 300, nodes, pods) == {"alike": 76, "mixed": 54, "free": 25, "others": 3}


def test_random_takes_every_node_and_every_gpu():
    nodes = [node(f"n{i}", 4) for i in range(3)]
    pods = [make_pod(f"p{i}", requests={GPU_SHARE: 100}, metadata={"uid": f"uid-{i * i}"}) for i in range(60)]
    simulator = Simulator([*nodes, *pods], plugins=[Random])
    places = {
        (one.node, simulator.cluster_state.objects.get("Pod", one.pod).annotations[DEVICES])
        for one in simulator.run().placements
    }
    assert len(places) == 12


def fgd() -> FGD:
    return FGD(FGD.Args(classes=CLASSES))


def test_fgd_keeps_the_free_node_for_the_task_that_needs_all_of_it():
    given = scores(fgd(), 500, [node("free", 8), node("used", 8)], [gpu_pod("a", 500, "used", "3")])
    assert given["used"] > given["free"]


def test_fgd_fills_up_the_gpu_that_is_useless_without_the_pod():
    held = [gpu_pod("a", 800, "n1", "2"), gpu_pod("b", 500, "n1", "1")]
    simulator = Simulator(
        [node("n1", 4), *held, gpu_pod("new", 200)],
        plugins=[FGD],
        plugin_args={"FGD": {"classes": [{"cpu": 1, "share": 500, "nGpus": 1}]}},
    )
    simulator.run()
    assert simulator.cluster_state.objects.get("Pod", "default/new").annotations[DEVICES] == "2"


def test_fgd_scores_as_the_definition_says():
    """A node of two GPUs and one class: half a GPU goes, and the other half of this GPU can be used by nobody."""
    whole = FGD(FGD.Args(classes=(TaskClass(cpu=1, share=1000, n_gpus=1),)))
    assert scores(whole, 500, [node("n1", 2)]) == {"n1": 37}  # 100 / (1 + e^0.5)


def test_fgd_counts_the_models_that_a_task_would_take():
    only_t4 = FGD(FGD.Args(classes=(TaskClass(cpu=1, share=500, n_gpus=1, models=("T4",)),)))
    nodes = [
        make_node(model, labels={GPU_MODEL: model}, allocatable={"cpu": "64", GPU_SHARE: 1000})
        for model in ("T4", "A10")
    ]
    assert scores(only_t4, 500, nodes) == {"T4": 50, "A10": 62}  # no such task can use the A10 anyhow


def test_fgd_says_that_it_needs_the_classes():
    assert "must have the classes" in str(FGD.Args().validate("args")[0])


@pytest.mark.parametrize("policy", ["Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD"])
def test_no_gpu_is_given_away_twice(policy: str):
    pods = [
        gpu_pod(f"p{i}", milli) for i, milli in enumerate([500, 1000, 300, 2000, 700, 4000, 200, 1000, 900, 100] * 3)
    ]
    args = {"FGD": {"classes": [{"cpu": 1000, "share": 500, "nGpus": 1}]}} if policy == "FGD" else {}
    simulator = Simulator(
        [node("n1", 2), node("n2", 8), node("n3", 4), *pods],
        plugins=[getattr(policies, policy)],
        plugin_args=args,
        tie_break=TieBreak.RANDOM,
    )
    held: dict[tuple[str, str], int] = {}
    for placement in simulator.run().placements:
        pod = simulator.cluster_state.objects.get("Pod", placement.pod)
        milli = pod.requests[GPU_SHARE]
        for device in pod.annotations[DEVICES].split(",") if placement.node else ():
            held[placement.node, device] = held.get((placement.node, device), 0) + min(milli, 1000)
    assert max(held.values()) <= 1000
    assert sum(held.values()) > 12_000, "14 GPUs, more are wanted"


SCENARIO = Scenario(
    nodes=(node("n1", 2), node("n2", 8), node("n3", 0)),
    pods=(gpu_pod("half", 500, "n1", "1"), gpu_pod("two", 2000, "n2", "0,1")),
    pending=(make_pod("none"), gpu_pod("part", 500), gpu_pod("whole", 1000), gpu_pod("nine", 9000)),
)
CHECKS = [
    pytest.param(check, id=f"{policy.__name__}-{check}")
    for policy in (Random, DotProd, GpuClustering, GpuPacking, BestFit, FGD)
    for check in check_plugin(policy, args=FGD.Args(classes=CLASSES) if policy is FGD else None, scenario=SCENARIO)
]


@pytest.mark.parametrize("check", CHECKS)
def test_contract(check):
    check()
