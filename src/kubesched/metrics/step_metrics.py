"""Measures the steps of frameworks: each extension point in every cycle, each plugin in one cycle of ten.

Rule: kube-scheduler v1.36 framework_extension_point_duration_seconds, plugin_execution_duration_seconds and
plugin_evaluation_total. A plugin judges all nodes of a cycle in one call, so its Filter and Score are one observation
per cycle instead of one per node; the time includes what the framework does to keep the plugin's column. Filter has the
status Unschedulable if the plugin rejected any node.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from random import Random
from typing import Any, Final

from kubesched.framework import Code, FilterResult, FrameworkStep, Laps, Probe, Profile, Status
from kubesched.metrics.families import Counters, Histogram, Histograms, exponential

_SAMPLED: Final = 0.1  # of the cycles, for single plugins
_SUCCESS, _SKIP, _UNSCHEDULABLE = Code.SUCCESS.value, Code.SKIP.value, Code.UNSCHEDULABLE.value
_EVALUATED: Final = {"preFilter": "PreFilter", "filter": "Filter", "preScore": "PreScore", "score": "Score"}
_AWAITED: Final = ("PreBind", "Bind")
_OF_FILTER: Final = ("PreFilter", "Filter")
_ONCE: Final = ("PreFilter", "PreScore")  # once for all nodes
_NONE: Final = frozenset[str]()
_MAX_SETS: Final = 64


class PluginEvaluations:
    """Counts the evaluations of the plugins of one extension point, by the set of plugins that were left out.

    Most pods leave out the same plugins, so that one addition counts for all others.
    """

    def __init__(self, profile: str, point: str, plugins: Sequence[str]) -> None:
        self._labels = (point, profile)
        self._plugins = plugins
        self._counts: tuple[dict[str, int], dict[frozenset[str], int]] = {}, {}  # by plugin, and not yet in these
        self._last: frozenset[str] = _NONE

    def add(self, left_out: AbstractSet[str], n: int) -> None:
        """Count n evaluations by each of the other plugins."""
        if left_out != self._last:
            self._last = frozenset(left_out)
        by_set = self._counts[1]
        by_set[self._last] = by_set.get(self._last, 0) + n
        if len(by_set) > _MAX_SETS:
            self._counts = dict(self._by_plugin()), {}

    def totals(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """(extension point, plugin, profile) and the count; also for plugins that were never asked."""
        point, profile = self._labels
        for plugin, n in self._by_plugin():
            yield (point, plugin, profile), n

    def _by_plugin(self) -> Iterator[tuple[str, int]]:
        by_plugin, by_set = self._counts
        counts = list(by_set.items())
        for plugin in self._plugins:
            yield plugin, by_plugin.get(plugin, 0) + sum(n for left_out, n in counts if plugin not in left_out)


class StepMetrics(Probe):
    """What the frameworks of all profiles do, as metrics. What-if questions of preemption count for PostFilter alone.

    Args:
        clock: seconds, for durations.
        rng: draws the cycles in which single plugins are measured.
    Attributes:
        points: by extension_point, profile and status.
        plugins: by extension_point, plugin and status.
        profiles: the scheduler names of the frameworks.
    """

    single_hooks = frozenset(("pre_bind", "bind"))

    def __init__(self, clock: Callable[[], float], rng: Random) -> None:
        self.profiles: set[str] = set()
        self._clock = clock
        self._rng = rng
        self._evaluations: dict[tuple[str, str], PluginEvaluations] = {}  # by profile and extension point
        self._pre_filters: dict[str, list[str]] = {}  # the plugins, by profile
        self._histograms: dict[tuple[str, str, Code], Histogram] = {}  # by extension point and profile
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

    def families(self) -> Iterator[Any]:
        """What was measured so far."""
        yield self.points.family()
        yield self.plugins.family()
        counted = list(self._evaluations.values())
        yield self._evaluated.family(total for evaluations in counted for total in evaluations.totals())

    # --- the steps ---

    def watch(self, profile: Profile) -> None:
        """Count the evaluations of its plugins, from 0 on."""
        name = profile.scheduler_name
        self.profiles.add(name)
        self._pre_filters[name] = [plugin.name for plugin in profile.points["preFilter"]]
        for point, label in _EVALUATED.items():
            plugins = [plugin.name for plugin in profile.points[point]]
            self._evaluations[name, label] = PluginEvaluations(name, label, plugins)

    def began(self, step: FrameworkStep) -> None:
        """Note when. PreFilter begins a cycle, and decides whether its plugins are measured one by one."""
        state = step.state
        if step.point == "PreFilter" and state is not None:
            state.checkpoint = Laps(self._clock) if self._rng.random() < _SAMPLED else None
        elif step.point == "PostFilter" and state is not None and isinstance(state.checkpoint, Laps):
            state.checkpoint = None
        step.began = self._clock()

    def ended(self, step: FrameworkStep) -> None:
        """Observe the time that it took, and what its plugins took; count the evaluations."""
        point, state, code = step.point, step.state, step.status.code
        if step.plugin and point not in _AWAITED:
            return
        seconds = self._clock() - step.began
        key = point, step.profile, code
        histogram = self._histograms.get(key)
        if histogram is None:
            histogram = self._histograms[key] = self.points.of(point, step.profile, code.value)
        histogram.observe(seconds)
        if state is None:
            return
        laps = state.checkpoint if isinstance(state.checkpoint, Laps) else None
        if step.plugin:  # its extension point usually has no other plugin
            if laps is not None:
                self.plugins.of(point, step.plugin, code.value).observe(self._clock() - step.began)
        elif (evaluations := self._evaluations.get((step.profile, point))) is not None:
            skipped = state.skip_filter if point in _OF_FILTER else state.skip_score
            behind = () if step.status is Status.SUCCESS else self._behind(step)
            evaluations.add(skipped.union(behind) if behind else skipped, 1 if point in _ONCE else step.n_nodes)
            if laps is not None:
                self._note(step, skipped if point in _ONCE else _NONE, laps)

    def _behind(self, step: FrameworkStep) -> Collection[str]:
        """The PreFilter plugins behind the one that ended PreFilter; a plain Unschedulable does not end it."""
        if step.point != "PreFilter" or step.status is Status.SUCCESS or step.status.code is Code.UNSCHEDULABLE:
            return ()
        names = self._pre_filters[step.profile]
        return names[names.index(step.status.plugin) + 1 :] if step.status.plugin in names else ()

    def _note(self, step: FrameworkStep, skipped: Collection[str], laps: Laps) -> None:
        """Observe the time of each plugin of an extension point; the status of the whole has the name of its plugin."""
        rejecting = {one.plugin for one in step.answer.rejections} if isinstance(step.answer, FilterResult) else _NONE
        for plugin, seconds in laps.finish().items():
            if step.point == "Filter":
                label = _UNSCHEDULABLE if plugin in rejecting else _SUCCESS
            elif plugin in skipped:
                label = _SKIP
            else:
                label = step.status.code.value if plugin == step.status.plugin else _SUCCESS
            self.plugins.of(step.point, plugin, label).observe(seconds)
