import pytest

from kubesched.framework import Status
from kubesched.plugins.args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from kubesched.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from tests.plugins.one_plugin import Asked, node, pod

GPU = "example.com/gpu"


def balancing(*names: str) -> NodeResourcesBalancedAllocation:
    args = NodeResourcesBalancedAllocationArgs(resources=tuple(ResourceSpec(name, 1) for name in names))
    return NodeResourcesBalancedAllocation(args)


def amounts(cpu: int, memory: int, gpu: int = 0) -> dict[str, str]:
    found = {"cpu": f"{cpu}m", "memory": str(memory)}
    return {**found, GPU: str(gpu)} if gpu else found


# The table of kube-scheduler's unit tests: allocatable, in use before and after.
@pytest.mark.parametrize(
    ("room", "before", "added", "expected"),
    [
        ((10000, 20000), (3000, 0), (3000, 5000), 73),
        ((10000, 50000), (3000, 5000), (3000, 5000), 70),
        ((6000, 10000), (3000, 0), (3000, 0), 62),
        ((3000, 5000), (3000, 0), (0, 5000), 100),
        ((3000, 5000), (0, 0), (0, 5000), 50),
        ((3500, 40000, 8), (3000, 5000, 3), (0, 0, 1), 75),
        ((3500, 40000, 8), (3000, 5000, 0), (0, 0, 1), 76),
    ],
)
def test_the_change_of_balance_is_scored(room: tuple, before: tuple, added: tuple, expected: int):
    there = pod("there", requests=amounts(*before), nodeName="a")
    plugin = balancing("cpu", "memory", GPU)
    asked = Asked(plugin, [node("a", allocatable=amounts(*room)), there], pod(requests=amounts(*added)))
    assert asked.pre_score() is Status.SUCCESS
    assert asked.score() == {"a": expected}


def test_a_pod_that_requests_none_of_the_resources_skips():
    asked = Asked(NodeResourcesBalancedAllocation(), [node("a")], pod(requests={"ephemeral-storage": "1Gi"}))
    assert asked.pre_score() is Status.SKIP


def test_where_pre_score_is_switched_off_such_a_pod_has_0():
    assert Asked(NodeResourcesBalancedAllocation(), [node("a")], pod()).score() == {"a": 0}


def test_a_resource_that_a_node_lacks_does_not_count_there():
    nodes = [
        node("both", allocatable=amounts(1000, 1000)),
        node("cpu", allocatable={"cpu": "1"}),
        node("none", allocatable={}),
    ]
    asked = Asked(NodeResourcesBalancedAllocation(), nodes, pod(requests=amounts(1000, 0)))
    assert asked.score() == {"both": 50, "cpu": 75, "none": 75}


def test_a_scalar_that_no_node_knows_does_not_count():
    asked = Asked(
        balancing("cpu", "memory", GPU),
        [node("a", allocatable=amounts(1000, 1000))],
        pod(requests=amounts(500, 500, 1)),
    )
    assert asked.score() == {"a": 75}


def test_more_than_all_counts_as_all():
    there = pod("there", requests=amounts(5000, 0), nodeName="a")
    asked = Asked(
        NodeResourcesBalancedAllocation(),
        [node("a", allocatable=amounts(1000, 1000)), there],
        pod(requests=amounts(1, 1000)),
    )
    assert asked.score() == {"a": 100}


def test_four_resources_have_a_standard_deviation():
    plugin = balancing("cpu", "memory", "ephemeral-storage", GPU)
    room = {**amounts(1000, 1000, 10), "ephemeral-storage": "1000"}
    asked = Asked(plugin, [node("a", allocatable=room)], pod(requests=amounts(300, 700, 9)))
    # with the pod: 0.3, 0.7, 0.0, 0.9 deviate by 0.349...; 65 against 100
    assert asked.score() == {"a": 50 + (50 + 65 - 100) // 2}
