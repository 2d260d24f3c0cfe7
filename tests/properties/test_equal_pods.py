"""A pod that is equal to one before gets what deciding about it alone gives: any churn between them, any tie-break."""

from collections.abc import Iterator
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle.generate import GROUPS
from kubesched.api import Pod
from kubesched.framework import CycleState, Decision, Framework, NominatedPods, QueuedPodInfo, Services, rows_ahead
from kubesched.scheduler import TieBreak, build_frameworks
from kubesched.scheduler.scheduling_cycle import SchedulingCycle
from kubesched.scheduler.suspension import straight
from kubesched.setup import set_up
from kubesched.state import PodInfo
from kubesched.testing import make_pod
from tests.properties.cluster_walk import Walk, as_pod, generated
from tests.trials import examples

FEATURES = ("ephemeral", "image-sizes", "inline-disks", "local", "pod-level", "resize", "selectors", "zones", "devices")
FULLER_FIRST = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: PodTopologySpread}, {name: InterPodAffinity}]}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}, {name: example.com/gpu}]}}
"""
Nominations = list[tuple[str, PodInfo]]
STEPS = st.lists(st.tuples(st.sampled_from([*Walk.STEPS, *["next_kind"] * 4]), st.integers(0, 10**6)), max_size=8)


class Decider:
    """Decides about pods, with what equal pods share or without."""

    def __init__(self, walk: Walk, config: bytes | None, tie_break: TieBreak, nominations: Nominations) -> None:
        pods = NominatedPods(walk.cluster_state.columns, lambda: nominations, lambda: len(nominations))
        profiles = set_up(config).profiles
        frameworks = build_frameworks(profiles, walk.cluster_state, Services(nominated=pods))
        self.framework: Framework = frameworks["default-scheduler"]
        self.cycle = SchedulingCycle(tie_break, Random(1))

    def decide(self, pod: Pod) -> tuple[Decision, CycleState]:
        cluster_state = self.framework.handle.cluster_state
        queued = QueuedPodInfo(pod, pod.key, 0.0)
        info = cluster_state.pod_info(pod)
        return straight(self.cycle.decide(self.framework, info, cluster_state.snapshot(), queued))


@pytest.mark.parametrize("config", [None, FULLER_FIRST], ids=["defaults", "fuller first"])
@examples(12)
@given(
    seed=st.integers(0, 2**16),
    steps=STEPS,
    features=st.lists(st.sampled_from(FEATURES), max_size=2, unique=True),
    tie_break=st.sampled_from(TieBreak),
    groups=st.lists(st.sampled_from(GROUPS), min_size=1, max_size=3, unique=True),
    in_a_row=st.integers(3, 30),
    n_nominated=st.sampled_from([0, 0, 1, 4]),
)
def test_equal_pods_are_decided_as_each_alone_would_be(
    config: bytes | None,
    seed: int,
    steps: list[tuple[str, int]],
    features: list[str],
    tie_break: TieBreak,
    groups: list[str],
    in_a_row: int,
    n_nominated: int,
) -> None:
    walk = Walk(seed, tuple(features))
    patient = patch.object(rows_ahead, "_PATIENCE", 1 + seed % 3)
    nominations: Nominations = []
    shared, alone = (Decider(walk, config, tie_break, nominations) for _ in range(2))
    alone.framework._equal_pods.is_possible = False
    others, chance = copies(smaller(generated(seed, pending=1)[-1])), Random(seed)
    pods = twins(seed, tuple(groups), tuple(features))
    for step, number in [("next_kind", 0), *steps]:
        if step != "next_kind":
            walk.step(step, number)
        nominations += nominated(walk, chance, n_nominated)
        for _ in range(in_a_row):
            pod = next(pods[number % len(pods)])
            with patient:
                (decided, state), (expected, its_state) = shared.decide(pod), alone.decide(pod)
            assert decided == expected
            assert (state.skip_filter, state.skip_score) == (its_state.skip_filter, its_state.skip_score)
            assert state._data.keys() == its_state._data.keys()
            if decided.node_name:
                came = state.pod if chance.random() < 0.9 else walk.cluster_state.pod_info(next(others))
                walk.cluster_state.assume(came, decided.node_name)


def nominated(walk: Walk, chance: Random, n: int) -> Iterator[tuple[str, PodInfo]]:
    """Pods that hold up to all of a node without being on it, some of a priority that does not count."""
    names = sorted(walk.cluster_state.columns.row_of)
    for _ in range(n if names else 0):
        number, cpu = chance.random(), chance.choice(["100m", "2", "64"])
        pod = make_pod(f"urgent-{number}", requests={"cpu": cpu}, priority=chance.choice([-(10**6), 10**6]))
        yield chance.choice(names), walk.cluster_state.pod_info(pod)


def twins(seed: int, groups: tuple[str, ...], features: tuple[str, ...]) -> list[Iterator[Pod]]:
    """Some kinds of pods, of which each is made again and again."""
    items = generated(seed, pending=4, groups=groups, features=features)
    pending = [item for item in items if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    return [copies(item if number % 2 else smaller(item)) for number, item in enumerate(pending)]


def smaller(item: dict) -> dict:
    """A pod of which many fit on a node."""
    resources = {"requests": {"cpu": "20m", "memory": "20Mi"}}
    containers = [{**container, "resources": resources} for container in item["spec"]["containers"]]
    return {**item, "spec": {**item["spec"], "containers": containers}}


def copies(item: dict) -> Iterator[Pod]:
    number = 0
    while True:
        name = f"{item['metadata']['name']}-{number}"
        yield as_pod({**item, "metadata": {**item["metadata"], "name": name, "uid": f"{name}-{id(item)}"}})
        number += 1
