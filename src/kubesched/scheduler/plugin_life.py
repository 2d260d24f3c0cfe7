"""Begin and end of the plugins: `start` before the first cycle, `stop` after the last; both may be coroutines."""

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any

from kubesched.errors import PluginError
from kubesched.framework import HOOK_FAULTS, Framework, Plugin, in_one_line

__all__ = ["Run", "start_plugins", "start_plugins_in_loop", "stop_plugins", "stop_plugins_in_loop"]

Run = Callable[[Coroutine[Any, Any, None]], object]
"""Carries a coroutine to its end: `asyncio.run` where no event loop runs."""


def start_plugins(frameworks: Iterable[Framework], run: Run) -> None:
    """Start every plugin of every profile, each once.

    Raises:
        PluginError: a plugin did not start; without it no decision would be the one that was asked for.
    """
    for rest in _starts(frameworks):
        run(rest)


async def start_plugins_in_loop(frameworks: Iterable[Framework]) -> None:
    """As start_plugins, for callers on an event loop: tasks that a plugin makes go on running there."""
    for rest in _starts(frameworks):
        await rest


def stop_plugins(frameworks: Iterable[Framework], run: Run) -> None:
    """Stop every plugin of every profile. The work is done, so that a fault is worth a message and no more."""
    for rest in _stops(frameworks):
        run(rest)


async def stop_plugins_in_loop(frameworks: Iterable[Framework]) -> None:
    """As stop_plugins, for callers on an event loop."""
    for rest in _stops(frameworks):
        await rest


def _starts(frameworks: Iterable[Framework]) -> Iterator[Coroutine[Any, Any, None]]:
    """Start plugins, and give what remains to be awaited of each."""
    for framework, plugin in _plugins(frameworks, "start"):
        try:
            answer = plugin.start(framework.handle)
        except HOOK_FAULTS as error:
            raise _not_started(plugin, error) from error
        if inspect.isawaitable(answer):
            yield _started(plugin, answer)


async def _started(plugin: Plugin, answer: Awaitable[object]) -> None:
    try:
        await answer
    except HOOK_FAULTS as error:
        raise _not_started(plugin, error) from error


def _not_started(plugin: Plugin, error: BaseException) -> PluginError:
    text = f'starting plugin "{plugin.name}": {in_one_line(error)}'
    return PluginError(text, plugin=plugin.name, extension_point="start")


def _stops(frameworks: Iterable[Framework]) -> Iterator[Coroutine[Any, Any, None]]:
    for framework, plugin in _plugins(frameworks, "stop"):
        try:
            answer = plugin.stop()
        except HOOK_FAULTS as error:
            _not_stopped(framework, plugin, error)
            continue
        if inspect.isawaitable(answer):
            yield _stopped(framework, plugin, answer)


async def _stopped(framework: Framework, plugin: Plugin, answer: Awaitable[object]) -> None:
    try:
        await answer
    except HOOK_FAULTS as error:
        _not_stopped(framework, plugin, error)


def _not_stopped(framework: Framework, plugin: Plugin, error: BaseException) -> None:
    framework.handle.logger.warning("stop of plugin %s: %s", plugin.name, in_one_line(error))


def _plugins(frameworks: Iterable[Framework], hook: str) -> Iterator[tuple[Framework, Plugin]]:
    for framework in frameworks:
        for plugin in framework.profile.plugins:
            if plugin.defines(hook):
                yield framework, plugin
