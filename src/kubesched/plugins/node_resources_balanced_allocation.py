"""NodeResourcesBalancedAllocation: does the pod bring the used fractions of a node's resources closer together?

Rule: kube-scheduler v1.36 NodeResourcesBalancedAllocation: 50 + (50 + balance with the pod - balance without it) / 2,
where balance is 100 less the standard deviation, in percent, of the used fractions. All in float64 in upstream's
order of operations; both balances are cut to whole numbers before they are compared. 75 means that the pod changes
nothing.
"""

from collections.abc import Hashable
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import Pod
from kubesched.engine import Interner, IntMatrix, IntVector
from kubesched.framework import CycleState, DependsOn, Plugin, Status
from kubesched.plugins.args import NodeResourcesBalancedAllocationArgs
from kubesched.state import Nodes, Part, PodRequests

__all__ = ["NodeResourcesBalancedAllocation"]

Floats = npt.NDArray[np.float64]

_BASIC: Final = ("cpu", "memory", "ephemeral-storage")
_MAX_SCORE: Final = 100


class Added:
    """What the pod adds to a node.

    Attributes:
        names: the configured resources that can count; a scalar that the pod does not request cannot.
        amounts: (2, names, 1) int64: nothing, then the pod's requests; for the node without the pod and with it.
        is_nothing: whether the pod requests none of the configured resources.
    """

    __slots__ = ("_rows", "amounts", "is_nothing", "names")

    def __init__(self, names: list[str], requests: PodRequests) -> None:
        held = requests.held
        self.names = [name for name in names if name in _BASIC or held.get(name, 0) > 0]
        self.amounts = _without_and_with([held.get(name, 0) for name in self.names])
        self.is_nothing = not self.amounts.any()
        self._rows: slice | list[int] | None = None

    def on(self, resources: Interner[str]) -> tuple[slice | list[int], npt.NDArray[np.int64]]:
        """The rows of the resource axis, and the amounts, of the names that some node knows."""
        if self._rows is not None:
            return self._rows, self.amounts
        found = [resources.find(name) for name in self.names]
        rows = [row for row in found if row is not None]
        if len(rows) < len(found):
            return rows, self.amounts[:, [row is not None for row in found]]
        self._rows = slice(0, len(rows)) if rows == list(range(len(rows))) else rows
        return self._rows, self.amounts


class NodeResourcesBalancedAllocation(Plugin):
    """Score by how evenly a node's resources are used."""

    Args = NodeResourcesBalancedAllocationArgs
    args: NodeResourcesBalancedAllocationArgs
    depends_on = DependsOn.ROW

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips where the pod requests none of the resources."""
        return Status.SKIP if self._added(state.pod.requests).is_nothing else Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """50 to 100; 0 where PreScore would have skipped, but was not asked."""
        added = self._added(state.pod.requests)
        if added.is_nothing:
            return np.zeros(len(nodes), dtype=np.int64)
        rows, amounts = added.on(nodes.columns.resources)
        without, with_pod = _balances(nodes.requested[rows] + amounts, nodes.allocatable[rows])
        change: IntVector = with_pod - without
        change += 50
        change >>= 1
        change += 50
        return change

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        """The requests."""
        return state.pod.requests

    def _added(self, requests: Part[PodRequests]) -> Added:
        found: Added | None = requests.compiled.get(self)
        if found is None:
            names = [resource.name for resource in self.args.resources]
            found = requests.compiled[self] = Added(names, requests.value)
        return found


def _without_and_with(amounts: list[int]) -> npt.NDArray[np.int64]:
    return np.array([[0] * len(amounts), amounts], dtype=np.int64)[:, :, np.newaxis]


def _balances(used: npt.NDArray[np.int64], room: IntMatrix) -> IntMatrix:
    """How evenly resources are used, twice for each node.

    Args:
        used: (2, resources, nodes), without the pod and with it.
        room: (resources, nodes), allocatable; a resource does not count where it is 0.
    Returns: (2, nodes) int64, 0..100.
    """
    deviation = _deviation_of_two(used, room) if len(room) == 2 and room.all() else _deviation(used, room)
    np.subtract(1.0, deviation, out=deviation)
    deviation *= _MAX_SCORE
    return deviation.astype(np.int64)


def _deviation_of_two(used: npt.NDArray[np.int64], room: IntMatrix) -> Floats:
    """(2, nodes): half the distance between the fractions of two resources that every node has.

    Integers are made floats before they are divided: dividing int64 columns is many times slower.
    """
    fractions = used.astype(np.float64)
    fractions /= room.astype(np.float64)
    np.minimum(fractions, 1.0, out=fractions)
    deviation: Floats = fractions[:, 0] - fractions[:, 1]
    np.abs(deviation, out=deviation)
    deviation *= 0.5
    return deviation


def _deviation(used: npt.NDArray[np.int64], room: IntMatrix) -> Floats:
    """(2, nodes): the standard deviation of the fractions that count, with sums in the order of the resources."""
    counts = room > 0
    fractions = np.zeros(used.shape)
    np.divide(used.astype(np.float64), room.astype(np.float64), out=fractions, where=counts)
    np.minimum(fractions, 1.0, out=fractions)
    n_counted = counts.sum(axis=0)
    divisor = np.maximum(n_counted, 1).astype(np.float64)
    mean = _sum_in_order(fractions) / divisor
    off = (fractions - mean[:, np.newaxis]) * counts
    deviation: Floats = np.sqrt(_sum_in_order(off * off) / divisor)
    two = n_counted == 2
    if two.any():
        lowest = np.where(counts, fractions, 1.0).min(axis=1)
        deviation[:, two] = (fractions.max(axis=1) - lowest)[:, two] * 0.5
    return deviation


def _sum_in_order(values: Floats) -> Floats:
    """(2, nodes): the sum over the resources; NumPy's own sum may add in another order."""
    total = np.zeros((values.shape[0], values.shape[2]))
    for i in range(values.shape[1]):
        total += values[:, i]
    return total
