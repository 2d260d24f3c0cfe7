"""Profiles put to work over one state."""

from kubesched.scheduler import build_frameworks
from kubesched.setup import set_up
from kubesched.state import ClusterState


def test_columns_and_relations_share_one_budget() -> None:
    state = ClusterState()
    (framework,) = build_frameworks(set_up(None).profiles, state, cache_bytes=1 << 20).values()
    assert (framework.cache.budget, state.groups.budget) == (3 << 18, 1 << 18)
