"""Pods of one workload in a run: what happens between two of them counts, and no plugin is asked twice about one."""

import gc
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import pytest
from msgspec.structs import replace

from kubesched.api import EventType, KubeObject, Pod, WatchEvent, decode_object, kind_of
from kubesched.engine import IntVector
from kubesched.framework import (
    Codes,
    CycleState,
    Decision,
    DependsOn,
    FilterResult,
    FrameworkStep,
    Plugin,
    PreFiltered,
    Probe,
    Scores,
    Status,
    rows_ahead,
)
from kubesched.release import Release
from kubesched.session import Session
from kubesched.setup import set_up
from kubesched.state import NodeInfo, Nodes
from kubesched.testing import make_node, make_pod

N_PODS, MIDDLE = 24, 12
GATE = "OpportunisticBatching"
ROOM = {"cpu": "4", "memory": "16Gi", "pods": "8", "example.com/gpu": "20"}


def node(name: str, **more: Any) -> KubeObject:
    return make_node(name, allocatable=ROOM, **{"labels": {"disk": "ssd"}, **more})


def pod(number: int) -> Pod:
    requests = {"cpu": "500m", "example.com/gpu": "1"}
    return make_pod(f"web-{number:02}", requests=requests, node_selector={"disk": "ssd"})


SLICE = decode_object(
    "ResourceSlice",
    b"""{"metadata": {"name": "of-n5"}, "spec": {"driver": "gpu.example.com", "nodeName": "n5", "devices": [
        {"name": "gpu-0"}, {"name": "gpu-1"}], "pool": {"name": "n5", "generation": 1, "resourceSliceCount": 1}}}""",
)
CLUSTER = [
    SLICE,
    *(node(f"n{i}") for i in range(5)),
    make_node("n5", allocatable={"cpu": "64"}, labels={"disk": "ssd"}),
    make_pod("running", node="n1", requests={"cpu": "1"}),
]


PODS = [pod(number) for number in range(N_PODS)]


def apply(session: Session, obj: KubeObject, type_: EventType = EventType.MODIFIED) -> None:
    session.scheduler.handle_event(WatchEvent(type_, kind_of(obj), obj))


def decided(
    between: Callable[[Session], None],
    *plugins: type[Plugin],
    is_shared: bool = True,
    probe: Probe | None = None,
    pods: Sequence[Pod] = PODS,
    after: int = MIDDLE,
) -> list[Decision]:
    """The decisions on a workload, where something happens after one of them."""
    decisions: list[Decision] = []

    def note(decision: Decision) -> None:
        decisions.append(decision)
        if len(decisions) == after:
            between(session)

    setup = set_up(None, plugins) if probe is None else set_up(None, plugins).watched_by(probe)
    with Session([*CLUSTER, *pods], setup) as session:
        for framework in session.frameworks.values():
            framework._equal_pods.is_possible &= is_shared
        session.decisions = note
        session.schedule()
    return decisions


ALONE = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
            ]
        }
    }
}
CLASS = decode_object(
    "DeviceClass", b'{"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}'
)
CLAIM = decode_object("PersistentVolumeClaim", b'{"metadata": {"name": "data", "namespace": "default"}, "spec": {}}')
BETWEEN: dict[str, Callable[[Session], None]] = {
    "nothing": lambda session: None,
    "a node is cordoned": lambda session: apply(session, node("n0", unschedulable=True)),
    "a node loses its label": lambda session: apply(session, node("n2", labels={})),
    "a node grows": lambda session: apply(
        session, make_node("n3", allocatable={**ROOM, "cpu": "40"}, labels={"disk": "ssd"})
    ),
    "a node comes": lambda session: apply(session, node("new"), EventType.ADDED),
    "a node goes": lambda session: apply(session, node("n4"), EventType.DELETED),
    "a pod comes": lambda session: apply(session, make_pod("other", node="n0", requests={"cpu": "3"}), EventType.ADDED),
    "a pod goes": lambda session: apply(session, CLUSTER[-1], EventType.DELETED),
    "two pods come": lambda session: (
        [apply(session, make_pod(name, node="n2", requests={"cpu": "1"}), EventType.ADDED) for name in "ab"] and None
    ),
    "a pod keeps others away": lambda session: apply(
        session,
        make_pod(
            "lonely",
            node="n3",
            spec={
                "affinity": {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
                        ]
                    }
                }
            },
        ),
        EventType.ADDED,
    ),
    "a device class comes": lambda session: apply(session, CLASS, EventType.ADDED),
    "a claim comes": lambda session: apply(session, CLAIM, EventType.ADDED),
    "a taint that is not liked": lambda session: apply(session, node("n1", taints=["slow=true:PreferNoSchedule"])),
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_the_next_pod_sees_what_happened(between: Callable[[Session], None]) -> None:
    expected = decided(between, is_shared=False)
    assert decided(between) == expected
    assert len(expected) >= N_PODS
    assert any(one.node_name for one in expected[MIDDLE:])


