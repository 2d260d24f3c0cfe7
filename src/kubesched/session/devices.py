"""Counts the devices that ResourceSlices list, which no node offers as an extended resource.

Rule: resource.k8s.io/v1: of the slices of a pool on a node, only those with the highest generation count.
"""

from collections import Counter
from collections.abc import Iterable

from kubesched.api import KubeObject, ResourceSlice


def listed_devices(slices: Iterable[KubeObject]) -> dict[str, int]:
    """How many devices slices list, by driver, in the order of their names."""
    known = [one for one in slices if isinstance(one, ResourceSlice)]
    newest: dict[tuple[str, str, str], int] = {}
    for one in known:
        newest[_pool(one)] = max(newest.get(_pool(one), 0), one.spec.pool.generation)
    counts: Counter[str] = Counter()
    for one in known:
        if one.spec.pool.generation == newest[_pool(one)]:
            counts[one.spec.driver] += len(one.spec.devices or ())
    return {driver: n for driver, n in sorted(counts.items()) if n}


def _pool(one: ResourceSlice) -> tuple[str, str, str]:
    return one.spec.driver, one.spec.pool.name, one.spec.node_name
