"""Measures which plugins, other than in-tree ones, take the time of a run."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import Final

import msgspec

from kubesched.framework import FrameworkStep, Laps, Probe, Profile

_LEAST_SHARE: Final = 0.5
_NO_TIMES: Mapping[str, float] = {}


class PluginTimes(msgspec.Struct, frozen=True):
    """How long runs took, and how much of that single plugins took.

    Attributes:
        seconds: of all runs.
        by_plugin: seconds by plugin, without in-tree plugins.
    """

    seconds: float = 0.0
    by_plugin: Mapping[str, float] = _NO_TIMES

    def __add__(self, other: "PluginTimes") -> "PluginTimes":
        """Those of further runs, too."""
        plugins = {*self.by_plugin, *other.by_plugin}
        by_plugin = {name: self.by_plugin.get(name, 0.0) + other.by_plugin.get(name, 0.0) for name in plugins}
        return PluginTimes(self.seconds + other.seconds, by_plugin)

    @property
    def slowest(self) -> tuple[str, float] | None:
        """The plugin that takes more than half of the time, with its share; None if none does."""
        shares = ((plugin, min(seconds / self.seconds, 1.0)) for plugin, seconds in self.by_plugin.items())
        return next((one for one in shares if one[1] > _LEAST_SHARE), None)


class PluginClock(Probe):
    """Measures the plugins of some profiles that are not in-tree, in every cycle.

    Args:
        clock: seconds.
    Attributes:
        plugins: their names; without any, there is nothing to measure.

    Example:
        clock = PluginClock(setup.profiles)
        Simulator(snapshot, setup.watched_by(clock)).run()
        print(clock.take().slowest)
    """

    single_hooks = frozenset(("pre_enqueue", "reserve", "pre_bind_pre_flight", "pre_bind", "bind"))

    def __init__(self, profiles: Iterable[Profile], clock: Callable[[], float] = perf_counter) -> None:
        plugins = {plugin for profile in profiles for plugin in profile.plugins}
        self.plugins = frozenset(
            plugin.name for plugin in plugins if type(plugin).__module__.partition(".")[0] != "kubesched"
        )
        self._clock = clock
        self._laps = Laps(clock)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._since = clock()

    def take(self) -> PluginTimes:
        """The times since this was last called, or since the clock was made."""
        self._stop()
        now = self._clock()
        times = PluginTimes(now - self._since, dict(self._seconds))
        self._since = now
        self._seconds.clear()
        return times

    def began(self, step: FrameworkStep) -> None:
        """Measure the plugins of a cycle from PreFilter on."""
        if step.plugin:
            step.began = self._clock()
        elif step.point == "PreFilter" and step.state is not None:
            step.state.checkpoint = self._laps

    def ended(self, step: FrameworkStep) -> None:
        """Add up."""
        if not step.plugin:
            self._stop()
        elif step.plugin in self.plugins:
            self._seconds[step.plugin] += self._clock() - step.began

    def _stop(self) -> None:
        for plugin, seconds in self._laps.finish().items():
            if plugin in self.plugins:
                self._seconds[plugin] += seconds
