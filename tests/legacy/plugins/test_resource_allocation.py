import msgspec
import pytest

from kubesched.framework import Plugin
from kubesched.legacy import legacy_plugin
from tests.plugins.one_plugin import Asked, node, pod

LINE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]


def plugin(name: str, **args) -> Plugin:
    plugin_class = legacy_plugin(name)
    return plugin_class(msgspec.convert(args, plugin_class.Args).with_defaults())


def score(asking: Plugin, requests: dict, **allocatable: str) -> int:
    """Of a node with 4 cpus and 8Gi unless it is said otherwise."""
    offered = {"cpu": "4", "memory": "8Gi", "pods": "10", **allocatable}
    return Asked(asking, [node("n", allocatable=offered)], pod(requests=requests)).score()["n"]


def weighed(*names: str) -> list[dict]:
    return [{"name": name, "weight": 1} for name in names]


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("NodeResourcesLeastAllocated", {}, (62 + 75) // 2),
        ("NodeResourcesMostAllocated", {}, (37 + 25) // 2),
        ("RequestedToCapacityRatio", {"shape": LINE}, 32),  # 38, where NodeResourcesFit says 37, and 25: 31.5
    ],
)
def test_the_score_is_the_mean_over_cpu_and_memory(name: str, args: dict, expected: int):
    assert score(plugin(name, **args), {"cpu": "1500m", "memory": "2Gi"}) == expected


def test_most_allocated_gives_0_for_a_resource_that_would_be_exceeded():
    assert score(plugin("NodeResourcesMostAllocated", resources=weighed("cpu")), {"cpu": "5"}) == 0
    assert score(plugin("NodeResourcesMostAllocated", resources=weighed("cpu")), {"cpu": "4"}) == 100


@pytest.mark.parametrize("name", ["NodeResourcesLeastAllocated", "NodeResourcesMostAllocated"])
def test_a_resource_that_the_node_lacks_counts_with_0(name: str):
    both = score(plugin(name, resources=weighed("cpu", "example.com/gpu")), {"cpu": "2"})
    assert (score(plugin(name, resources=weighed("cpu")), {"cpu": "2"}), both) == (50, 25)


def test_the_ratio_takes_a_resource_that_the_node_lacks_for_fully_used():
    resources = weighed("cpu", "example.com/gpu")
    assert score(plugin("RequestedToCapacityRatio", shape=LINE, resources=resources), {"cpu": "2"}) == 75


def test_the_ratio_leaves_out_resources_that_score_0():
    falling = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    resources = weighed("cpu", "example.com/gpu")
    assert score(plugin("RequestedToCapacityRatio", shape=falling, resources=resources), {"cpu": "1"}) == 75


def test_of_a_resource_that_is_listed_twice_the_last_weight_counts():
    twice = [{"name": "cpu", "weight": 9}, {"name": "memory", "weight": 1}, {"name": "cpu", "weight": 1}]
    asking = plugin("NodeResourcesLeastAllocated", resources=twice)
    assert score(asking, {"cpu": "4", "memory": "4Gi"}) == 25


def test_a_pod_without_requests_counts_with_the_defaults():
    assert score(plugin("NodeResourcesLeastAllocated"), {}) == (97 + 97) // 2


@pytest.mark.parametrize(
    ("name", "args", "found"),
    [
        ("NodeResourcesLeastAllocated", {"resources": [{"name": "cpu"}]}, "resources[0].weight: Invalid value: 0: "),
        ("NodeResourcesMostAllocated", {"resources": [{"name": "cpu", "weight": 101}]}, "valid range (0, 100]"),
        ("RequestedToCapacityRatio", {"shape": LINE, "resources": [{"name": "cpu", "weight": -1}]}, "(0, inf)"),
        ("RequestedToCapacityRatio", {}, "shape: Required value: at least one point must be specified"),
    ],
)
def test_weights_and_shapes_are_checked(name: str, args: dict, found: str):
    errors = plugin(name, **args).args.validate("")
    assert len(errors) == 1
    assert found in str(errors[0])


def test_a_weight_of_0_means_1_for_the_ratio_and_100_is_no_limit():
    resources = [{"name": "cpu"}, {"name": "memory", "weight": 101}]
    assert plugin("RequestedToCapacityRatio", shape=LINE, resources=resources).args.validate("") == []


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"cpu": "4"}, 1),
        ({"cpu": "5"}, 0),
        ({"cpu": "5", "memory": "8Gi"}, 1),
        ({}, 0),
    ],
)
def test_a_node_scores_1_when_it_has_what_one_of_the_limits_allows(limits: dict, expected: int):
    new = pod(containers=[{"name": "c", "resources": {"limits": limits}}])
    for name in ("NodeResourceLimits", "NodeResourcesLimits"):
        assert Asked(plugin(name), [node("n")], new).score() == {"n": expected}


def test_limits_of_containers_add_up_and_those_of_init_containers_do_not():
    def limited(n: int, cpu: str) -> list[dict]:
        return [{"name": f"c{i}", "resources": {"limits": {"cpu": cpu}}} for i in range(n)]

    asking = plugin("NodeResourceLimits")
    assert Asked(asking, [node("n")], pod(containers=limited(2, "3"))).score() == {"n": 0}
    assert Asked(asking, [node("n")], pod(containers=[], initContainers=limited(2, "3"))).score() == {"n": 1}
