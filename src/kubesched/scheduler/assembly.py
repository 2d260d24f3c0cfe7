"""The frameworks of a run: built over one cluster state, sharing kept columns; their plugins started and stopped.

`start` and `stop` are awaited on the event loop of the run, so that tasks which a plugin makes in `start` go on there
until `stop`.
"""

import inspect
from collections.abc import Iterable
from typing import Final

from kubesched.documents import did_you_mean
from kubesched.errors import InputError, PluginError
from kubesched.framework import (
    CACHE_BYTES,
    HOOK_FAULTS,
    ColumnCache,
    Framework,
    Probe,
    Profile,
    Services,
    WatchedFramework,
    located_line,
)
from kubesched.scheduler.binding_cycle import is_cancelled
from kubesched.state import ClusterState

_LIKENESS: Final = 0.8  # of a scheduler name to that of a profile: many end in -scheduler


def build_frameworks(
    profiles: Iterable[Profile],
    cluster_state: ClusterState,
    services: Services | None = None,
    *,
    cache_bytes: int = CACHE_BYTES,
    probe: Probe | None = None,
) -> dict[str, Framework]:
    """Put profiles to work: each gets a framework and a handle, and its plugins get the handle.

    Args:
        services: what the driver offers; without them, there is no clock and nothing can be awaited.
        cache_bytes: budget of kept columns and relations, all profiles together; a quarter is for relations.
        probe: watches the frameworks.
    Returns: scheduler name -> framework.
    Raises:
        InputError: the plugins of a profile run for another cluster.
    """
    profiles = tuple(profiles)
    if any(profile.is_running for profile in profiles):
        raise InputError("these profiles serve another cluster, which is not closed; set up new ones with set_up()")
    cluster_state.groups.budget = cache_bytes // 4
    cache = ColumnCache(cluster_state.columns, cache_bytes - cluster_state.groups.budget)
    offered = Services() if services is None else services
    frameworks = {p.scheduler_name: _framework(p, cache, cluster_state, offered, probe) for p in profiles}
    for framework in frameworks.values():
        for plugin in framework.profile.plugins:
            plugin.handle = framework.handle_of(plugin)
    return frameworks


def _framework(
    profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services, probe: Probe | None
) -> Framework:
    if probe is None:
        return Framework(profile, cache, cluster_state, services)
    probe.watch(profile)
    return WatchedFramework(profile, cache, cluster_state, services, probe)


async def start_plugins(frameworks: Iterable[Framework]) -> None:
    """Start every plugin of every profile, each once.

    Raises:
        PluginError: a plugin did not start; without it no decision would be the one that was asked for. Those that
            started before it are stopped.
    """
    frameworks = tuple(frameworks)
    for framework in frameworks:
        profile = framework.profile
        for plugin in profile.plugins:
            try:
                answer: object = plugin.start(plugin.handle)
                if inspect.isawaitable(answer):
                    await answer
            except HOOK_FAULTS as error:
                if is_cancelled(error):
                    raise
                await stop_plugins(frameworks)
                text = f'starting plugin "{plugin.name}": {located_line(error)}'
                raise PluginError(text, plugin=plugin.name, extension_point="start") from error
            profile.started = (*profile.started, plugin)


async def stop_plugins(frameworks: Iterable[Framework]) -> None:
    """Stop the plugins that were started and not stopped yet, so a second call stops none.

    The work is done: a fault is logged, and the next plugin is stopped.
    """
    for framework in frameworks:
        profile = framework.profile
        while profile.started:
            plugin, profile.started = profile.started[0], profile.started[1:]
            try:
                answer: object = plugin.stop()
                if inspect.isawaitable(answer):
                    await answer
            except HOOK_FAULTS as error:
                if is_cancelled(error):
                    raise
                framework.handle.logger.warning("stop of plugin %s: %s", plugin.name, located_line(error))


def no_profile(name: str, frameworks: Iterable[str]) -> str:
    """Why a pod is not tried: no profile has the name of its scheduler.

    Args:
        frameworks: the names of the profiles.
    """
    names = list(frameworks)
    meant = did_you_mean(name, names, _LIKENESS)
    return f'no profile has the scheduler name "{name}"; found: {", ".join(names)}{meant and f"; {meant}"}'
