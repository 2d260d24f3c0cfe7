"""Frameworks for all profiles over one cluster state, sharing kept columns."""

from collections.abc import Iterable

from kubesched.framework import CACHE_BYTES, ColumnCache, Framework, Profile, Services
from kubesched.state import ClusterState

__all__ = ["build_frameworks"]


def build_frameworks(
    profiles: Iterable[Profile],
    state: ClusterState,
    services: Services | None = None,
    *,
    cache_bytes: int = CACHE_BYTES,
) -> dict[str, Framework]:
    """Put profiles to work: each gets a framework and a handle, and its plugins get the handle.

    Args:
        services: what the driver offers; without them, there is no clock and nothing can be awaited.
        cache_bytes: budget of kept columns and relations, all profiles together; a quarter is for relations.
    Returns: scheduler name -> framework.
    """
    state.groups.budget = cache_bytes // 4
    cache = ColumnCache(state.columns, cache_bytes - state.groups.budget)
    offered = Services() if services is None else services
    frameworks = {profile.scheduler_name: Framework(profile, cache, state, offered) for profile in profiles}
    for framework in frameworks.values():
        for plugin in framework.profile.plugins:
            plugin.handle = framework.handle
    return frameworks
