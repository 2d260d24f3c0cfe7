"""Finds the pods that two runs place on different nodes. Replicas are interchangeable.

If two replicas swap their nodes, nothing has moved. So the nodes of replicas are compared as a multiset: what both runs
have of it stays, and each other pod of one run is paired with one of the other run.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import Pod

NOWHERE: Final = -1
"""In place of the row of a node, for a pod that has none."""

_Rows = npt.NDArray[np.intp]
_Numbers = npt.NDArray[np.int64]


def number_replicas(pods: Sequence[Pod]) -> npt.NDArray[np.int32]:
    """(pods,) a number that the replicas of one group have in common, and no other pod.

    Replicas have the same controller, such as a ReplicaSet, and request the same. A pod of a StatefulSet keeps its name
    and its volumes, so it is not interchangeable; neither is a pod without a controller.
    """
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(_replica(pod), len(numbers)) for pod in pods], np.int32)


def _replica(pod: Pod) -> Hashable:
    owner = pod.metadata.controller
    if owner is None or owner.kind == "StatefulSet":
        return pod.key
    return pod.namespace, owner.kind, owner.name, frozenset(pod.requests.items())


def find_moved(
    replicas: npt.NDArray[np.int32], a: npt.NDArray[np.int32], b: npt.NDArray[np.int32]
) -> tuple[_Rows, _Rows]:
    """The pods that are on another node in one run than in another one.

    Replicas are paired: a pod that has a node in A alone, and its replica that has another node in B alone, have moved.
    A pod without a node in one of the runs that is not paired has not moved.

    Args:
        replicas: (pods,) as from `number_replicas`.
        a, b: (pods,) the row of the node of each pod in each run, or NOWHERE.
    Returns: (moved,) the row of each pod in A, and (moved,) the row of the replica in B that is elsewhere instead of
        it: the same pod, where that moved itself.

    Example:
        of_a, of_b = find_moved(np.zeros(3, np.int32), np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32))
        assert (of_a.tolist(), of_b.tolist()) == ([1], [1])
    """
    n_nodes = 1 + int(max(a.max(initial=NOWHERE), b.max(initial=NOWHERE)))
    rows_a, rows_b = (np.flatnonzero(where != NOWHERE) for where in (a, b))
    changed = a != b
    places_a, places_b = (
        _numbered(replicas[rows] * np.int64(n_nodes) + where[rows], changed[rows], len(a))
        for rows, where in ((rows_a, a), (rows_b, b))
    )
    left_a = rows_a[~np.isin(places_a, places_b)]
    left_b = rows_b[~np.isin(places_b, places_a)]
    numbered_a = _numbered(replicas[left_a].astype(np.int64), ~np.isin(left_a, left_b), len(a))
    numbered_b = _numbered(replicas[left_b].astype(np.int64), ~np.isin(left_b, left_a), len(a))
    _, of_a, of_b = np.intersect1d(numbered_a, numbered_b, assume_unique=True, return_indices=True)
    return left_a[of_a], left_b[of_b]


def _numbered(values: _Numbers, is_last: npt.NDArray[np.bool_], n_pods: int) -> _Numbers:
    """The values with equal ones told apart by their number from 0 on; the last ones have the highest numbers."""
    order = np.lexsort((is_last, values))
    ordered = values[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    n_before = np.arange(len(ordered)) - np.repeat(starts, np.diff(starts, append=len(ordered)))
    numbered = np.empty_like(values)
    numbered[order] = ordered * n_pods + n_before
    return numbered
