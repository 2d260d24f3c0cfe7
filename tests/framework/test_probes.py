"""A probe sees the steps of a framework, in order, with how each ended; without one nothing is in the way."""

import asyncio

import numpy as np
import pytest

from kubesched.framework import (
    Code,
    CycleState,
    FilterResult,
    Framework,
    FrameworkStep,
    NodeSearch,
    Plugin,
    PluginFault,
    PreFiltered,
    Probe,
    Probes,
    Scores,
    Status,
    Wait,
)
from kubesched.scheduler import build_frameworks
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod
from kubesched.testing.fake_cluster import minimal_profile


class Every(Plugin):
    """Has each hook of a cycle."""

    def pre_enqueue(self, pod):
        return Status.unschedulable("not yet") if pod.name == "gated" else Status.SUCCESS

    def pre_filter(self, state, pod, nodes):
        return Status.SUCCESS

    def filter_nodes(self, state, pod, nodes):
        return np.zeros(len(nodes), dtype=np.int16)

    def pre_score(self, state, pod, nodes):
        return Status.SUCCESS

    def score_nodes(self, state, pod, nodes):
        if pod.name == "fails":
            raise ValueError("no")
        return np.zeros(len(nodes), dtype=np.int64)

    def reserve(self, state, pod, node_name):
        return Status.SUCCESS

    def permit(self, state, pod, node_name):
        return Wait(3.0)

    async def pre_bind(self, state, pod, node_name):
        await asyncio.sleep(0)
        if pod.name == "fails":
            raise ValueError("no")
        return Status.SUCCESS


class Seen(Probe):
    """Keeps the steps, and what began and ended."""

    def __init__(self, *single_hooks: str) -> None:
        self.single_hooks = frozenset(single_hooks)
        self.profiles: list[str] = []
        self.began_points: list[str] = []
        self.steps: list[FrameworkStep] = []

    def watch(self, profile) -> None:
        self.profiles.append(profile.scheduler_name)

    def began(self, step: FrameworkStep) -> None:
        self.began_points.append(step.point)

    def ended(self, step: FrameworkStep) -> None:
        self.steps.append(step)

    @property
    def ends(self) -> list[tuple[str, str, Code]]:
        return [(step.point, step.plugin, step.status.code) for step in self.steps]


def framework_of(probe: Probe | None) -> Framework:
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node("n1")), ("Node", make_node("n2"))])
    return build_frameworks([minimal_profile(Every())], cluster_state, probe=probe)["default-scheduler"]


def cycle(framework: Framework, name: str = "web") -> CycleState:
    """PreFilter to Permit for a pod."""
    cluster_state, pod = framework.handle.cluster_state, make_pod(name)
    state = CycleState(cluster_state.pod_info(pod))
    nodes = cluster_state.snapshot().nodes
    result = NodeSearch(framework, state, nodes).filter(nodes, is_whole=True)
    framework.run_score(state, pod, result.feasible, is_whole=True)
    framework.run_reserve(state, pod, "n1")
    framework.run_permit(state, pod, "n1")
    return state


def test_the_steps_of_a_cycle_are_seen_in_order_with_how_they_ended() -> None:
    seen = Seen()
    framework = framework_of(seen)
    framework.run_pre_enqueue(make_pod("gated"))
    cycle(framework)
    assert seen.profiles == ["default-scheduler"]
    assert [(point, code) for point, _, code in seen.ends] == [
        ("PreEnqueue", Code.UNSCHEDULABLE),
        ("PreFilter", Code.SUCCESS),
        ("Filter", Code.SUCCESS),
        ("PreScore", Code.SUCCESS),
        ("Score", Code.SUCCESS),
        ("Reserve", Code.SUCCESS),
        ("Permit", Code.WAIT),
    ]
    assert seen.began_points == [step.point for step in seen.steps]
    answers = {step.point: type(step.answer) for step in seen.steps if step.answer is not None}
    assert answers == {"PreFilter": PreFiltered, "Filter": FilterResult, "Score": Scores}
    assert [step.n_nodes for step in seen.steps if step.point in ("Filter", "Score")] == [2, 2]


def test_a_step_that_fails_ends_with_its_fault() -> None:
    seen = Seen()
    framework = framework_of(seen)
    with pytest.raises(PluginFault):
        cycle(framework, "fails")
    assert seen.ends[-1] == ("Score", "", Code.ERROR)
    assert seen.steps[-1].answer is None


def test_a_what_if_question_is_not_a_step() -> None:
    seen = Seen()
    framework = framework_of(seen)
    state = cycle(framework)
    n_steps = len(seen.steps)
    framework.what_if(state, make_pod("web"), framework.handle.snapshot().nodes).filter()
    assert len(seen.steps) == n_steps


def test_single_plugins_are_steps_where_the_probe_wants_them() -> None:
    seen = Seen("pre_enqueue", "pre_bind")
    framework = framework_of(seen)
    framework.run_pre_enqueue(make_pod("gated"))
    assert seen.ends == [("PreEnqueue", "Every", Code.UNSCHEDULABLE), ("PreEnqueue", "", Code.UNSCHEDULABLE)]
    state = cycle(framework)
    (hook,) = framework.pre_binds
    asyncio.run(hook.call(state, make_pod("web"), "n1"))
    with pytest.raises(ValueError, match="no"):
        asyncio.run(hook.call(state, make_pod("fails"), "n1"))
    assert seen.ends[-2:] == [("PreBind", "Every", Code.SUCCESS), ("PreBind", "Every", Code.ERROR)]


def test_several_probes_see_the_same_steps() -> None:
    first, second = Seen("pre_bind"), Seen("reserve")
    cycle(framework_of(Probes(first, second)))
    assert first.steps == second.steps != []
    assert [step.point for step in first.steps if step.plugin] == ["Reserve"]


def test_a_framework_of_one_plugin_is_watched_too() -> None:
    seen = Seen()
    cycle(framework_of(seen).only("Every"))
    assert [step.point for step in seen.steps][:2] == ["PreFilter", "Filter"]
    assert seen.profiles == ["default-scheduler"]


def test_nobody_watches_without_a_probe() -> None:
    assert type(framework_of(None)) is Framework
