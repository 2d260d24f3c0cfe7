"""NodeResourcesFit: the words of its rejections, and how its score counts."""

import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject
from kubesched.framework import Code, Handle, QueueingHint
from kubesched.framework.reads import readable
from kubesched.plugins import NodeResourcesFit
from kubesched.plugins.args import (
    CPU_AND_MEMORY,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    ScoringStrategyType,
    UtilizationShapePoint,
)
from kubesched.plugins.broken_line import broken_linear
from kubesched.state import ClusterState
from kubesched.testing import FakeCluster, filter_all, make_node, make_pod, score_all
from tests.device_cluster import device_class
from tests.plugins.hinting import NODE_ADD, POD_DELETE, hint, node_event, pod_event

GPU = "example.com/gpu"


def verdict(pod, node, *pods, args: NodeResourcesFitArgs | None = None):
    return filter_all(NodeResourcesFit(args), pod, [node], pods)[node.name]


def test_everything_that_is_short_is_named_pods_first_and_extended_resources_by_name() -> None:
    node = make_node("n", allocatable={"cpu": "1", "memory": "1Gi", "pods": 1, GPU: "1", "a.com/x": "1"})
    there = make_pod("there", node="n", requests={"cpu": "1", "memory": "1Gi", GPU: "1", "a.com/x": "1"})
    wanting = make_pod("p", requests={GPU: "1", "a.com/x": "1", "memory": "1", "cpu": "1m"})
    status = verdict(wanting, node, there)
    assert status.code is Code.UNSCHEDULABLE
    assert status.message == (
        "Too many pods, Insufficient cpu, Insufficient memory, Insufficient a.com/x, Insufficient example.com/gpu"
    )


