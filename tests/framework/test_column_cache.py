"""Columns are kept as long as they are true, brought up to date where they are not, and never in the way."""

from typing import Any

import numpy as np
import pytest

from kubesched.api import EventType, KubeObject, Node, WatchEvent, kind_of
from kubesched.engine import IntVector
from kubesched.framework import (
    CACHE_BYTES,
    ColumnCache,
    CycleState,
    DependsOn,
    Plugin,
    Status,
    default_normalize,
    keeps_equal,
)
from kubesched.framework.column_cache import KeptColumn, PluginRule
from kubesched.framework.hook_answers import as_scores, as_verdicts
from kubesched.state import ClusterState, Nodes
from kubesched.testing.builders import make_node, make_object, make_pod
from kubesched.testing.fake_cluster import FakeCluster


class BigNodes(Plugin):
    """Rejects nodes with more than four cores, and scores them by cores; notes how many rows it was asked about."""

    depends_on = DependsOn.NODE
    reasons = (Status.unschedulable("too big"),)

    def __init__(self, args=None):
        super().__init__(args)
        self.asked = []

    def filter_nodes(self, state, pod, nodes: Nodes) -> np.ndarray:
        self.asked.append(len(nodes))
        return (nodes.allocatable[0] > 4000).astype(np.int16)

    def filter_part(self, state, pod):
        return state.pod.requests

    def score_nodes(self, state, pod, nodes: Nodes) -> IntVector:
        self.asked.append(len(nodes))
        return nodes.allocatable[0] // 1000

    def score_part(self, state, pod):
        return None


class FewPods(BigNodes):
    """Rejects nodes with pods."""

    depends_on = DependsOn.ROW

    def filter_nodes(self, state, pod, nodes: Nodes) -> np.ndarray:
        self.asked.append(len(nodes))
        return (nodes.n_pods > 0).astype(np.int16)


class OfDevices(FewPods):
    """Rejects nodes with devices that are taken."""

    depends_on = DependsOn.DEVICES

    def filter_nodes(self, state, pod, nodes: Nodes) -> np.ndarray:
        self.asked.append(len(nodes))
        devices = self.cluster_state.devices
        pools = [devices.pools_of(row) for row in nodes.all_rows.tolist()]
        return np.array([any(devices.in_use.of_pool(pool).taken for pool in some) for some in pools], dtype=np.int16)


class Kept:
    """A cache over ten nodes, and one plugin to ask."""

    def __init__(self, plugin: Plugin, budget: int = 1 << 20, max_unused: int = 100_000) -> None:
        self.cluster_state = ClusterState()
        self.plugin = plugin
        for i in range(10):
            self.put(make_node(f"n{i}"))
        self.cache = ColumnCache(self.cluster_state.columns, budget, max_unused)
        self.filter_rule = PluginRule(plugin, self.cache, "filter_nodes")
        self.score_rule = PluginRule(plugin, self.cache, "score_nodes")

    def put(self, node: Node) -> None:
        self.cluster_state.apply(WatchEvent(EventType.MODIFIED, "Node", node))

    def tell(self, obj: KubeObject) -> None:
        self.cluster_state.apply(WatchEvent(EventType.ADDED, kind_of(obj), obj))

    def remove(self, name: str) -> None:
        self.cluster_state.apply(WatchEvent(EventType.DELETED, "Node", make_node(name)))

    def verdicts(self, cpu: str = "1") -> KeptColumn:
        pod = make_pod("p", requests={"cpu": cpu})
        return self.cache.verdicts(self.filter_rule, CycleState(self.cluster_state.pod_info(pod)), pod)

    def scores(self) -> KeptColumn:
        pod = make_pod("p")
        return self.cache.scores(self.score_rule, CycleState(self.cluster_state.pod_info(pod)), pod)

    def rejected(self) -> list[str]:
        column = self.verdicts()
        found = [self.cluster_state.columns.names[row] for row in np.flatnonzero(column.values).tolist()]
        assert column.n_rejected == len(found)
        return found


