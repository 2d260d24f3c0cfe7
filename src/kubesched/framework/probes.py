"""What watches frameworks: a probe sees each step of a cycle, for times, traces, and looks at single answers.

A probe is part of a Setup. Without one, frameworks do nothing for it. Between two plugins of a step, and after each
node of a rule written per node, a framework calls the `checkpoint` of the cycle's state: of a deadline, or of a probe
that measures single plugins and sets it when PreFilter begins.
"""

from collections.abc import Callable

import msgspec

from kubesched.api import Pod
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.profile import Profile
from kubesched.framework.status import Status


class FrameworkStep(msgspec.Struct, eq=False, gc=False):
    """One extension point in one cycle, or one of its plugins.

    Attributes:
        point: the extension point as kube-scheduler's metrics name it, such as `PreFilter`.
        profile: the scheduler name.
        pod: the pod that it is about.
        state: of the cycle; None in PreEnqueue.
        n_nodes: how many nodes Filter and Score look at.
        plugin: the plugin, if the step is one plugin alone; empty for an extension point.
        status: how it ended.
        answer: what PreFilter, Filter and Score end with, without a fault: PreFiltered, FilterResult, Scores.
        began: for a probe that measures: when it began.
    """

    point: str
    profile: str
    pod: Pod
    state: CycleState | None = None
    n_nodes: int = 0
    plugin: str = ""
    status: Status = Status.SUCCESS
    answer: object = None
    began: float = 0.0


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


class Probe:
    """Watches frameworks. Each method does nothing; override those that you need.

    What-if questions of preemption and of nominated pods are part of a step, and no separate steps.

    Attributes:
        single_hooks: the hooks that are also steps plugin by plugin, such as `bind`; of those that return a Status.
    """

    single_hooks: frozenset[str] = frozenset()

    def watch(self, profile: Profile) -> None:
        """A framework of this profile was made."""

    def began(self, step: FrameworkStep) -> None:
        """A step begins."""

    def ended(self, step: FrameworkStep) -> None:
        """A step ended, also with a fault."""


class Probes(Probe):
    """Several probes, called in this order."""

    def __init__(self, *probes: Probe) -> None:
        self._probes = probes
        self.single_hooks = frozenset().union(*(probe.single_hooks for probe in probes))

    def watch(self, profile: Profile) -> None:
        """Pass it on."""
        for probe in self._probes:
            probe.watch(profile)

    def began(self, step: FrameworkStep) -> None:
        """Pass it on."""
        for probe in self._probes:
            probe.began(step)

    def ended(self, step: FrameworkStep) -> None:
        """Pass it on."""
        for probe in self._probes:
            probe.ended(step)
