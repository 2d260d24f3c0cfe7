"""Which of the feasible nodes is taken, and how many nodes are looked at."""

import enum
from random import Random
from typing import Final

import numpy as np

from kubesched.engine import IntVector
from kubesched.state import Rows

__all__ = ["TieBreak", "default_sample", "first_of_heap", "nodes_to_find", "select_best"]

_MIN_NODES: Final = 100


class TieBreak(enum.Enum):
    """Which of several equally good nodes is taken."""

    UPSTREAM = "upstream"
    """The one that kube-scheduler's heap has on top."""
    FIRST = "first"
    """The first in the snapshot's order."""
    RANDOM = "random"
    """Any, by the seed."""


def nodes_to_find(n_nodes: int, percentage: int) -> int:
    """After how many feasible nodes the search ends.

    Args:
        percentage: percentageOfNodesToScore; 0 means all nodes here, unlike kube-scheduler's adaptive sample.
    Rule: kube-scheduler v1.36 numFeasibleNodesToFind: below 100 nodes all of them; else the share, at least 100.
    """
    if n_nodes < _MIN_NODES or not 0 < percentage < 100:
        return n_nodes
    return max(_MIN_NODES, n_nodes * percentage // 100)


def default_sample(n_nodes: int) -> int:
    """How many feasible nodes kube-scheduler would look for with its defaults.

    Rule: kube-scheduler v1.36: 50 - nodes / 125 percent, at least 5 percent and 100 nodes.
    """
    if n_nodes < _MIN_NODES:
        return n_nodes
    return max(_MIN_NODES, n_nodes * max(5, 50 - n_nodes // 125) // 100)


def select_best(total: IntVector, tie_break: TieBreak, order: Rows | None, rng: Random) -> int:
    """The position of the node to take.

    Args:
        total: (nodes,) scores, at least one.
        order: positions in the order in which kube-scheduler's list has them; asked for by UPSTREAM only.
    """
    if tie_break is TieBreak.FIRST:
        return int(total.argmax())
    best = np.flatnonzero(total == total.max())
    if len(best) == 1:
        return int(best[0])
    if tie_break is TieBreak.RANDOM:
        return int(best[rng.randrange(len(best))])
    if order is None:
        return int(best[first_of_heap(best)])
    place = np.empty(len(total), dtype=np.intp)
    place[order] = np.arange(len(order))
    return int(best[first_of_heap(place[best])])


def first_of_heap(places: Rows) -> int:
    """Which of several places of a list comes first when the list is read as a binary heap in pre-order.

    Args:
        places: (n,) distinct places, counted from 0.
    Returns: an index into `places`.
    Rule: kube-scheduler v1.35+ selectHost: a heap is built bottom-up, moving a node only past strictly worse ones and
        preferring the left of equal children, so that the root is the first of the best in pre-order.
    """
    paths = places.astype(np.int64) + 1  # counted from 1, the bits after the leading one are the turns from the root
    depths = np.frexp(paths)[1]
    aligned = paths << (depths.max() - depths)
    return int(np.lexsort((depths, aligned))[0])
