"""A Framework that measures its plugins: each extension point in every cycle, each plugin in one cycle of ten.

Rule: kube-scheduler v1.36 framework_extension_point_duration_seconds, plugin_execution_duration_seconds and
plugin_evaluation_total. A plugin judges all nodes of a cycle in one call, so its Filter and Score are one observation
per cycle instead of one per node; the time includes what the framework does to keep the plugin's column. Filter has the
status Unschedulable if the plugin rejected any node.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from random import Random
from typing import Any, Final

from kubesched.api import Pod
from kubesched.framework import (
    HOOK_FAULTS,
    Code,
    ColumnCache,
    CycleState,
    Diagnosis,
    FilterResult,
    Framework,
    Hook,
    MovedPods,
    PluginFault,
    PostFiltered,
    PreFiltered,
    Profile,
    Scores,
    Services,
    Status,
)
from kubesched.metrics.families import Counters, Histogram, Histograms, exponential
from kubesched.state import ClusterState, Nodes

OnRan = Callable[[str, Status, float, Pod], None]

_SAMPLED: Final = 0.1  # of the cycles, for single plugins
_SUCCESS, _SKIP, _UNSCHEDULABLE = Code.SUCCESS.value, Code.SKIP.value, Code.UNSCHEDULABLE.value
_AWAITED: Final = {"pre_bind": "PreBind", "bind": "Bind"}


class Laps:
    """Adds up the time of each plugin between one checkpoint and the next; the checkpoint of a cycle that is timed."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._plugin = ""
        self._began = 0.0
        self._seconds: dict[str, float] = {}

    def __call__(self, plugin: str) -> None:
        """Stop the plugin that ran and start another one."""
        if plugin == self._plugin:
            return
        now = self._clock()
        self._stop(now)
        self._plugin, self._began = plugin, now

    def finish(self) -> dict[str, float]:
        """Stop. Returns: seconds by plugin since the last time this was called."""
        self._stop(self._clock())
        self._plugin = ""
        seconds, self._seconds = self._seconds, {}
        return seconds

    def _stop(self, now: float) -> None:
        if self._plugin:
            self._seconds[self._plugin] = self._seconds.get(self._plugin, 0.0) + now - self._began