def test_pods_of_a_nominated_pod_are_not_taken_for_others() -> None:
    def urgent(number: int) -> Pod:
        return make_pod(f"urgent-{number}", requests={"cpu": "3"}, node_selector={"disk": "ssd"}, priority=9)

    full = [make_pod(f"full-{i}", node=f"n{i}", requests={"cpu": "3"}) for i in range(1, 5)]
    small = [make_pod(f"small-{number}", requests={"cpu": "100m"}) for number in range(3)]
    pods = [*full, make_pod("big", node="n5", requests={"cpu": "63"}), *map(urgent, range(3)), *small]
    shared, alone = [
        decided(lambda session: session.arrive([urgent(9)]), is_shared=is_shared, pods=pods, after=8)
        for is_shared in (True, False)
    ]
    victims = [[[victim.pod.name for victim in one.victims] for one in decisions] for decisions in (shared, alone)]
    assert any(victims[0])
    assert victims[0] == victims[1]
    assert [replace(one, victims=()) for one in shared] == [replace(one, victims=()) for one in alone]


class Fuller(Plugin):
    """Says what it reads, and counts how often it is asked."""

    depends_on = DependsOn.ROW
    equal_by = ("requests",)
    asked: ClassVar[list[str]] = []

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        self.asked.append(pod.name)
        return Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        return np.minimum(10 * nodes.n_pods, 100)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return None


class Picky(Plugin):
    """Does not say what it reads: it takes part for one pod only."""

    asked: ClassVar[list[str]] = []

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        self.asked.append(pod.name)
        if pod.name == "web-20":
            raise RuntimeError("I do not like it")
        return Status.SUCCESS if pod.name == "web-15" else Status.SKIP

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return Status.unschedulable("not for this one")


class Relations(Plugin):
    """Reads relations between nodes, skips a pod that has none, and counts how often it is asked."""

    depends_on = DependsOn.CLUSTER
    equal_by = ("identity", "terms")
    asked: ClassVar[list[str]] = []

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        self.asked.append(pod.name)
        counts = self.handle.cluster_state.required_anti_affinity
        refused = counts.about(state.pod.identity, self.handle.snapshot().namespace_labels) is not None
        return Status.unschedulable("others keep it away") if refused else Status.SKIP


def decided_twice(plugin: type[Fuller | Picky | Relations]) -> tuple[list[Decision], list[str]]:
    """The decisions, which are the same with and without what equal pods share; and about which pods it was asked."""
    alone = decided(BETWEEN["nothing"], plugin, is_shared=False)
    plugin.asked.clear()
    decisions = decided(BETWEEN["nothing"], plugin)
    assert decisions == alone
    return decisions, plugin.asked


def test_a_plugin_that_says_what_it_reads_is_asked_about_a_few_of_the_pods() -> None:
    _, asked = decided_twice(Fuller)
    assert 0 < len(asked) < 5


def test_a_plugin_that_does_not_is_asked_once_about_each() -> None:
    decisions, asked = decided_twice(Picky)
    assert asked == [one.pod.name for one in decisions]
    faults = {one.pod.name: one.outcome.message for one in decisions if not one.outcome.status.is_success}
    assert "not for this one" in faults["web-15"]
    assert "I do not like it" in faults["web-20"]


def test_a_plugin_of_relations_that_skipped_is_asked_about_a_few_of_the_pods() -> None:
    _, asked = decided_twice(Relations)
    assert 0 < len(asked) < 6


def test_a_plugin_of_relations_is_asked_again_once_a_pod_with_terms_has_come() -> None:
    Relations.asked.clear()
    decisions = decided(BETWEEN["a pod keeps others away"], Relations)
    assert all(one.node_name for one in decisions[:MIDDLE])
    assert {one.outcome.message.partition(": ")[2][:18] for one in decisions[MIDDLE:]} == {"others keep it awa"}


def test_a_feature_gate_has_each_pod_decided_alone() -> None:
    setups = [set_up(None, [Fuller], release=Release().with_gates(gates)) for gates in ({}, {GATE: False})]
    decisions, asked = [], []
    for setup in setups:
        Fuller.asked.clear()
        with Session([*CLUSTER, *PODS], setup) as session:
            decisions.append([])
            session.decisions = decisions[-1].append
            session.schedule()
        asked.append(len(Fuller.asked))
    assert decisions[0] == decisions[1]
    assert asked[0] < 5 < asked[1] == N_PODS


