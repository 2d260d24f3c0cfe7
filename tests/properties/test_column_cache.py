"""Kept columns change nothing but the time: any walk, any eviction, the same decisions."""

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubesched.api import Container, Pod, Resources
from kubesched.framework import Code, ColumnCache, CycleState, Framework, Handle, Status, find_feasible
from kubesched.framework.column_cache import PluginRule
from kubesched.framework.reads import readable
from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.scheduler import build_frameworks
from kubesched.setup import set_up
from kubesched.state import ClusterState, PodInfo
from kubesched.testing.builders import make_node, make_pod
from tests.properties.cluster_walk import Walk, as_pod, generated
from tests.trials import examples

FEATURES = ("ephemeral", "image-sizes", "inline-disks", "local", "pod-level", "resize", "selectors", "zones")
OTHER_ARGS = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}, {name: example.com/gpu}]}}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 50}
"""
STEPS = st.lists(st.tuples(st.sampled_from(Walk.STEPS), st.integers(0, 10**6)), min_size=1, max_size=12)


def opinions(framework: Framework, info: PodInfo) -> dict[str, Any]:
    """Everything that a profile says of a pod, by node name: every filter's verdicts, and every score."""
    snapshot = framework.handle.snapshot()
    state = CycleState(info)
    diagnosis = find_feasible(framework, state, snapshot.nodes)
    result = diagnosis.result
    if result is None:
        return {"preFilter": diagnosis.pre_filter_message}
    names = result.nodes.names
    said: dict[str, Any] = {"nodes": sorted(names)}
    for rejection in result.rejections:
        verdicts = rejection.verdicts
        rejected = np.flatnonzero(verdicts.values).tolist()
        said[rejection.plugin] = {names[i]: verdicts.status(int(verdicts.values[i])) for i in rejected}
    if result.fits.any():
        scores = framework.run_score(state, info.pod, result.feasible, is_whole=result.nodes is snapshot.nodes)
        for plugin in scores.by_plugin:
            said[f"{plugin} score"] = dict(zip(scores.nodes.names, scores.of(plugin).tolist(), strict=True))
    return said


def framework_of(cluster_state: ClusterState, config: bytes | None = None) -> Framework:
    return build_frameworks(set_up(config).profiles, cluster_state)["default-scheduler"]


@pytest.mark.parametrize("config", [None, OTHER_ARGS], ids=["defaults", "other args"])
@example(seed=1625, steps=[("add_node", 0)], features=["ephemeral"], evictions=[0.0] * 12)
@examples(8)
@given(
    seed=st.integers(0, 2**16),
    steps=STEPS,
    features=st.lists(st.sampled_from(FEATURES), max_size=2, unique=True),
    evictions=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=12, max_size=12),
)
def test_what_is_kept_says_what_an_empty_cache_and_a_fresh_load_say(
    config: bytes | None, seed: int, steps: list[tuple[str, int]], features: list[str], evictions: list[float]
) -> None:
    walk = Walk(seed, tuple(features))
    probes = [as_pod(item) for item in generated(seed, pending=4, features=tuple(features)) if is_pending(item)]
    keeps, forgets = framework_of(walk.cluster_state, config), framework_of(walk.cluster_state, config)
    for (step, number), eviction in zip(steps, evictions, strict=False):
        walk.step(step, number)
        keeps.cache.evict(eviction)
        for pod in probes:
            info = walk.cluster_state.pod_info(pod)
            forgets.cache.evict()
            assert opinions(keeps, info) == opinions(forgets, info)
    fresh = framework_of(walk.fresh(), config)
    for pod in probes:
        loaded = opinions(fresh, fresh.handle.cluster_state.pod_info(pod))
        assert without_chance(opinions(keeps, walk.cluster_state.pod_info(pod))) == without_chance(loaded)


def is_pending(item: dict) -> bool:
    return item["kind"] == "Pod" and not item["spec"].get("nodeName")


def without_chance(said: dict[str, Any]) -> dict[str, Any]:
    """Without what depends on the order of events: ports that two pods took, image sizes that two nodes report, and
    which of several faulty pods on a node an Error names.
    """
    return {
        key: {name: as_fault(of_node) for name, of_node in by_node.items()} if isinstance(by_node, dict) else by_node
        for key, by_node in said.items()
        if key not in ("NodePorts", "ImageLocality score")
    }


def as_fault(of_node: object) -> object:
    return of_node.code if isinstance(of_node, Status) and of_node.code is Code.ERROR else of_node


def test_the_budget_holds_with_10000_distinct_pods() -> None:
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node(f"n{i}")) for i in range(3)])
    cache = ColumnCache(cluster_state.columns, budget=1 << 18)
    plugin = IN_TREE_PLUGINS["NodeResourcesFit"]()
    plugin.handle = Handle(cluster_state, reads=readable(plugin.name, plugin.reads))
    fits = PluginRule(plugin, cache, "filter_nodes")
    template = make_pod("p")
    largest = 0
    for number in range(10_000):
        info = cluster_state.pod_info(with_request(template, f"{number}m"))
        state = CycleState(info)
        plugin.pre_filter(state, info.pod, cluster_state.snapshot().nodes)
        column = cache.verdicts(fits, state, info.pod)
        assert column.n_rejected == (3 if number > 4000 else 0)
        largest = max(largest, cache.n_bytes)
    assert 0.9 * cache.budget < largest <= cache.budget
    assert sum(column.n_bytes for column in cache._kept.values()) == cache.n_bytes


def with_request(template: Pod, cpu: str) -> Pod:
    container = Container("c", "app", Resources(requests={"cpu": cpu}))
    spec = msgspec.structs.replace(template.spec, containers=(container,))
    return msgspec.structs.replace(template, spec=spec)
