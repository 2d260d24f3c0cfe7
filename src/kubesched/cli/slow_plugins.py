"""Names a plugin that takes most of the time of a run. A thread looks fifty times a second at what is running."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from types import CodeType
from typing import TYPE_CHECKING, Final

from kubesched.cli.cluster import note

if TYPE_CHECKING:
    from kubesched.setup import Setup

__all__ = ["noting_slow_plugins"]

_INTERVAL: Final = 0.02
_LEAST_SECONDS: Final = 1.0
_LEAST_SHARE: Final = 0.5


@contextmanager
def noting_slow_plugins(setup: "Setup") -> Iterator[None]:
    """Note the plugin, other than in-tree ones, that takes more than half of the time of the block.

    A block of less than a second is left alone.
    """
    plugin_of = _code(setup)
    if not plugin_of:
        yield
        return
    seen: Counter[str] = Counter()
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(threading.get_ident(), plugin_of, seen, ended), daemon=True)
    began = perf_counter()
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    seconds = perf_counter() - began
    if seconds < _LEAST_SECONDS:
        return
    n_seen = seen.total()
    for plugin, n in seen.most_common():
        if plugin and n > _LEAST_SHARE * n_seen:
            note(f"the plugin {plugin} took {n / n_seen:.0%} of the scheduling time, which was {seconds:.1f} seconds")


def _code(setup: "Setup") -> dict[CodeType, str]:
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


def _watch(thread: int, plugin_of: dict[CodeType, str], seen: "Counter[str]", ended: threading.Event) -> None:
    while not ended.wait(_INTERVAL):
        frame = sys._current_frames().get(thread)
        while frame is not None and frame.f_code not in plugin_of:
            frame = frame.f_back
        seen[plugin_of[frame.f_code] if frame is not None else ""] += 1