class Evaluations:
    """Counts the evaluations of the plugins of one extension point, by the set of plugins that were left out.

    Most pods leave out the same plugins, so that one addition counts for all others.
    """

    def __init__(self, profile: str, point: str, plugins: Sequence[str]) -> None:
        self._labels = (point, profile)
        self._plugins = plugins
        self._counts: dict[frozenset[str], int] = {}

    def add(self, left_out: frozenset[str], n: int) -> None:
        """Count n evaluations by each of the other plugins."""
        self._counts[left_out] = self._counts.get(left_out, 0) + n

    def totals(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """(extension point, plugin, profile) and the count; also for plugins that were never asked."""
        point, profile = self._labels
        counts = list(self._counts.items())
        for plugin in self._plugins:
            yield (point, plugin, profile), sum(n for left_out, n in counts if plugin not in left_out)


class PluginTimes:
    """What the TimedFrameworks of all profiles measure.

    Args:
        clock: seconds, for durations.
        rng: draws the cycles in which single plugins are measured.
        on_ran: called for each extension point that ended: its label, its status, when it began, and the pod.
    Attributes:
        points: by extension_point, profile and status.
        plugins: by extension_point, plugin and status.
    """

    def __init__(self, clock: Callable[[], float], rng: Random, on_ran: OnRan | None = None) -> None:
        self.clock = clock
        self.on_ran = on_ran
        self._rng = rng
        self._evaluations: list[Evaluations] = []
        self.points = Histograms(
            "scheduler_framework_extension_point_duration_seconds",
            "Latency for running all plugins of a specific extension point.",
            exponential(0.0001, 2, 12),
            ("extension_point", "profile", "status"),
        )
        self.plugins = Histograms(
            "scheduler_plugin_execution_duration_seconds",
            "Duration for running a plugin at a specific extension point, over all nodes, in one cycle of ten.",
            exponential(0.00001, 1.5, 20),
            ("extension_point", "plugin", "status"),
        )
        self._evaluated = Counters(
            "scheduler_plugin_evaluation",
            "Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, "
            "Filter, PreScore, and Score). Filter and Score count nodes.",
            ("extension_point", "plugin", "profile"),
        )

    def framework(
        self, profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services
    ) -> Framework:
        """Make the framework of a profile, as the class Framework does."""
        return TimedFramework(profile, cache, cluster_state, services, self)

    def evaluations(self, profile: Profile, point: str, label: str) -> Evaluations:
        """Count the plugins of an extension point.

        Args:
            point: as in configuration files.
            label: as in metrics.
        """
        plugins = [plugin.name for plugin in profile.points[point]]
        counted = Evaluations(profile.scheduler_name, label, plugins)
        self._evaluations.append(counted)
        return counted

    def laps(self) -> Laps | None:
        """What measures the plugins of a new cycle; None in nine cycles of ten."""
        return Laps(self.clock) if self._rng.random() < _SAMPLED else None

    def families(self) -> Iterator[Any]:
        """What was measured so far."""
        yield self.points.family()
        yield self.plugins.family()
        yield self._evaluated.family(total for counted in list(self._evaluations) for total in counted.totals())


class TimedFramework(Framework):
    """Overrides the steps of a cycle to measure them. Dry runs of preemption count for PostFilter alone."""

    def __init__(
        self, profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services, times: PluginTimes
    ) -> None:
        """Run a profile's plugins, and measure them."""
        self._times = times
        self._clock = times.clock
        self._histograms: dict[tuple[str, Code], Histogram] = {}  # by extension point
        super().__init__(profile, cache, cluster_state, services)
        self._pre_filtered = times.evaluations(profile, "preFilter", "PreFilter")
        self._filtered = times.evaluations(profile, "filter", "Filter")
        self._pre_scored = times.evaluations(profile, "preScore", "PreScore")
        self._scored = times.evaluations(profile, "score", "Score")
        self._left_out: frozenset[str] = frozenset()
        self._score_began: float | None = None

    # --- the queue ---

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status:
        """As Framework, measured."""
        began = self._clock()
        status = super().run_pre_enqueue(pod, first)
        self._ran("PreEnqueue", status, began, pod)
        return status

    # --- the nodes that fit ---

    def run_pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> PreFiltered:
        """As Framework, measured; the first step of a cycle, which decides whether plugins are measured one by one."""
        laps = state.checkpoint = self._times.laps()
        began = self._clock()
        result = super().run_pre_filter(state, pod, nodes)
        status = result.status
        self._ran("PreFilter", status, began, pod)
        self._left_out = frozenset(state.skip_filter)
        if status is Status.SUCCESS:
            self._pre_filtered.add(self._left_out, 1)
        else:
            self._pre_filtered.add(self._left_out | self._behind(status), 1)
        if laps is not None:
            self._note("PreFilter", laps, state.skip_filter, status)
        return result

    def _behind(self, status: Status) -> set[str]:
        """The PreFilter plugins behind the one that ended PreFilter; a plain Unschedulable does not end it."""
        names = [name for name, _ in self._pre_filter]
        ends = status.code is not Code.UNSCHEDULABLE and status.plugin in names
        return set(names[names.index(status.plugin) + 1 :]) if ends else set()

    def run_filter_with_nominated(
        self, state: CycleState, pod: Pod, nodes: Nodes, *, is_whole: bool = False
    ) -> FilterResult:
        """As Framework, measured."""
        began = self._clock()
        result = super().run_filter_with_nominated(state, pod, nodes, is_whole=is_whole)
        self._ran("Filter", (result.failure if result.rejections else None) or Status.SUCCESS, began, pod)
        self._filtered.add(self._left_out, len(nodes))
        if isinstance(state.checkpoint, Laps):
            rejecting = {rejection.plugin for rejection in result.rejections}
            for plugin, seconds in state.checkpoint.finish().items():
                status = _UNSCHEDULABLE if plugin in rejecting else _SUCCESS
                self._times.plugins.of("Filter", plugin, status).observe(seconds)
        return result

    def what_if(self, state: CycleState, pod: Pod, nodes: Nodes) -> MovedPods:
        """As Framework, and nothing is measured: what-if questions are part of other steps."""
        return MovedPods(super().run_filter_with_nominated, self._pods_moved, state, pod, nodes)

    async def run_post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis, answers: list[Status] | None = None
    ) -> PostFiltered:
        """As Framework, measured."""
        if isinstance(state.checkpoint, Laps):
            state.checkpoint = None
        began = self._clock()
        result, status = await super().run_post_filter(state, pod, diagnosis, answers)
        self._ran("PostFilter", status, began, pod)
        return result, status

    # --- the scores ---

    def run_score(self, state: CycleState, pod: Pod, result: FilterResult, *, is_whole: bool) -> Scores:
        """As Framework, measured."""
        status = Status.SUCCESS
        try:
            scores = super().run_score(state, pod, result, is_whole=is_whole)
        except PluginFault as fault:
            status = fault.status
            raise
        finally:
            if self._score_began is not None:
                self._ran("Score", status, self._score_began, pod)
                self._scored.add(self._left_out, len(result.feasible))
                if isinstance(state.checkpoint, Laps):
                    self._note("Score", state.checkpoint, frozenset(), status)
        return scores

    def _run_pre_score(self, state: CycleState, pod: Pod, feasible: Nodes) -> None:
        self._score_began = None  # until PreScore is over
        began = self._clock()
        status = Status.SUCCESS
        try:
            super()._run_pre_score(state, pod, feasible)
        except PluginFault as fault:
            status = fault.status
            raise
        finally:
            self._ran("PreScore", status, began, pod)
            self._left_out = frozenset(state.skip_score)
            self._pre_scored.add(self._left_out, 1)
            if isinstance(state.checkpoint, Laps):
                self._note("PreScore", state.checkpoint, state.skip_score, status)
        self._score_began = self._clock()

    # --- the node is taken ---

    def run_reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """As Framework, measured."""
        began = self._clock()
        status = super().run_reserve(state, pod, node_name)
        self._ran("Reserve", status, began, pod)
        return status

    def run_unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """As Framework, measured."""
        began = self._clock()
        super().run_unreserve(state, pod, node_name)
        self._ran("Unreserve", Status.SUCCESS, began, pod)

    def run_permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status, dict[str, float]]:
        """As Framework, measured."""
        began = self._clock()
        status, waits = super().run_permit(state, pod, node_name)
        self._ran("Permit", Status(Code.WAIT) if waits and status.is_success else status, began, pod)
        return status, waits

    def _hooks(self, point: str, method: str, what: str) -> list[Hook]:
        """As Framework; those of the binding cycle are measured one by one."""
        hooks = super()._hooks(point, method, what)
        if method in _AWAITED:
            for hook in hooks:
                hook.call = self._timed(hook, _AWAITED[method])
        return hooks

    def _timed(self, hook: Hook, point: str) -> Callable[..., Awaitable[object]]:
        call = hook.call

        async def timed(state: CycleState, pod: Pod, node_name: str) -> object:
            began = self._clock()
            try:
                answer: object = call(state, pod, node_name)
                if inspect.isawaitable(answer):
                    answer = await answer
            except HOOK_FAULTS:
                self._awaited(point, hook.plugin, Status(Code.ERROR), began, state, pod)
                raise
            status = answer if isinstance(answer, Status) else Status.SUCCESS
            self._awaited(point, hook.plugin, status, began, state, pod)
            return answer

        return timed

    # --- what was measured ---

    def _ran(self, point: str, status: Status, began: float, pod: Pod) -> None:
        """An extension point ended."""
        seconds = self._clock() - began
        if self._times.on_ran is not None:
            self._times.on_ran(point, status, began, pod)
        histogram = self._histograms.get((point, status.code))
        if histogram is None:
            histogram = self._times.points.of(point, self.profile.scheduler_name, status.code.value)
            self._histograms[point, status.code] = histogram
        histogram.observe(seconds)

    def _awaited(self, point: str, plugin: str, status: Status, began: float, state: CycleState, pod: Pod) -> None:
        """A hook of the binding cycle ended; usually a profile has one for each extension point."""
        self._ran(point, status, began, pod)
        if isinstance(state.checkpoint, Laps):
            self._times.plugins.of(point, plugin, status.code.value).observe(self._clock() - began)

    def _note(self, point: str, laps: Laps, skipped: AbstractSet[str], status: Status) -> None:
        """The plugins of an extension point ended; `status` is that of the whole, under the name of its plugin."""
        for plugin, seconds in laps.finish().items():
            code = _SKIP if plugin in skipped else status.code.value if plugin == status.plugin else _SUCCESS
            self._times.plugins.of(point, plugin, code).observe(seconds)
