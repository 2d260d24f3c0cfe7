"""How much of what is free is of no use to popular pods: fragmentation, as the paper defines it that minimizes it.

Rule: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
USENIX ATC 2023: the fragmentation of a node for a pod is what is free on it, if the pod does not fit there or asks for
none of it; of the cluster, the sum over all nodes, expected over the pods of the workload. Here it is counted in the
resources of nodes: a GPU that is free in part counts as what the pods on its node leave of the whole.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kubesched.api import Node, Pod
from kubesched.engine import IntMatrix
from kubesched.plugins import RequiredNodeAffinity, has_untolerated_taint
from kubesched.state import ClusterState, NodeColumns

_POPULAR: Final = 0.95
"""The share of the pods that the most frequent shapes make up together, as in the paper's experiments."""
_MOST_SHAPES: Final = 400

Floats = npt.NDArray[np.float64]


class Fragmentation:
    """The fragmentation of a cluster, brought up to date for the nodes that changed.

    Args:
        state: of the cluster.
        pods: of the workload.
        resources: of which it is counted.

    Attributes:
        n_shapes: how many shapes of pods are popular.
        covered: the share of the pods that have one of them.
    """

    def __init__(self, state: ClusterState, pods: Iterable[Pod], resources: Sequence[str]) -> None:
        self._columns = state.columns
        self._resources = resources
        shapes = _popular(pods)
        self.n_shapes = len(shapes.counts)
        self.covered = shapes.covered
        self._weights = shapes.weights()
        self._names = sorted({name for requests in shapes.requests for name in requests} | set(resources))
        self._requests = _matrix(shapes.requests, self._names)
        self._asks = np.array([[name in requests for requests in shapes.requests] for name in resources], np.float64)
        self._choices = shapes.choices
        self._choice_of = np.array(shapes.choice_of, dtype=np.intp)
        self._capacity = 0
        self._row_generation = self._node_generation = -1
        self._grow()

    def _grow(self) -> None:
        """Have room for every row, and nothing known of any."""
        self._capacity = self._columns.capacity
        self._allows = np.zeros((len(self._choices), self._capacity), dtype=np.bool_)
        self._free = np.zeros((len(self._resources), self._capacity), dtype=np.float64)
        self._unusable = np.zeros_like(self._free)
        self._columns.row_log.keep(self._capacity)
        self._row_generation = self._node_generation = -1

    def shares(self) -> list[float | None]:
        """For each resource the share of what is free that popular pods cannot use; None if nothing is free."""
        if self._capacity != self._columns.capacity:
            self._grow()
        self._look_at_nodes()
        rows = self._changed(self._columns.row_log, self._row_generation)
        self._row_generation = self._columns.row_log.generation
        if len(rows):
            self._count(rows)
        free, unusable = self._free.sum(axis=1), self._unusable.sum(axis=1)
        pairs = zip(unusable.tolist(), free.tolist(), strict=True)
        return [lost / there if there > 0 else None for lost, there in pairs]

    def _changed(self, log: Any, generation: int) -> npt.NDArray[np.intp]:
        changed = log.since(generation)
        return np.array(range(self._columns.n_rows) if changed is None else changed, dtype=np.intp)

    def _look_at_nodes(self) -> None:
        """Find on which of the changed nodes each choice of nodes allows pods."""
        rows = self._changed(self._columns.node_log, self._node_generation)
        self._node_generation = self._columns.node_log.generation
        for row in rows.tolist():
            node = self._columns.nodes[row]
            for i, choice in enumerate(self._choices):
                self._allows[i, row] = node is not None and choice.allows(node)

    def _count(self, rows: npt.NDArray[np.intp]) -> None:
        """Count some rows again."""
        columns = self._columns
        offered = _rows_of(columns, columns.allocatable, self._names, rows)
        free = np.maximum(offered - _rows_of(columns, columns.requested, self._names, rows), 0)
        free[:, columns.unschedulable[rows] | ~columns.alive[rows]] = 0
        fits = self._allows[np.ix_(self._choice_of, rows)] & (columns.allowed_pods - columns.n_pods)[rows].astype(bool)
        for i in range(len(self._names)):
            wanted = self._requests[:, i]
            asking = np.flatnonzero(wanted)
            fits[asking] &= wanted[asking, None] <= free[i]
        usable = (self._asks * self._weights) @ fits
        own = free[[self._names.index(name) for name in self._resources]]
        self._free[:, rows] = own
        self._unusable[:, rows] = own * (1 - usable)


class _Choice:
    """Where a pod may go by its node selector, required node affinity and tolerations."""

    def __init__(self, pod: Pod) -> None:
        affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
        self._required = RequiredNodeAffinity(pod.node_selector.items(), affinity)
        self._tolerations = pod.tolerations

    def allows(self, node: Node) -> bool:
        """Whether the pod may go to a node."""
        return self._required.matches_node(node) and not has_untolerated_taint(node.taints, self._tolerations)


class _Shapes:
    """The most frequent shapes of pods: what they request, and where they may go."""

    def __init__(self, counts: Sequence[int], covered: float) -> None:
        self.counts = counts
        self.covered = covered
        self.requests: list[Mapping[str, int]] = []
        self.choices: list[_Choice] = []
        self.choice_of: list[int] = []

    def weights(self) -> Floats:
        """(shapes,) how likely each is; 1 together."""
        weights: Floats = np.array(self.counts, dtype=np.float64) / max(sum(self.counts), 1)
        return weights


def _popular(pods: Iterable[Pod]) -> _Shapes:
    counted: Counter[tuple[Any, ...]] = Counter()
    examples: dict[tuple[Any, ...], Pod] = {}
    for pod in pods:
        key = (tuple(sorted(pod.requests.items())), _choice_key(pod))
        counted[key] += 1
        examples.setdefault(key, pod)
    n_pods, n_covered, kept = counted.total(), 0, list[tuple[tuple[Any, ...], int]]()
    for key, n in counted.most_common(_MOST_SHAPES):
        if n_covered >= _POPULAR * n_pods:
            break
        kept.append((key, n))
        n_covered += n
    shapes = _Shapes([n for _, n in kept], n_covered / max(n_pods, 1))
    numbers: dict[Any, int] = {}
    for key, _ in kept:
        shapes.requests.append(examples[key].requests)
        if key[1] not in numbers:
            numbers[key[1]] = len(shapes.choices)
            shapes.choices.append(_Choice(examples[key]))
        shapes.choice_of.append(numbers[key[1]])
    return shapes


def _choice_key(pod: Pod) -> tuple[Any, ...]:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return tuple(sorted(pod.node_selector.items())), repr(affinity), pod.tolerations


def _matrix(requests: Sequence[Mapping[str, int]], names: Sequence[str]) -> IntMatrix:
    """(shapes, resources) what each requests."""
    amounts = [[one.get(name, 0) for name in names] for one in requests]
    return np.array(amounts, dtype=np.int64).reshape(len(requests), len(names))


def _rows_of(columns: NodeColumns, matrix: IntMatrix, names: Sequence[str], rows: npt.NDArray[np.intp]) -> IntMatrix:
    """(resources, rows) amounts by name; 0 of what no node and no pod has."""
    found = [columns.resources.find(name) for name in names]
    taken = np.zeros((len(names), len(rows)), dtype=np.int64)
    for i, resource in enumerate(found):
        if resource is not None:
            taken[i] = matrix[resource, rows]
    return taken