@pytest.mark.parametrize(
    ("requests", "code"),
    [
        ({"cpu": "5"}, Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
        ({"cpu": "4"}, Code.UNSCHEDULABLE),
        ({"cpu": "3"}, Code.SUCCESS),
        ({GPU: "1"}, Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
        ({GPU: "0"}, Code.SUCCESS),
        ({"not-a-scalar": "9"}, Code.SUCCESS),
        ({}, Code.SUCCESS),
    ],
)
def test_what_an_empty_node_could_not_give_no_eviction_helps(requests: dict, code: Code) -> None:
    there = make_pod("there", node="n", requests={"cpu": "1"})
    assert verdict(make_pod("p", requests=requests), make_node("n"), there).code is code


def test_one_thing_that_no_eviction_helps_makes_the_whole_verdict_final() -> None:
    there = make_pod("there", node="n", requests={"cpu": "4"})
    status = verdict(make_pod("p", requests={"cpu": "1", "memory": "1Ti"}), make_node("n"), there)
    assert (status.code, status.message) == (
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
        "Insufficient cpu, Insufficient memory",
    )


def test_ignored_extended_resources_are_not_asked_for() -> None:
    pod = make_pod("p", requests={GPU: "1", "cpu": "9"})
    for args in (
        NodeResourcesFitArgs(ignored_resources=(GPU, "cpu")),
        NodeResourcesFitArgs(ignored_resource_groups=("example.com",)),
    ):
        assert verdict(pod, make_node("n"), args=args).message == "Insufficient cpu"


def test_a_node_without_room_for_pods_takes_none() -> None:
    node = make_node("n", allocatable={"pods": "0"})
    assert verdict(make_pod("p"), node).message == "Too many pods"


def test_init_containers_sidecars_and_overhead_are_part_of_the_request() -> None:
    def container(name: str, cpu: str, **said) -> dict:
        return {"name": name, "image": "x", "resources": {"requests": {"cpu": cpu}}, **said}

    spec = {
        "containers": [container("a", "1"), container("b", "500m")],
        "initContainers": [container("s", "250m", restartPolicy="Always"), container("i", "1800m")],
        "overhead": {"cpu": "100m"},
    }
    pod = make_pod("p", spec=spec)  # max(1500 + 250, 250 + 1800) + 100
    assert verdict(pod, make_node("n", allocatable={"cpu": "2150m"})).is_success
    assert not verdict(pod, make_node("n", allocatable={"cpu": "2149m"})).is_success


def scores(args: NodeResourcesFitArgs | None = None, requests: dict | None = None, **nodes: dict) -> dict[str, int]:
    made = [make_node(name, allocatable=allocatable) for name, allocatable in nodes.items()]
    return score_all(
        NodeResourcesFit(args), make_pod("p", requests={"cpu": "1"} if requests is None else requests), made
    )


def strategy(kind: ScoringStrategyType, *resources: ResourceSpec, **said) -> NodeResourcesFitArgs:
    return NodeResourcesFitArgs(scoring_strategy=ScoringStrategy(type=kind, resources=resources, **said))


CPU = ResourceSpec(name="cpu", weight=1)


def test_emptier_nodes_score_higher_by_default() -> None:
    found = scores(
        requests={"cpu": "1", "memory": "1Gi"}, a={"cpu": "2", "memory": "4Gi"}, b={"cpu": "8", "memory": "8Gi"}
    )
    assert found == {"a": (50 + 75) // 2, "b": (87 + 87) // 2}


def test_a_resource_that_a_node_lacks_does_not_count_in_its_score() -> None:
    shape = tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in ((0, 0), (100, 10)))
    ratio = RequestedToCapacityRatioParam(shape=shape)
    kind = ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO
    for args in (None, strategy(kind, *CPU_AND_MEMORY, requested_to_capacity_ratio=ratio)):
        assert scores(args, a={"cpu": "2", "memory": "0"}) == {"a": 50}


def test_containers_without_requests_count_with_the_defaults() -> None:
    args = strategy(ScoringStrategyType.LEAST_ALLOCATED, CPU)
    assert scores(args, requests={}, a={"cpu": "1"}) == {"a": 90}


def test_fuller_nodes_score_higher_when_told_so() -> None:
    args = strategy(ScoringStrategyType.MOST_ALLOCATED, CPU)
    assert scores(args, a={"cpu": "2"}, b={"cpu": "8"}) == {"a": 50, "b": 12}


def test_a_shape_gives_any_curve() -> None:
    shape = tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in ((0, 10), (50, 0), (100, 10)))
    ratio = RequestedToCapacityRatioParam(shape=shape)
    args = strategy(ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO, CPU, requested_to_capacity_ratio=ratio)
    assert scores(args, a={"cpu": "10"}, b={"cpu": "2"}, c={"cpu": "1"}) == {"a": 80, "b": 0, "c": 100}


def test_resources_that_the_pod_does_not_ask_for_do_not_count_unless_they_are_basic() -> None:
    gpu = ResourceSpec(name=GPU, weight=100)
    args = strategy(ScoringStrategyType.LEAST_ALLOCATED, CPU, gpu)
    assert scores(args, a={"cpu": "2", GPU: "4"}, b={"cpu": "2"}) == {"a": 50, "b": 50}
    wanting = {"cpu": "1", GPU: "1"}
    assert scores(args, requests=wanting, a={"cpu": "2", GPU: "4"}) == {"a": (50 + 7500) // 101}


def served_by(*classes: KubeObject) -> NodeResourcesFit:
    """The plugin in a cluster with device classes."""
    cluster_state = ClusterState()
    cluster_state.load([("DeviceClass", one) for one in classes])
    plugin = NodeResourcesFit()
    plugin.handle = Handle(cluster_state, reads=readable(plugin.name, plugin.reads))
    return plugin


def test_a_resource_of_a_device_class_is_short_only_on_nodes_that_offer_some() -> None:
    wanting = make_pod("p", requests={GPU: "2", "cpu": "1"})
    offers = [
        make_node("none"),
        make_node("zero", allocatable={"cpu": "4", GPU: "0"}),
        make_node("one", allocatable={"cpu": "4", GPU: "1"}),
        make_node("four", allocatable={"cpu": "4", GPU: "4"}),
        make_node("no-cpu", allocatable={"cpu": "0"}),
    ]
    there = [make_pod("there", node="four", requests={GPU: "3"}), make_pod("dra", node="none", requests={GPU: "3"})]
    assert filter_all(NodeResourcesFit(), wanting, offers, there)["none"].message == f"Insufficient {GPU}"
    served = filter_all(NodeResourcesFit(), wanting, offers, there, objects=[device_class(resource=GPU)])
    assert {name: status.message for name, status in served.items()} == {
        "none": "",
        "zero": "",
        "one": f"Insufficient {GPU}",
        "four": f"Insufficient {GPU}",
        "no-cpu": "Insufficient cpu",
    }


def test_a_class_that_comes_changes_kept_verdicts() -> None:
    wanting, gpu = make_pod("p", requests={GPU: "1"}), device_class(resource=GPU)
    with FakeCluster(NodeResourcesFit(), nodes=[make_node("n")]) as cluster:
        short = cluster.filter(wanting)["n"]
        assert short.message == f"Insufficient {GPU}"
        cluster.put(gpu)
        assert cluster.filter(wanting)["n"].is_success
        cluster.remove(gpu)
        assert cluster.filter(wanting)["n"] == short


def test_hints_of_a_resource_that_a_device_class_serves() -> None:
    waiting, added = make_pod("p", requests={GPU: "1"}), ClusterEvent(EventResource.DEVICE_CLASS, ActionType.ADD)
    plugin = served_by()
    assert hint(plugin, NODE_ADD, waiting, None, make_node("n")) is QueueingHint.SKIP
    assert hint(plugin, added, waiting, None, device_class(resource=GPU)) is QueueingHint.QUEUE
    assert hint(plugin, added, waiting, None, device_class(resource="example.com/fpga")) is QueueingHint.SKIP
    plugin = served_by(device_class(resource=GPU))
    assert hint(plugin, NODE_ADD, waiting, None, make_node("n")) is QueueingHint.QUEUE
    full = make_node("n", allocatable={"pods": "0"})
    assert hint(plugin, NODE_ADD, waiting, None, full) is QueueingHint.SKIP


def test_hints_tell_room_that_appears_from_other_news() -> None:
    plugin = served_by()
    waiting = make_pod("p", requests={"cpu": "2"})
    small, large = make_node("n", allocatable={"cpu": "1"}), make_node("n", allocatable={"cpu": "3"})
    larger = make_node("n", allocatable={"cpu": "3", "memory": "64Gi"})
    grew = node_event(ActionType.UPDATE_NODE_ALLOCATABLE)
    assert hint(plugin, NODE_ADD, waiting, None, small) is QueueingHint.SKIP
    assert hint(plugin, NODE_ADD, waiting, None, make_node("n", allocatable={"cpu": "2"})) is QueueingHint.QUEUE
    assert hint(plugin, grew, waiting, small, large) is QueueingHint.QUEUE
    assert hint(plugin, grew, waiting, large, larger) is QueueingHint.SKIP
    assert hint(plugin, POD_DELETE, waiting, make_pod("q", node="n"), None) is QueueingHint.QUEUE
    assert hint(plugin, pod_event(ActionType.UPDATE_POD_TOLERATION), waiting, waiting, waiting) is None


def test_the_line_is_level_outside_its_points() -> None:
    line = broken_linear([(20, 30), (80, 90)])
    assert (line[0], line[20], line[50], line[80], line[100], len(line)) == (30, 30, 60, 90, 90, 101)


def test_one_point_makes_a_level_line() -> None:
    assert set(broken_linear([(40, 7)]).tolist()) == {7}


@pytest.mark.parametrize(
    ("points", "x", "y"), [([(0, 0), (3, 10)], 1, 3), ([(0, 10), (3, 0)], 1, 7), ([(0, 10), (3, 0)], 2, 4)]
)
def test_divisions_go_toward_zero(points: list[tuple[int, int]], x: int, y: int) -> None:
    assert broken_linear(points)[x] == y


def test_a_pod_may_request_any_number_of_resources() -> None:
    names = [f"example.com/r{i:03}" for i in range(100)]
    node = make_node("n", allocatable={"cpu": "8", "pods": "10", names[0]: "1", names[1]: "4", names[2]: "4"})
    placed = make_pod("placed", node="n", requests={names[2]: "3"})
    found = filter_all(NodeResourcesFit(), make_pod("p", requests=dict.fromkeys(names, "2")), [node], [placed])["n"]
    assert found.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert found.reasons == tuple(f"Insufficient {name}" for name in names if name != names[1])


def test_of_many_resources_those_that_an_eviction_would_free_are_short_for_now() -> None:
    names = [f"example.com/r{i:03}" for i in range(40)]
    room = {"cpu": "8", "pods": "10", **dict.fromkeys(names, "2")}
    nodes = [make_node(name, allocatable=room) for name in ("free", "held", "small")]
    placed = [make_pod("placed", node="held", requests=dict.fromkeys(names[::2], "1"))]
    placed += [make_pod("full", node="small", requests={names[-1]: "2"})]
    found = filter_all(NodeResourcesFit(), make_pod("p", requests=dict.fromkeys(names, "2")), nodes, placed)
    assert found["free"].is_success
    assert found["held"].code is Code.UNSCHEDULABLE
    assert found["held"].reasons == tuple(f"Insufficient {name}" for name in names[::2])
    assert found["small"].reasons == (f"Insufficient {names[-1]}",)
