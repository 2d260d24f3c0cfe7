"""Pods that are nominated to a node but not on it yet: filters count those of equal or higher priority."""

from collections.abc import Callable, Iterable

import numpy as np

from kubesched.engine import IntVector
from kubesched.state import NodeColumns, Nodes, PodBatch, PodInfo, Rows


class NominatedPods:
    """The nominations as arrays, rebuilt when they change.

    Args:
        columns: the nodes.
        pods: gives every nominated pod with the name of its node.
        generation: grows with every change of what `pods` gives.
    """

    __slots__ = ("_columns", "_generation", "_index_of", "_infos", "_known", "_pods", "_priorities", "_rows")

    def __init__(
        self,
        columns: NodeColumns,
        pods: Callable[[], Iterable[tuple[str, PodInfo]]] = tuple,
        generation: Callable[[], int] = int,
    ) -> None:
        self._columns = columns
        self._pods = pods
        self._generation = generation
        self._known: tuple[int, int] | None = None
        self._infos: list[PodInfo] = []
        self._index_of: dict[str, int] = {}  # by uid
        self._rows: IntVector = np.zeros(0, dtype=np.int64)
        self._priorities: IntVector = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        """How many pods are nominated to nodes that exist."""
        self._refresh()
        return len(self._infos)

    def on(self, nodes: Nodes, incoming: PodInfo) -> tuple[Rows, PodBatch]:
        """Nominated pods that count for the incoming pod. Returns: their positions in the table, and the pods."""
        self._refresh()
        counts = self._priorities >= incoming.priority
        positions: Rows = self._rows
        if nodes.rows is not None:
            place = np.full(self._columns.n_rows, -1, dtype=np.intp)
            place[nodes.rows] = np.arange(len(nodes))
            positions = place[positions]
            counts &= positions >= 0
        own = self._index_of.get(incoming.pod.metadata.uid)
        if own is not None:
            counts[own] = False
        counting = np.flatnonzero(counts)
        return positions[counting], PodBatch([self._infos[i] for i in counting.tolist()])

    def _refresh(self) -> None:
        known = (self._generation(), self._columns.node_log.generation)
        if known != self._known:
            row_of = self._columns.row_of
            nominations = [(name, info) for name, info in self._pods() if name in row_of]
            self._infos = [info for _, info in nominations]
            self._index_of = {info.pod.metadata.uid: i for i, info in enumerate(self._infos)}
            self._rows = np.array([row_of[name] for name, _ in nominations], dtype=np.int64)
            self._priorities = np.array([info.priority for info in self._infos], dtype=np.int64)
            self._known = known