class Steps(Probe):
    """Notes each step before Reserve, with what it ends with."""

    def __init__(self) -> None:
        self.steps: list[tuple[object, ...]] = []

    def ended(self, step: FrameworkStep) -> None:
        answer = step.answer
        if isinstance(answer, FilterResult):
            answer = [status.message for status in answer.statuses()], answer.feasible.names
        elif isinstance(answer, Scores):
            answer = {name: answer.of(name).tolist() for name in answer.by_plugin}, answer.total.tolist()
        elif isinstance(answer, PreFiltered):
            answer = answer.status, answer.node_names
        self.steps.append((step.point, step.pod.name, step.n_nodes, step.status, answer))


@pytest.mark.parametrize("between", [*BETWEEN][:4])
def test_a_probe_sees_all_steps_of_each_pod(between: str) -> None:
    seen = []
    for is_shared in (True, False):
        probe = Steps()
        decided(BETWEEN[between], is_shared=is_shared, probe=probe)
        seen.append(probe.steps)
    assert seen[0] == seen[1]


class FewRed(Plugin):
    """Reads nothing of the pod, but labels of those that are there."""

    depends_on = DependsOn.ROW
    equal_by = ()
    reasons = (Status.unschedulable("node(s) had two red pods"),)

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        red = [sum(one.pod.labels.get("color") == "red" for one in nodes.pods(i)) for i in range(nodes.n)]
        return (np.array(red) >= 2).astype(np.int8)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return None


class FewerCores(FewRed):
    """Looks at what is held, whatever the pod requests itself."""

    equal_by = ()

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        return (nodes.requested[0] > 1500).astype(np.int8)


class Nameless(FewRed):
    """Has a verdict without a meaning."""

    equal_by = ()

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        return np.where(nodes.n_pods >= 4, 2, 0)


class Held(FewRed):
    """Looks at a resource that no node offers, once pods hold it."""

    equal_by = ()

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        row = nodes.columns.resources.find("example.com/seat")
        n_held = np.zeros(nodes.n) if row is None else nodes.requested[row]
        return (n_held >= 2).astype(np.int8)


class Quota(Plugin):
    """Counts the pods of the cluster, which is not the same for the next equal pod."""

    equal_by = ()

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        return Status.unschedulable("over quota") if nodes.n_pods.sum() >= 10 else Status.SUCCESS


class Seen:
    pass


class Writer(Plugin):
    """Is asked about each pod, and writes what another one reads."""

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        state.write(Seen())
        return Status.SUCCESS


class Reader(Fuller):
    equal_by = ("requests",)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        state.read(Seen)
        return None


class ByLabels(Fuller):
    equal_by = ("pod.labels",)


class ByAffinity(Fuller):
    equal_by = ("pod.spec.affinity.node_affinity",)


IGNORING_SEATS = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - {name: NodeResourcesFit, args: {ignoredResources: [example.com/seat]}}
"""
LABELLED = [make_pod(f"a-{i:02}", labels={"color": "blue" if i % 3 else "red"}) for i in range(30)]
SEATED = [make_pod(f"a-{i:02}", requests={"example.com/seat": "1"}) for i in range(30)]
SIZED = [make_pod(f"a-{i:02}", requests={"cpu": "100m" if i % 3 else "1"}) for i in range(30)]
NO_REQUESTS = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}, {name: DynamicResources}]
"""


def decided_alike(pods: Sequence[Pod], *plugins: type[Plugin], config: bytes | None = None) -> list[Decision]:
    """The decisions on pods, which are those on each pod alone. Nodes take turns, and answers are looked at early."""
    nodes = [make_node(f"n{i}", allocatable={"cpu": "40"}) for i in range(3)]
    runs: list[list[Decision]] = []
    for is_shared in (False, True):
        with Session([*nodes, *pods], set_up(config, plugins)) as session, patch.object(rows_ahead, "_PATIENCE", 1):
            runs.append([])
            for framework in session.frameworks.values():
                framework._equal_pods.is_possible &= is_shared
            session.decisions = runs[-1].append
            session.schedule()
    assert runs[0] == runs[1]
    assert any(one.node_name for one in runs[0])
    return runs[0]


@pytest.mark.parametrize(
    ("plugins", "pods", "config"),
    [
        ((FewRed,), LABELLED, None),
        ((FewerCores,), SIZED, NO_REQUESTS),
        ((Held,), SEATED, IGNORING_SEATS),
        ((Nameless,), SIZED, None),
        ((Quota,), SIZED, None),
        ((Writer, Reader), SIZED, None),
        ((ByLabels,), LABELLED, None),
        ((ByAffinity,), LABELLED, None),
    ],
    ids=lambda given: given[0].__name__ if isinstance(given, tuple) else "",
)
def test_what_plugins_read_beside_the_pod_counts(
    plugins: tuple[type[Plugin], ...], pods: Sequence[Pod], config: bytes | None
) -> None:
    decided_alike(pods, *plugins, config=config)


