"""Selects one of the feasible nodes, and computes how many nodes to look at."""

import enum
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final

import numpy as np

from kubesched.engine import IntVector, Leaders, first_leaders
from kubesched.framework import Scores
from kubesched.state import Rows

_MIN_NODES: Final = 100


class TieBreak(enum.Enum):
    """Which of several equally good nodes is taken.

    Example:
        Simulator(load_snapshot("cluster.json"), tie_break=TieBreak.UPSTREAM).run()
    """

    UPSTREAM = "upstream"
    """The one that kube-scheduler's heap has on top."""
    FIRST = "first"
    """The first in the snapshot's order."""
    RANDOM = "random"
    """Any, by the seed."""


_FIRST: Final = TieBreak.FIRST  # for each pod; in Python 3.11 ten times as quick as the member of its class


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


def select_few(
    scores: Scores, n: int, tie_break: TieBreak, places: Callable[[Rows], Rows] | None, rng: Random
) -> list[int]:
    """The position of the node to take, as `select_best` has it, and those of the next best, of equal ones the first.

    Args:
        n: how many positions there are at most.
    """
    leaders, total = scores.leaders, scores.varying
    first = first_leaders(total, n) if leaders is None else leaders.first(n)
    if tie_break is _FIRST:
        return first
    best = select_best(total, tie_break, places, rng, leaders)
    return [best, *[position for position in first if position != best][: n - 1]]


def select_best(
    total: IntVector,
    tie_break: TieBreak,
    places: Callable[[Rows], Rows] | None,
    rng: Random,
    leaders: Leaders | None = None,
) -> int:
    """The position of the node to take.

    Args:
        total: (nodes,) scores, at least one.
        places: the places that positions have in kube-scheduler's list of these nodes; called by UPSTREAM for a tie.
            None if the list has the same order.
        leaders: the highest of the scores, where they are known.
    """
    if tie_break is _FIRST:
        return int(total.argmax())
    ties = None if leaders is None else leaders.ties()
    best = (total == total.max()).nonzero()[0] if ties is None else np.array(ties)
    if len(best) == 1:
        return int(best[0])
    if tie_break is TieBreak.RANDOM:
        return int(best[rng.randrange(len(best))])
    return int(best[first_of_heap(best if places is None else places(best), len(total))])


def first_of_heap(places: Rows, n_places: int) -> int:
    """Which of several places of a list comes first when the list is read as a binary heap in pre-order.

    Args:
        places: (n,) distinct places, counted from 0.
        n_places: the length of the list.
    Returns: an index into `places`.
    Rule: kube-scheduler v1.35+ selectHost: a heap is built bottom-up, moving a node only past strictly worse ones and
        preferring the left of equal children, so that the root is the first of the best in pre-order.
    """
    return int(_pre_order(n_places.bit_length()).take(places).argmin())


@cache
def _pre_order(n_levels: int) -> IntVector:
    """(2**n_levels - 1,) int64, smaller for the places of a heap that come earlier in pre-order."""
    paths = np.arange(1, 2**n_levels, dtype=np.int64)  # the bits after the leading one are the turns from the root
    depths = np.frexp(paths)[1].astype(np.int64)
    return (paths << (n_levels - depths)) * (n_levels + 1) + depths
