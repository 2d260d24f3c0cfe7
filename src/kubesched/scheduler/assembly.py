"""Frameworks for all profiles over one cluster state, sharing kept columns."""

from collections.abc import Iterable
from random import Random

from kubesched.framework import CACHE_BYTES, Clock, ColumnCache, Framework, Handle, Profile
from kubesched.state import ClusterState

__all__ = ["build_frameworks"]


def build_frameworks(
    profiles: Iterable[Profile],
    state: ClusterState,
    *,
    clock: Clock | None = None,
    rng: Random | None = None,
    cache_bytes: int = CACHE_BYTES,
) -> dict[str, Framework]:
    """Put profiles to work.

    Args:
        clock, rng: what plugins get for time and chance; a stopped clock and a fixed seed by default.
        cache_bytes: budget of kept columns and relations, all profiles together; a quarter is for relations.
    Returns: scheduler name -> framework.
    """
    state.groups.budget = cache_bytes // 4
    cache = ColumnCache(state.columns, cache_bytes - state.groups.budget)
    return {
        profile.scheduler_name: Framework(profile, cache, Handle(state, clock=clock, rng=rng)) for profile in profiles
    }
