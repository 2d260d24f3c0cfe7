"""What is measured of a framework where a cycle does not take its usual course."""

from random import Random
from typing import Any

import numpy as np
import pytest

from kubesched.framework import Plugin, QueuedPodInfo, Status, Wait
from kubesched.metrics.step_metrics import PluginEvaluations, StepMetrics
from kubesched.scheduler import SchedulingCycle, TieBreak, build_frameworks, straight
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod
from kubesched.testing.fake_cluster import minimal_profile
from tests.tables import tables_of


class Answers(Plugin):
    """Gives the answers that it was made with."""

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self.answers = answers

    def _answer(self, hook: str, usual: Any = Status.SUCCESS) -> Any:
        answer = self.answers.get(hook, usual)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pre_filter(self, state, pod, nodes):
        return self._answer("pre_filter")

    def filter_nodes(self, state, pod, nodes):
        return self._answer("filter", np.zeros(len(nodes), dtype=np.int16))

    def post_filter(self, state, pod, diagnosis):
        return self._answer("post_filter", (None, Status.unschedulable()))

    def pre_score(self, state, pod, nodes):
        return self._answer("pre_score")

    def score_nodes(self, state, pod, nodes):
        return self._answer("score", np.zeros(len(nodes), dtype=np.int64))

    def reserve(self, state, pod, node_name):
        return self._answer("reserve")

    def permit(self, state, pod, node_name):
        return self._answer("permit")


class Second(Answers):
    """Another plugin, after the first."""


class Drawn(Random):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def random(self) -> float:
        return self.value


class Measured:
    """A cycle of two plugins over three nodes; its clock moves by a second whenever it is read."""

    def __init__(self, first: dict[str, Any], second: dict[str, Any] | None = None, *, drawn: float = 0.0) -> None:
        self.seconds = 0.0
        self.steps = StepMetrics(self._tick, Drawn(drawn))
        state = ClusterState()
        state.load([("Node", make_node(f"n{i}")) for i in range(3)])
        profile = minimal_profile(Answers(**first), Second(**(second or {})))
        self.framework = build_frameworks([profile], state, probe=self.steps)["default-scheduler"]
        pod = make_pod("p")
        cycle = SchedulingCycle(TieBreak.FIRST, Random(0))
        queued = QueuedPodInfo(pod, pod.key, 0.0)
        self.decision, self.state = straight(
            cycle.decide(self.framework, state.pod_info(pod), state.snapshot(), queued)
        )

    def _tick(self) -> float:
        self.seconds += 1.0
        return self.seconds

    def read(self, family: str) -> dict[str, float]:
        """The counts of a family, those of the plugins of this test only."""
        found = next(one for one in self.steps.families() if one.name == f"scheduler_{family}")
        return {
            " ".join(value for label, value in sample.labels.items() if label != "profile"): sample.value
            for sample in found.samples
            if sample.name.endswith(("_count", "_total"))
            and sample.value
            and sample.labels.get("plugin", "Answers") in ("Answers", "Second")
        }

    @property
    def points(self) -> dict[str, float]:
        return self.read("framework_extension_point_duration_seconds")

    @property
    def plugins(self) -> dict[str, float]:
        return self.read("plugin_execution_duration_seconds")

    @property
    def evaluated(self) -> dict[str, float]:
        return self.read("plugin_evaluation")


def test_a_fault_in_pre_filter_is_an_error_and_the_plugins_behind_it_do_not_run() -> None:
    measured = Measured({"pre_filter": ValueError("no")})
    assert measured.points == {"PreFilter Error": 1}
    assert measured.plugins == {"PreFilter Answers Error": 1}
    assert measured.evaluated == {"PreFilter Answers": 1}


def test_a_plugin_that_skips_is_not_evaluated() -> None:
    measured = Measured({"pre_filter": Status.SKIP, "pre_score": Status.SKIP})
    assert measured.plugins["PreFilter Answers Skip"] == 1
    assert measured.plugins["PreScore Answers Skip"] == 1
    assert measured.evaluated == {"PreFilter Second": 1, "Filter Second": 3, "PreScore Second": 1, "Score Second": 3}


def test_a_rejection_by_pre_filter_is_followed_by_post_filter() -> None:
    measured = Measured({"pre_filter": Status.unschedulable("no")})
    assert measured.points == {"PreFilter Unschedulable": 1, "PostFilter Unschedulable": 1}
    assert measured.evaluated == {"PreFilter Answers": 1, "PreFilter Second": 1}


def test_a_fault_in_filter_is_an_error() -> None:
    measured = Measured({"filter": ValueError("no")})
    assert measured.points["Filter Error"] == 1
    assert measured.plugins["Filter Answers Unschedulable"] == 1


@pytest.mark.parametrize(("hook", "point"), [("pre_score", "PreScore"), ("score", "Score")])
def test_a_fault_in_scoring_is_an_error_of_its_plugin(hook: str, point: str) -> None:
    measured = Measured({hook: ValueError("no")})
    assert measured.points[f"{point} Error"] == 1
    assert measured.plugins[f"{point} Answers Error"] == 1
    assert not measured.decision.outcome.status.is_success


def test_plugins_are_measured_only_in_cycles_that_are_drawn() -> None:
    measured = Measured({}, drawn=0.1)
    assert measured.plugins == {}
    assert measured.points == {"PreFilter Success": 1, "Filter Success": 1, "PreScore Success": 1, "Score Success": 1}
    assert Measured({}, drawn=0.09).plugins != {}


def test_a_question_of_preemption_is_no_filter_of_the_cycle() -> None:
    measured = Measured({})
    framework = measured.framework
    before = measured.points["Filter Success"]
    nodes = framework.handle.cluster_state.snapshot().nodes
    framework.what_if(measured.state, measured.decision.pod, nodes).filter()
    assert measured.points["Filter Success"] == before


def test_the_node_is_taken_under_the_names_of_its_steps() -> None:
    measured = Measured({"permit": Wait(3.0), "reserve": Status.unschedulable("no")})
    pod = measured.decision.pod
    measured.framework.run_reserve(measured.state, pod, "n0")
    measured.framework.run_unreserve(measured.state, pod, "n0")
    measured.framework.run_permit(measured.state, pod, "n0")
    taken = {point: n for point, n in measured.points.items() if point.split()[0] in ("Reserve", "Unreserve", "Permit")}
    assert taken == {"Reserve Unschedulable": 1, "Unreserve Success": 1, "Permit Wait": 1}


def test_evaluations_are_counted_in_bounded_memory_whatever_plugins_are_left_out() -> None:
    """Each of ten plugins is left out of half of the sets."""
    plugins = [f"p{i}" for i in range(10)]
    evaluations = PluginEvaluations("default-scheduler", "Filter", plugins)
    lengths = []
    for i in range(2**10):
        evaluations.add({name for bit, name in enumerate(plugins) if i >> bit & 1}, 3)
        lengths.append(tables_of(evaluations)["PluginEvaluations._counts"])
    assert max(lengths) < 100
    assert [n for _, n in evaluations.totals()] == [3 * 2**9] * 10
