"""Begin and end of the plugins: `start` before the first cycle, `stop` after the last; both may be coroutines."""

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from kubesched.errors import PluginError
from kubesched.framework import Framework, Plugin, in_one_line

__all__ = ["start_plugins", "stop_plugins"]

Run = Callable[[Coroutine[Any, Any, None]], object]
"""Carries a coroutine to its end: `asyncio.run` where no event loop runs."""


def start_plugins(frameworks: Iterable[Framework], run: Run) -> None:
    """Start every plugin of every profile.

    Raises:
        PluginError: a plugin did not start; without it no decision would be the one that was asked for.
    """
    for framework in frameworks:
        for plugin in framework.profile.plugins:
            if plugin.defines("start"):
                _start(plugin, framework, run)


def stop_plugins(frameworks: Iterable[Framework], run: Run) -> None:
    """Stop every plugin of every profile. The work is done, so that a fault is worth a message and no more."""
    for framework in frameworks:
        for plugin in framework.profile.plugins:
            if plugin.defines("stop"):
                try:
                    _finish(plugin.stop(), run)
                except Exception as error:  # a plugin may do anything
                    framework.handle.logger.warning("stop of plugin %s: %s", plugin.name, in_one_line(error))


def _start(plugin: Plugin, framework: Framework, run: Run) -> None:
    try:
        _finish(plugin.start(framework.handle), run)
    except Exception as error:
        text = f'starting plugin "{plugin.name}": {in_one_line(error)}'
        raise PluginError(text, plugin=plugin.name, extension_point="start") from error


def _finish(answer: object, run: Run) -> None:
    if inspect.isawaitable(answer):
        run(_awaited(answer))


async def _awaited(answer: Awaitable[object]) -> None:
    await answer
