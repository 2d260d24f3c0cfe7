"""Measures which plugins take the time of a run. A thread looks fifty times a second at what is running."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from types import CodeType
from typing import Final

import msgspec

from kubesched.setup.setup import Setup

_INTERVAL: Final = 0.02
_LEAST_SHARE: Final = 0.5


class PluginTimes(msgspec.Struct):
    """How long runs took, and what was seen running; in-tree plugins are not told apart.

    Attributes:
        seconds: of all runs.
        seen: plugin -> how often; under an empty name for everything else.
    """

    seconds: float = 0.0
    seen: dict[str, int] = {}

    def add(self, other: "PluginTimes") -> None:
        """Count further runs."""
        self.seconds += other.seconds
        self.seen = dict(Counter(self.seen) + Counter(other.seen))

    @property
    def slowest(self) -> tuple[str, float] | None:
        """The plugin that takes more than half of the time, with its share; None if none does."""
        n_seen = sum(self.seen.values())
        shares = ((plugin, n / n_seen) for plugin, n in self.seen.items() if plugin)
        return next((one for one in shares if one[1] > _LEAST_SHARE), None)


@contextmanager
def timed_plugins(setup: Setup) -> Iterator[PluginTimes]:
    """Measure the block; the times are complete at its end, and stay empty if all plugins are in-tree.

    Example:
        with timed_plugins(setup) as times:
            Simulator(snapshot, setup).run()
        print(times.slowest)
    """
    times = PluginTimes()
    plugin_of = _code(setup)
    if not plugin_of:
        yield times
        return
    seen: Counter[str] = Counter()
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(threading.get_ident(), plugin_of, seen, ended), daemon=True)
    began = perf_counter()
    watcher.start()
    try:
        yield times
    finally:
        ended.set()
        watcher.join()
        times.add(PluginTimes(perf_counter() - began, seen))


def _code(setup: Setup) -> dict[CodeType, str]:
    """The functions of the classes of plugins that are not in-tree, with the name of the plugin."""
    plugins = {plugin for profile in setup.profiles for plugin in profile.plugins}
    return {
        function.__code__: plugin.name
        for plugin in plugins
        for one in type(plugin).__mro__
        if one.__module__.partition(".")[0] not in ("kubesched", "builtins")
        for function in vars(one).values()
        if hasattr(function, "__code__")
    }


def _watch(thread: int, plugin_of: dict[CodeType, str], seen: Counter[str], ended: threading.Event) -> None:
    while not ended.wait(_INTERVAL):
        frame = sys._current_frames().get(thread)
        while frame is not None and frame.f_code not in plugin_of:
            frame = frame.f_back
        seen[plugin_of[frame.f_code] if frame is not None else ""] += 1
