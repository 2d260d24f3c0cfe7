"""Begin and end of the plugins: `start` before the first cycle, `stop` after the last; both may be coroutines.

Both are awaited on the event loop of the run, so that tasks which a plugin makes in `start` go on there until `stop`.
"""

import inspect
from collections.abc import Iterable, Iterator

from kubesched.errors import PluginError
from kubesched.framework import HOOK_FAULTS, Framework, Plugin, in_one_line

__all__ = ["start_plugins", "stop_plugins"]


async def start_plugins(frameworks: Iterable[Framework]) -> None:
    """Start every plugin of every profile, each once.

    Raises:
        PluginError: a plugin did not start; without it no decision would be the one that was asked for.
    """
    for framework, plugin in _plugins(frameworks, "start"):
        try:
            answer: object = plugin.start(framework.handle)
            if inspect.isawaitable(answer):
                await answer
        except HOOK_FAULTS as error:
            text = f'starting plugin "{plugin.name}": {in_one_line(error)}'
            raise PluginError(text, plugin=plugin.name, extension_point="start") from error


async def stop_plugins(frameworks: Iterable[Framework]) -> None:
    """Stop every plugin of every profile. The work is done, so that a fault is worth a message and no more."""
    for framework, plugin in _plugins(frameworks, "stop"):
        try:
            answer: object = plugin.stop()
            if inspect.isawaitable(answer):
                await answer
        except HOOK_FAULTS as error:
            framework.handle.logger.warning("stop of plugin %s: %s", plugin.name, in_one_line(error))


def _plugins(frameworks: Iterable[Framework], hook: str) -> Iterator[tuple[Framework, Plugin]]:
    for framework in frameworks:
        for plugin in framework.profile.plugins:
            if plugin.defines(hook):
                yield framework, plugin