def one_device(node: str) -> dict[str, Any]:
    """The spec of a slice with one device."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return {"driver": "gpu.example.com", "pool": pool, "nodeName": node, "devices": [{"name": "gpu"}]}


def taken(node: str) -> dict[str, Any]:
    """The status of a claim that has this device."""
    result = {"request": "r", "driver": "gpu.example.com", "pool": node, "device": "gpu"}
    return {"allocation": {"devices": {"results": [result]}}}


def test_a_column_is_computed_once_for_pods_with_the_same_part() -> None:
    kept = Kept(BigNodes())
    assert kept.verdicts("1") is kept.verdicts("1")
    assert kept.plugin.asked == [10]
    kept.verdicts("2")
    assert kept.plugin.asked == [10, 10]
    assert len(kept.cache) == 2


def test_only_rows_that_changed_are_computed_again() -> None:
    kept = Kept(BigNodes())
    assert kept.rejected() == []
    kept.put(make_node("n3", allocatable={"cpu": "8"}))
    assert kept.rejected() == ["n3"]
    kept.put(make_node("n3"))
    kept.put(make_node("n5", allocatable={"cpu": "8"}))
    assert kept.rejected() == ["n5"]
    assert kept.plugin.asked == [10, 1, 2]


def test_a_column_is_computed_anew_when_most_rows_changed() -> None:
    kept = Kept(BigNodes())
    kept.verdicts()
    for i in range(8):
        kept.put(make_node(f"n{i}", allocatable={"cpu": "8"}))
    assert kept.rejected() == [f"n{i}" for i in range(8)]
    assert kept.plugin.asked == [10, 10]


def test_scores_are_computed_anew_when_most_rows_changed() -> None:
    kept = Kept(BigNodes())
    kept.scores()
    for i in range(8):
        kept.put(make_node(f"n{i}", allocatable={"cpu": "8"}))
    assert kept.scores().values[:8].tolist() == [8] * 8
    assert kept.plugin.asked == [10, 10]


def test_a_rule_that_reads_node_objects_does_not_mind_pods() -> None:
    kept = Kept(BigNodes())
    kept.verdicts()
    kept.cluster_state.assume(kept.cluster_state.pod_info(make_pod("p")), "n1")
    kept.verdicts()
    assert kept.plugin.asked == [10]


def test_a_rule_that_reads_pods_is_asked_about_the_row_that_got_one() -> None:
    kept = Kept(FewPods())
    assert kept.rejected() == []
    kept.cluster_state.assume(kept.cluster_state.pod_info(make_pod("p")), "n1")
    assert kept.rejected() == ["n1"]
    assert kept.plugin.asked == [10, 1]


def test_devices_and_pods_concern_only_the_rules_that_read_them() -> None:
    of_devices, of_pods = Kept(OfDevices()), Kept(FewPods())
    for kept in (of_devices, of_pods):
        kept.plugin.cluster_state = kept.cluster_state
        kept.tell(make_object("ResourceSlice", "s", spec=one_device("n2")))
        assert kept.rejected() == []
        kept.tell(make_object("ResourceClaim", "c", namespace="default", status=taken("n2")))
        kept.cluster_state.assume(kept.cluster_state.pod_info(make_pod("p")), "n1")
    assert (of_devices.rejected(), of_pods.rejected()) == (["n2"], ["n1"])
    assert of_devices.plugin.asked == of_pods.plugin.asked == [10, 1]


def test_a_node_that_left_is_rejected_no_longer() -> None:
    kept = Kept(BigNodes())
    kept.put(make_node("n3", allocatable={"cpu": "8"}))
    assert kept.rejected() == ["n3"]
    kept.remove("n3")
    assert kept.rejected() == []
    kept.put(make_node("new", allocatable={"cpu": "8"}))
    assert kept.rejected() == ["new"]


def test_a_column_grows_with_the_cluster() -> None:
    kept = Kept(BigNodes())
    kept.verdicts()
    for i in range(10, 300):
        kept.put(make_node(f"n{i}", allocatable={"cpu": "8" if i == 299 else "4"}))
    assert kept.rejected() == ["n299"]
    assert kept.cache.n_bytes == sum(column.n_bytes for column in kept.cache._kept.values())


def test_the_one_score_of_all_nodes_is_known_until_a_node_differs() -> None:
    kept = Kept(BigNodes())
    assert kept.scores().constant == 4
    kept.put(make_node("n1", allocatable={"cpu": "8"}))
    column = kept.scores()
    assert column.constant is None
    assert column.values[:10].tolist() == [4, 8, *[4] * 8]


@pytest.mark.parametrize(("cpu", "in_range"), [("100", True), ("101", False)])
def test_a_score_out_of_range_is_noticed(cpu: str, in_range: bool) -> None:
    kept = Kept(BigNodes())
    kept.scores()
    kept.put(make_node("n1", allocatable={"cpu": cpu}))
    assert kept.scores().in_range is in_range


def test_the_least_recently_used_column_goes_when_the_budget_is_spent() -> None:
    kept = Kept(BigNodes(), budget=2 * KeptColumn(np.zeros(64, dtype=np.int16)).n_bytes)
    kept.verdicts("1")
    kept.verdicts("2")
    kept.verdicts("1")
    kept.verdicts("3")
    assert kept.plugin.asked == [10, 10, 10]
    kept.verdicts("1")
    assert kept.plugin.asked == [10, 10, 10]
    kept.verdicts("2")
    assert kept.plugin.asked == [10, 10, 10, 10]
    assert kept.cache.n_bytes <= kept.cache.budget


def test_a_column_goes_that_nobody_has_asked_for_in_a_long_time() -> None:
    kept = Kept(BigNodes(), max_unused=3)
    kept.verdicts("1")
    kept.verdicts("2")
    for _ in range(4):
        kept.verdicts("1")
    kept.verdicts("3")
    assert len(kept.cache) == 2
    assert kept.cache.n_bytes == sum(column.n_bytes for column in kept.cache._kept.values())
    kept.verdicts("1")
    assert kept.plugin.asked == [10, 10, 10]
    kept.verdicts("2")
    assert kept.plugin.asked == [10, 10, 10, 10]


def test_one_column_is_kept_even_if_it_is_larger_than_the_budget() -> None:
    kept = Kept(BigNodes(), budget=1)
    kept.verdicts()
    kept.verdicts()
    assert kept.plugin.asked == [10]


def test_the_default_budget_has_room_for_many_columns() -> None:
    kept = Kept(BigNodes(), budget=CACHE_BYTES)
    for cpu in (*map(str, range(50)), "0"):
        kept.verdicts(cpu)
    assert len(kept.plugin.asked) == 50


def test_equal_plugins_share_a_rule_and_others_do_not() -> None:
    cache = ColumnCache(ClusterState().columns)
    numbers = [PluginRule(plugin, cache, "filter_nodes").number for plugin in (BigNodes(), BigNodes(), FewPods())]
    assert numbers[0] == numbers[1] != numbers[2]
    assert PluginRule(BigNodes(), cache, "score_nodes").number not in numbers


def test_an_evicted_cache_is_empty() -> None:
    kept = Kept(BigNodes())
    for cpu in ("1", "2", "3", "4"):
        kept.verdicts(cpu)
    kept.cache.evict(0.5)
    assert len(kept.cache) == 2
    kept.cache.evict()
    assert (len(kept.cache), kept.cache.n_bytes) == (0, 0)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, "found None"),
        ([0, 0], "found [0, 0]"),
        (np.zeros(3, dtype=np.int16), r"found an array of int16 with shape \(3,\)"),
        (np.zeros(2), r"found an array of float64 with shape \(2,\)"),
        (np.zeros((2, 1), dtype=np.int64), r"found an array of int64 with shape \(2, 1\)"),
    ],
)
def test_an_answer_that_is_not_one_integer_per_row_is_refused(answer: object, found: str) -> None:
    found = found.replace("[", r"\[").replace("]", r"\]")
    with pytest.raises(TypeError, match=f"filter_nodes must return 2 integers, one per row; {found}"):
        as_verdicts(BigNodes(), answer, 2)
    with pytest.raises(TypeError, match=f"BigNodes must score with 2 integers, one per row; {found}"):
        as_scores(BigNodes(), answer, 2)


def test_booleans_are_verdicts_but_no_scores() -> None:
    flags = np.array([True, False])
    assert as_verdicts(BigNodes(), flags, 2).values.tolist() == [1, 0]
    with pytest.raises(TypeError, match="must score with 2 integers"):
        as_scores(BigNodes(), flags, 2)


class Alike(Plugin):
    """One score for all nodes, kept for all pods."""

    depends_on = DependsOn.NODE

    def score_part(self, state, pod):
        return None

    def score_nodes(self, state, pod, nodes):
        return np.full(len(nodes), 4)


def test_a_normalisation_gets_the_scores_of_all_nodes_and_is_asked_for_every_pod() -> None:
    class Share(Alike):
        def normalize_score(self, state, pod, scores):
            return scores * int(pod.labels["points"]) // scores.sum()

    cluster = FakeCluster(Share(), nodes=[make_node("n1"), make_node("n2")])
    for points in ("100", "60"):
        half = int(points) // 2
        assert cluster.score(make_pod("p", labels={"points": points})) == {"n1": half, "n2": half}


def test_a_normalisation_that_keeps_equal_scores_equal_is_asked_once() -> None:
    asked = []

    class ToTheTop(Alike):
        @keeps_equal
        def normalize_score(self, state, pod, scores):
            asked.append(scores.tolist())
            return default_normalize(scores)

    cluster = FakeCluster(ToTheTop(), nodes=[make_node("n1"), make_node("n2")])
    assert [cluster.score(make_pod(name)) for name in "pq"] == [{"n1": 100, "n2": 100}] * 2
    assert asked == [[4]]