def test_equal_pods_share_while_a_pod_waits_for_the_room_that_it_was_given() -> None:
    urgent = make_pod("urgent", requests={"example.com/gpu": "20"}, priority=9)
    pods = [*(make_pod(f"gpu-{i}", node=f"n{i}", requests={"example.com/gpu": "1"}) for i in range(5)), *PODS]
    seen, placed = [], []
    for is_shared in (True, False):
        probe = Steps()
        Fuller.asked.clear()
        decisions = decided(
            lambda session: session.arrive([urgent]), Fuller, is_shared=is_shared, probe=probe, pods=pods
        )
        assert [one.nominated_node_name for one in decisions[MIDDLE:] if one.victims]
        seen.append([step for step in probe.steps if step[1] != "urgent"])
        placed.append([(one.pod.name, one.node_name, one.chosen, one.runners_up) for one in decisions])
        assert (len(Fuller.asked) < 8) == is_shared
    assert placed[0] == placed[1]
    assert seen[0] == seen[1]


def decided_as_a_zone_opens(*, is_shared: bool) -> list[Decision]:
    """The decisions on pods that fit on one node, until the third one; then on all six."""
    apart = [{"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "old"}}}]
    spec = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": apart}}}
    nodes = [node(f"n{i}", zone="b" if i else "a") for i in range(6)]
    old = make_pod("old", node="n1", labels={"app": "old"})
    pods = [make_pod(f"web-{i}", requests={"cpu": "100m"}, spec=spec) for i in range(6)]
    decisions: list[Decision] = []

    def note(decision: Decision) -> None:
        decisions.append(decision)
        if len(decisions) == 3:
            apply(session, old, EventType.DELETED)

    with Session([*nodes, old, *pods]) as session:
        session.frameworks["default-scheduler"]._equal_pods.is_possible = is_shared
        session.decisions = note
        session.schedule()
    return decisions


def test_pods_for_which_one_node_was_left_are_scored_as_others_once_more_fit() -> None:
    expected = decided_as_a_zone_opens(is_shared=False)
    assert decided_as_a_zone_opens(is_shared=True) == expected
    assert [one.n_feasible for one in expected] == [1, 1, 1, 6, 6, 6]


def test_what_is_kept_of_workloads_is_bounded_and_goes_with_the_columns() -> None:
    held = []
    with Session([node("n0"), node("n1")]) as session:
        framework = session.frameworks["default-scheduler"]
        for week in range(20):
            pods = [make_pod(f"week-{week}-{i}", requests={"cpu": f"{100 + week}m"}) for i in range(3)]
            held.append(weakref.ref(session.cluster_state.pod_info(pods[1]).requests))
            session.change(pods)
            session.schedule()
            session.change(gone=pods)
        assert len(framework._equal_pods) == 16
        framework.cache.evict()
        session.cluster_state.parts.forget_recent()
        del pods
        gc.collect()
        assert len(framework._equal_pods) == 0
        assert [one() for one in held] == [None] * 20


class OddOnly:
    """A hook that reads the name of a pod, for a plugin that says that it reads the requests alone."""

    asked: ClassVar[list[str]] = []

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        return Status.SUCCESS if int(pod.name.rpartition("-")[2]) % 2 else Status.unschedulable("not odd")


def with_own_hook(self: Plugin, args: Any = None) -> None:
    Plugin.__init__(self, args)
    self.pre_filter = OddOnly().pre_filter  # type: ignore[method-assign]


class Figures(Fuller):
    """Scores by figures that it holds, and names them in its parts."""

    held: ClassVar[list[int]] = []
    equal_by = ("requests",)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return len(self.held)

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        return 10 * ((nodes.all_rows + len(self.held)) % 5)


ODD = OddOnly.pre_filter
CHANGED = {
    "a subclass": type("Sub", (Fuller,), {"name": "Changed", "pre_filter": ODD}),
    "a mixin": type("Mixed", (OddOnly, Fuller), {"name": "Changed"}),
    "an instance": type("Own", (Fuller,), {"name": "Changed", "pre_filter": ODD, "__init__": with_own_hook}),
}


@pytest.mark.parametrize("plugin", CHANGED.values(), ids=CHANGED)
def test_what_a_plugin_reads_is_not_what_hooks_from_elsewhere_read(plugin: type[Fuller]) -> None:
    decisions, _ = decided_twice(plugin)
    rejected = {one.pod.name: one.outcome.message for one in decisions if not one.node_name}
    assert sorted(rejected) == [pod(number).name for number in range(0, N_PODS, 2)]
    assert all("not odd" in message for message in rejected.values())


def test_a_part_that_names_figures_counts_for_each_pod() -> None:
    both = []
    for is_shared in (True, False):
        Figures.held.clear()
        both.append(decided(lambda session: Figures.held.append(1), Figures, is_shared=is_shared))
    assert both[0] == both[1]
