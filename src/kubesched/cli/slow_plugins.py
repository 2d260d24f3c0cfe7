"""Names a plugin that takes most of the time of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kubesched.cli.cluster import note

if TYPE_CHECKING:
    from kubesched.setup import PluginTimes, Setup

_LEAST_SECONDS: Final = 1.0


@contextmanager
def noting_slow_plugins(setup: "Setup") -> Iterator["Setup"]:
    """Note the plugin, other than in-tree ones, that takes more than half of the time of the block.

    Returns: the setup to run with.
    """
    from kubesched.setup import PluginClock

    clock = PluginClock(setup.profiles)
    yield setup.watched_by(clock) if clock.plugins else setup
    note_slow_plugin(clock.take())


def note_slow_plugin(times: "PluginTimes", configuration: str = "") -> None:
    """Note the plugin that takes more than half of the time; less than a second is left alone.

    Args:
        configuration: what it ran with, where there are several; their runs overlap, so only the share is noted.
    """
    if times.seconds < _LEAST_SECONDS or times.slowest is None:
        return
    plugin, share = times.slowest
    of = f" of {configuration}" if configuration else f", which was {times.seconds:.1f} seconds"
    note(f"the plugin {plugin} took {share:.0%} of the scheduling time{of}")
