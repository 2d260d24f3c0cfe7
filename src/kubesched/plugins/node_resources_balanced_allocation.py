"""NodeResourcesBalancedAllocation: does the pod bring the used fractions of a node's resources closer together?

Rule: kube-scheduler NodeResourcesBalancedAllocation. Since v1.36: 50 + (50 + balance with the pod - balance without
it) / 2, where balance is 100 less the standard deviation, in percent, of the used fractions; 75 means that the pod
changes nothing. Before: the balance with the pod. All in float64 in upstream's order of operations; both balances are
cut to whole numbers before they are compared.
"""

from collections.abc import Hashable
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import Pod
from kubesched.engine import BoolVector, Interner, IntMatrix, IntVector, as_fractions
from kubesched.framework import CycleState, DependsOn, Plugin, Status
from kubesched.plugins.args import NodeResourcesBalancedAllocationArgs
from kubesched.state import Nodes, Part, PodRequests

Floats = npt.NDArray[np.float64]
Stacked = npt.NDArray[np.int64]  # (resources, 2, nodes): without the pod, with it

_BASIC: Final = ("cpu", "memory", "ephemeral-storage")

# arrays, because for the few rows that changed a number costs more
_HALF, _ONE, _MAX_SCORE = np.array(0.5), np.array(1.0), np.array(100.0)
_OFFSET, _ONE_BIT = np.array(150), np.array(1)


class Added:
    """What the pod adds to a node.

    Attributes:
        names: the configured resources that can count; a scalar that the pod does not request cannot.
        amounts: (names, 2, 1) int64: nothing, then the pod's requests; for the node without the pod and with it.
        is_nothing: whether the pod requests none of the configured resources.
        offered: the rows of the resource axis, for which `on` was asked last.
    """

    __slots__ = ("_generation", "_on_axis", "amounts", "is_nothing", "names", "offered")

    def __init__(self, names: list[str], requests: PodRequests) -> None:
        held = requests.held
        self.names = [name for name in names if name in _BASIC or held.get(name, 0) > 0]
        amounts = [[0, held.get(name, 0)] for name in self.names]
        self.amounts = np.array(amounts, dtype=np.int64).reshape(-1, 2, 1)
        self.is_nothing = not self.amounts.any()
        self.offered: frozenset[int] = frozenset()
        self._generation = -1
        self._on_axis: tuple[slice | list[int], Stacked] = ([], self.amounts)

    def on(self, resources: Interner[str]) -> tuple[slice | list[int], Stacked]:
        """The rows of the resource axis, and the amounts, of the names that some node knows."""
        if self._generation != resources.log.generation:
            self._generation = resources.log.generation
            places = [resources.find(name) for name in self.names]
            rows = [row for row in places if row is not None]
            self.offered = frozenset(rows)
            amounts = self.amounts[[row is not None for row in places]] if len(rows) < len(places) else self.amounts
            self._on_axis = (slice(0, len(rows)) if rows == list(range(len(rows))) else rows, amounts)
        return self._on_axis


class NodeResourcesBalancedAllocation(Plugin):
    """Score by how evenly a node's resources are used."""

    Args = NodeResourcesBalancedAllocationArgs
    args: NodeResourcesBalancedAllocationArgs
    depends_on = DependsOn.ROW
    equal_by = ("requests",)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips where the pod requests none of the resources."""
        return Status.SKIP if self._added(state.pod.requests).is_nothing else Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """50 to 100, before v1.36 0 to 100; 0 where PreScore would have skipped, but was not asked."""
        added = self._added(state.pod.requests)
        if added.is_nothing:
            return np.zeros(len(nodes), dtype=np.int64)
        columns = nodes.columns
        rows, amounts = added.on(columns.resources)
        room = nodes.allocatable[rows]
        used = nodes.requested[rows, np.newaxis] + amounts
        is_plain = len(room) == 2 and (
            added.offered <= columns.offered_everywhere or np.count_nonzero(room) == room.size
        )
        deviation = _deviation_of_two(used, room) if is_plain else _deviation(used, room)
        balance = _balance(deviation)
        return balance[1] if self.release.before(36) else _change(balance)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.requests

    def _added(self, requests: Part[PodRequests]) -> Added:
        added: Added | None = requests.compiled.get(self)
        if added is None:
            added = requests.compiled[self] = Added([resource.name for resource in self.args.resources], requests.value)
        return added


def _deviation_of_two(used: Stacked, room: IntMatrix) -> Floats:
    """(2, nodes): half the distance between the fractions of two resources that every node has."""
    fractions = as_fractions(used, room[:, np.newaxis])
    np.minimum(fractions, _ONE, out=fractions)
    deviation: Floats = fractions[0] - fractions[1]
    np.abs(deviation, out=deviation)
    deviation *= _HALF
    return deviation


def _deviation(used: Stacked, room: IntMatrix) -> Floats:
    """(2, nodes): the standard deviation of the fractions that count on each node.

    One resource after the other: sums are taken in upstream's order, and no array is so large that memory for it is
    fetched again each time.
    """
    counts = room > 0
    n_counted = counts.sum(axis=0)
    divisor = np.maximum(n_counted, 1).astype(np.float64)
    fractions = [_fractions(used[i], room[i], counts[i]) for i in range(len(room))]
    mean = _sum_in_order(fractions, len(n_counted)) / divisor
    squares = [_squares(fraction, mean, counts[i]) for i, fraction in enumerate(fractions)]
    deviation: Floats = np.sqrt(_sum_in_order(squares, len(n_counted)) / divisor)
    is_pair = n_counted == 2
    if is_pair.any():
        deviation = np.where(is_pair, _half_distance(fractions, counts), deviation)
    return deviation


def _fractions(used: IntMatrix, room: IntVector, counts: BoolVector) -> Floats:
    """(2, nodes): one resource's used fractions; 0 where it does not count."""
    fractions = as_fractions(used, np.maximum(room, 1))
    np.minimum(fractions, 1.0, out=fractions)
    fractions *= counts
    return fractions


def _squares(fractions: Floats, mean: Floats, counts: BoolVector) -> Floats:
    """(2, nodes): one resource's squared distances from the mean; 0 where it does not count."""
    off: Floats = fractions - mean
    off *= counts
    off *= off
    return off


def _sum_in_order(values: list[Floats], n_nodes: int) -> Floats:
    total = np.zeros((2, n_nodes))
    for value in values:
        total += value
    return total


def _half_distance(fractions: list[Floats], counts: npt.NDArray[np.bool_]) -> Floats:
    """(2, nodes): half the distance between the highest and the lowest fraction that counts."""
    highest, lowest = np.zeros(fractions[0].shape), np.ones(fractions[0].shape)
    for i, fraction in enumerate(fractions):
        np.maximum(highest, fraction, out=highest)
        np.minimum(lowest, np.where(counts[i], fraction, 1.0), out=lowest)
    highest -= lowest
    highest *= 0.5
    return highest


def _balance(deviation: Floats) -> IntMatrix:
    """(2, nodes) int64, 0..100: the balance without and with the pod, of the deviations."""
    np.subtract(_ONE, deviation, out=deviation)
    deviation *= _MAX_SCORE
    balance: IntMatrix = deviation.astype(np.int64)
    return balance


def _change(balance: IntMatrix) -> IntVector:
    """(nodes,) int64, 50..100: the balance with the pod against the one without it."""
    change: IntVector = balance[1] - balance[0]
    change += _OFFSET
    change >>= _ONE_BIT  # 50 + (50 + change) / 2; never negative
    return change
