"""A Framework that reports its steps to a probe."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Final

from kubesched.api import Pod
from kubesched.framework.column_cache import ColumnCache
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.framework import Framework, PreFiltered
from kubesched.framework.hook_answers import Hook
from kubesched.framework.moved_pods import MovedPods
from kubesched.framework.probes import FrameworkStep, Probe
from kubesched.framework.profile import Profile
from kubesched.framework.scores import Scores
from kubesched.framework.services import Services
from kubesched.framework.status import HOOK_FAULTS, Code, PluginFault, PostFiltered, Status
from kubesched.framework.verdicts import FilterResult
from kubesched.state import ClusterState, Nodes, Snapshot

_POINTS: Final = {
    "pre_enqueue": "PreEnqueue",
    "reserve": "Reserve",
    "pre_bind_pre_flight": "PreBindPreFlight",
    "pre_bind": "PreBind",
    "bind": "Bind",
}


class WatchedFramework(Framework):
    """Overrides each step to report it, and asks plugins as Framework does."""

    def __init__(
        self, profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services, probe: Probe
    ) -> None:
        """Run a profile's plugins, and report to a probe."""
        self._probe = probe
        self._first: FrameworkStep | None = None  # of a cycle whose plugins were not asked yet
        super().__init__(profile, cache, cluster_state, services)

    def _of(self, profile: Profile) -> Framework:
        return WatchedFramework(profile, self.cache, self.handle.cluster_state, self.handle, self._probe)

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status:
        """As Framework."""
        step = self._begin("PreEnqueue", pod)
        return self._end(step, super().run_pre_enqueue(pod, first))

    def run_pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> PreFiltered:
        """As Framework; the first step of a cycle."""
        step, self._first = self._first, None
        if step is None or step.state is not state:
            step = self._begin("PreFilter", pod, state)
        step.answer = result = super().run_pre_filter(state, pod, nodes)
        self._end(step, result.status)
        return result

    def run_filter_with_nominated(
        self, state: CycleState, pod: Pod, nodes: Nodes, *, is_whole: bool = False
    ) -> FilterResult:
        """As Framework."""
        step = self._begin("Filter", pod, state, len(nodes))
        step.answer = result = super().run_filter_with_nominated(state, pod, nodes, is_whole=is_whole)
        self._end(step, (result.failure if result.rejections else None) or Status.SUCCESS)
        return result

    def what_if(self, state: CycleState, pod: Pod, nodes: Nodes) -> MovedPods:
        """As Framework; its filters are part of the step that asks."""
        return MovedPods(super().run_filter_with_nominated, self._pods_moved, state, pod, nodes)

    async def run_post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis, answers: list[Status] | None = None
    ) -> PostFiltered:
        """As Framework."""
        step = self._begin("PostFilter", pod, state)
        result, status = await super().run_post_filter(state, pod, diagnosis, answers)
        self._end(step, status)
        return result, status

    def _run_pre_score(self, state: CycleState, pod: Pod, feasible: Nodes) -> None:
        step = self._begin("PreScore", pod, state)
        try:
            super()._run_pre_score(state, pod, feasible)
        except PluginFault as fault:
            step.status = fault.status
            raise
        finally:
            self._probe.ended(step)

    def _run_score(self, state: CycleState, pod: Pod, feasible: Nodes, *, is_whole: bool) -> Scores:
        step = self._begin("Score", pod, state, len(feasible))
        try:
            step.answer = scores = super()._run_score(state, pod, feasible, is_whole=is_whole)
        except PluginFault as fault:
            step.status = fault.status
            raise
        finally:
            self._probe.ended(step)
        return scores

    def scores_as_before(self, state: CycleState, snapshot: Snapshot) -> Scores | None:
        """As Framework; the four steps take as long as the first. None where a probe measures single plugins."""
        self._first = first = self._begin("PreFilter", state.pod.pod, state)
        scores = super().scores_as_before(state, snapshot) if state.checkpoint is None else None
        if scores is not None:
            self._first = None
            answers = PreFiltered(), self._equal_pods.result(), None, scores
            for point, answer in zip(("PreFilter", "Filter", "PreScore", "Score"), answers, strict=True):
                n_nodes = {"Filter": snapshot.n_nodes, "Score": scores.nodes.n}.get(point, 0)
                step = first if point == "PreFilter" else self._begin(point, state.pod.pod, state, n_nodes)
                step.answer = answer
                self._end(step, Status.SUCCESS)
        return scores

    def run_reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """As Framework."""
        step = self._begin("Reserve", pod, state)
        return self._end(step, super().run_reserve(state, pod, node_name))

    def run_unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """As Framework."""
        step = self._begin("Unreserve", pod, state)
        super().run_unreserve(state, pod, node_name)
        self._probe.ended(step)

    def run_permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status, dict[str, float]]:
        """As Framework."""
        step = self._begin("Permit", pod, state)
        status, waits = super().run_permit(state, pod, node_name)
        self._end(step, Status(Code.WAIT) if waits and status.is_success else status)
        return status, waits

    # --- single plugins ---

    def _hooks(self, point: str, method: str, what: str) -> list[Hook]:
        hooks = super()._hooks(point, method, what)
        if method in self._probe.single_hooks:
            for hook in hooks:
                hook.call = self._watched(hook, _POINTS[method])
        return hooks

    def _watched(self, hook: Hook, point: str) -> Callable[..., object]:
        """The hook as a step; its arguments are (state, pod, node name), or the pod alone."""
        call = hook.call

        def watched(*arguments: object) -> object:
            state, pod = arguments[:2] if len(arguments) > 1 else (None, arguments[0])
            step = self._begin(point, pod, state, 0, hook.plugin)  # type: ignore[arg-type]
            try:
                answer: object = call(*arguments)
            except HOOK_FAULTS:
                self._end(step, Status(Code.ERROR))
                raise
            if not isinstance(answer, Status) and inspect.isawaitable(answer):
                return self._awaited(step, answer)
            self._end(step, answer if isinstance(answer, Status) else Status.SUCCESS)
            return answer

        return watched

    async def _awaited(self, step: FrameworkStep, awaited: Awaitable[object]) -> object:
        try:
            answer = await awaited
        except HOOK_FAULTS:
            self._end(step, Status(Code.ERROR))
            raise
        self._end(step, answer if isinstance(answer, Status) else Status.SUCCESS)
        return answer

    # --- the probe ---

    def _begin(
        self, point: str, pod: Pod, state: CycleState | None = None, n_nodes: int = 0, plugin: str = ""
    ) -> FrameworkStep:
        step = FrameworkStep(point, self.profile.scheduler_name, pod, state, n_nodes, plugin)
        self._probe.began(step)
        return step

    def _end(self, step: FrameworkStep, status: Status) -> Status:
        step.status = status
        self._probe.ended(step)
        return status
