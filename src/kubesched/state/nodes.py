"""The table that rules work on: selected rows of the cluster's columns.

A rule never sees "the cluster": it sees a Nodes table and answers with one value per row of it. Which rows those are is
the framework's business: all, those that changed, the names of a PreFilterResult, a sample, or a what-if copy on which
pods have been moved (`WhatIfNodes`).
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from kubesched.api import Node, ParsedNodeTerm, Requirement
from kubesched.engine import BoolVector, IntMatrix, IntVector
from kubesched.state.columns import NodeColumns
from kubesched.state.labels import Codes, LabelColumn
from kubesched.state.pod_info import PodInfo, Port
from kubesched.state.pod_table import Has, PodBatch

_FEW: Final = 64  # rows that are searched as fast as they are indexed
Rows = npt.NDArray[np.intp]
ScalarT = TypeVar("ScalarT", bound=np.generic)


class Nodes:
    """Rows of the cluster, as arrays with one entry per row of this table. Read only; valid for one generation.

    Attributes:
        columns: the columns that the rows are of.
        n: how many entries there are; as `len`, which costs ten times as much.
        is_copy: whether it is a copy, on which pods may have been moved.
        rows: (n,) the row in `columns` of each entry; None means all rows, 0 to n - 1.
        is_known: false for nodes that an extender returned as objects: their pods and images are not known.

    Example:
        def score_nodes(self, state, pod, nodes):
            return np.minimum(nodes.n_pods * 10, 100)
    """

    is_known = True
    is_copy = False

    def __init__(self, columns: NodeColumns, rows: Rows | None = None) -> None:
        self.columns = columns
        self.rows = rows
        self.n = columns.n_rows if rows is None else len(rows)
        self._position_of_row: IntVector | None = None  # (slots,) -1 where the table lacks the row; made when asked for

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator["NodeInfo"]:
        return (NodeInfo(self, position) for position in range(self.n))

    def __getitem__(self, position: int) -> "NodeInfo":
        return NodeInfo(self, position)

    @property
    def all_rows(self) -> Rows:
        """(n,) the row of each entry, spelled out."""
        return np.arange(self.n) if self.rows is None else self.rows

    def row(self, position: int) -> int:
        """The row of one entry."""
        return position if self.rows is None else int(self.rows[position])

    def position_of(self, name: str) -> int | None:
        """The entry of the node of this name; None when the table does not have it."""
        row = self.columns.row_of.get(name)
        if row is None or self.rows is None:
            return row
        if self.n <= _FEW:
            positions = np.flatnonzero(self.rows == row)
            return int(positions[0]) if len(positions) else None
        if self._position_of_row is None:
            self._position_of_row = np.full(self.columns.capacity, -1, dtype=np.int64)
            self._position_of_row[self.rows] = np.arange(self.n)
        position = int(self._position_of_row[row])
        return None if position < 0 else position

    def select(self, positions: npt.NDArray[np.intp]) -> "Nodes":
        """The table of some of this table's entries."""
        return Nodes(self.columns, positions if self.rows is None else self.rows[positions])

    def copy(self) -> "WhatIfNodes":
        """A table on which pods can be moved without touching the cluster."""
        return WhatIfNodes(self)

    # --- columns ---

    @property
    def allocatable(self) -> IntMatrix:
        """(resources, n) int64."""
        return self._matrix(self.columns.allocatable)

    @property
    def requested(self) -> IntMatrix:
        """(resources, n) int64: what the pods on each node hold."""
        return self._matrix(self.columns.requested)

    @property
    def non_zero_requested(self) -> IntMatrix:
        """(2, n) int64: cpu and memory with the scoring defaults."""
        return self._matrix(self.columns.non_zero_requested)

    @property
    def allowed_pods(self) -> IntVector:
        """(n,) int64."""
        return self.take(self.columns.allowed_pods)

    @property
    def n_pods(self) -> IntVector:
        """(n,) int64."""
        return self.take(self.columns.n_pods)

    @property
    def unschedulable(self) -> BoolVector:
        """(n,) bool: cordoned nodes."""
        return self.take(self.columns.unschedulable)

    @property
    def taint_ids(self) -> npt.NDArray[np.int32]:
        """(n,) int32 into columns.taint_lists."""
        return self.take(self.columns.taint_ids)

    @property
    def feature_ids(self) -> npt.NDArray[np.int32]:
        """(n,) int32 into columns.feature_lists."""
        return self.take(self.columns.feature_ids)

    def take(self, column: npt.NDArray[ScalarT]) -> npt.NDArray[ScalarT]:
        """This table's entries of an array that has one slot per row of the columns."""
        return column[: self.n] if self.rows is None else column[self.rows]

    def _matrix(self, column: IntMatrix) -> IntMatrix:
        return column[:, : self.n] if self.rows is None else column.take(self.rows, axis=1)  # [:, rows] is slower

    # --- labels, names, ports ---

    def label(self, key: str) -> LabelColumn:
        """The column of a label key, with its values; `codes(key)` are this table's entries of it."""
        return self.columns.label(key)

    def codes(self, key: str) -> Codes:
        """(n,) int32: numbers of the values of a label key; 0 where the node lacks it."""
        return self.take(self.columns.label(key).codes)

    def values_present(self, key: str, counting: BoolVector | None = None) -> BoolVector:
        """Which values of a label key the nodes of this table have.

        Args:
            counting: (n,) bool, the nodes that count; None for all.
        Returns: (values,) bool by the number of the value; entry 0 is whether some node lacks the key.
        """
        label = self.columns.label(key)
        if self.rows is None and counting is None:
            present = label.is_used
            present[0] = label.n_labelled < self.n
        else:
            codes = self.codes(key)
            present = np.zeros(len(label.values), dtype=np.bool_)
            present[codes if counting is None else codes[counting]] = True
        return present

    def satisfying(self, requirement: Requirement) -> BoolVector:
        """(n,) bool: nodes whose label satisfies a requirement."""
        return self.label(requirement.key).satisfied_by(requirement, self.codes(requirement.key))

    def matching(self, term: ParsedNodeTerm) -> BoolVector:
        """(n,) bool: nodes that satisfy every requirement of a node selector term."""
        matching = np.ones(self.n, dtype=np.bool_)
        for requirement in term.requirements:
            matching &= self.satisfying(requirement)
        for field in term.fields:
            matching &= self._named(field)
        return matching

    def _named(self, field: Requirement) -> BoolVector:
        if field.key != "metadata.name":
            return np.full(self.n, field.accepts(""))
        named = np.zeros(self.n, dtype=np.bool_)
        for name in field.values:
            position = self.position_of(name)
            if position is not None:
                named[position] = True
        return named if field.operator == "In" else ~named

    @property
    def ports(self) -> Collection[Port]:
        """The host ports that are taken somewhere."""
        return self.columns.ports.keys()

    def port_used(self, entry: Port) -> BoolVector | None:
        """(n,) bool: nodes where exactly this (ip, protocol, port) is taken; None where it is taken nowhere."""
        used = self.columns.ports.get(entry)
        return None if used is None else self.take(used)

    # --- objects ---

    def node(self, position: int) -> Node:
        """The object of one entry."""
        node = self.columns.nodes[self.row(position)]
        assert node is not None, "a table has no free rows"
        return node

    def name(self, position: int) -> str:
        """The name of one entry."""
        return self.columns.names[position if self.rows is None else self.rows[position]]

    @property
    def names(self) -> list[str]:
        """The names of all entries, in order."""
        names = self.columns.names
        return names[: self.n] if self.rows is None else [names[row] for row in self.rows.tolist()]

    def pods(self, position: int) -> Sequence[PodInfo]:
        """The pods on one entry, in NodeInfo order."""
        return self.columns.pods[self.row(position)]

    def in_doubt(self, trait: Has, rejected: BoolVector) -> Mapping[int, Sequence[PodInfo]]:
        """The entries to look at again because pods with this trait were moved; none but in a what-if table.

        Args:
            rejected: (n,) bool, the verdict on the pods in the cluster; it must be one that a pod that leaves never
                makes worse, so that entries that fit and gained no pod still fit.
        Returns: position -> the pods there now, in NodeInfo order; positions ascending.
        """
        return {}

    @property
    def moved_volumes(self) -> IntVector:
        """(n,) int64: attachable volumes of pods that came, less those of pods that left; 0 but in a what-if table."""
        return np.zeros(len(self), dtype=np.int64)

    def off_axis(self, position: int) -> dict[str, int]:
        """What pods put on one entry hold of resources that no node offers and no placed pod holds."""
        return {}


class WhatIfNodes(Nodes):
    """A copy of a table on which pods come and go; the cluster does not change. The entries are independent.

    Sums move at once, all pods of a call in a few array operations. What hangs on single pods (host ports, the pods of
    an entry) is computed from the moves when it is read.
    """

    is_copy = True

    def __init__(self, source: Nodes) -> None:
        super().__init__(source.columns, source.all_rows)
        self._moves: list[tuple[int, Rows, PodBatch]] = []  # sign, positions, pods
        self._ports: dict[Port, BoolVector] | None = None
        self._n_ports_moved = 0  # moves that _ports shows
        self._allocatable: IntMatrix | None = None
        if isinstance(source, WhatIfNodes):
            self._sums: IntMatrix = source._sums.copy()
            self._moves = list(source._moves)
            self._allocatable = source._allocatable
            return
        # one row per entry, as ResourceAxis.held_vector has it: pods, cpu and memory with defaults, every resource
        self._sums = np.vstack((source.n_pods, source.non_zero_requested, source.requested)).T.copy()

    @property
    def allocatable(self) -> IntMatrix:
        """(resources, n) int64: the same whatever is moved, and asked for again after every move."""
        if self._allocatable is None:
            self._allocatable = super().allocatable
        return self._allocatable

    @property
    def requested(self) -> IntMatrix:
        """(resources, n) int64 after the moves."""
        return self._sums.T[3:]

    @property
    def non_zero_requested(self) -> IntMatrix:
        """(2, n) int64 after the moves."""
        return self._sums.T[1:3]

    @property
    def n_pods(self) -> IntVector:
        """(n,) int64 after the moves."""
        return self._sums[:, 0]

    @property
    def ports(self) -> Collection[Port]:
        """The host ports that are taken somewhere, or were before pods were moved."""
        return self._moved_ports().keys()

    def port_used(self, entry: Port) -> BoolVector | None:
        """(n,) bool after the moves."""
        return self._moved_ports().get(entry)

    def pods(self, position: int) -> Sequence[PodInfo]:
        """The pods on one entry after the moves."""
        return self._pods_on(np.arange(len(self)) == position)[position]

    def in_doubt(self, trait: Has, rejected: BoolVector) -> Mapping[int, Sequence[PodInfo]]:
        """The entries that gained a pod with this trait, and the rejected ones that lost one."""
        doubted = np.zeros(len(self), dtype=np.bool_)
        for sign, positions, pods in self._moves:
            at = positions[pods.having(trait)]
            doubted[at] |= sign > 0 or rejected[at]
        return self._pods_on(doubted)

    @property
    def moved_volumes(self) -> IntVector:
        """(n,) int64 after the moves."""
        moved = np.zeros(len(self), dtype=np.int64)
        for sign, positions, pods in self._moves:
            np.add.at(moved, positions, sign * pods.n_volumes)
        return moved

    def _pods_on(self, chosen: BoolVector) -> dict[int, list[PodInfo]]:
        """Position -> the pods there after the moves, where `chosen`, a (n,) mask, is true."""
        pods_at = {
            position: list(super(WhatIfNodes, self).pods(position)) for position in np.flatnonzero(chosen).tolist()
        }
        for sign, positions, pods in self._moves:
            moved = np.flatnonzero(chosen[positions])
            if len(moved):
                for position, info in zip(positions[moved].tolist(), pods.chosen(moved).infos, strict=True):
                    _move_pod(pods_at[position], info, sign)
        return pods_at

    def off_axis(self, position: int) -> dict[str, int]:
        """What pods put on one entry hold of resources that no node offers and no placed pod holds."""
        resources = self.columns.resources
        total: Counter[str] = Counter()
        for sign, positions, pods in self._moves:
            if not pods.is_placed:
                for info in pods.chosen(positions == position).infos:
                    held = info.requests.value
                    total.update({n: sign * held.held[n] for n in held.further if resources.find(n) is None})
        return {name: amount for name, amount in total.items() if amount}

    def select(self, positions: npt.NDArray[np.intp]) -> "WhatIfNodes":
        """The entries after the moves, as a separate table."""
        chosen = WhatIfNodes(Nodes(self.columns, self.all_rows[positions]))
        chosen._sums = self._sums[positions]
        place = np.full(len(self), -1, dtype=np.intp)
        place[positions] = np.arange(len(positions))
        for sign, moved, pods in self._moves:
            kept = np.flatnonzero(place[moved] >= 0)
            chosen._moves.append((sign, place[moved[kept]], pods.chosen(kept)))
        return chosen

    def add(self, positions: Rows, pods: PodBatch) -> None:
        """Put pods on entries: the i-th pod on positions[i]."""
        self._move(positions, pods, 1)

    def remove(self, positions: Rows, pods: PodBatch) -> None:
        """Take pods off entries: the i-th pod off positions[i]."""
        self._move(positions, pods, -1)

    def _move(self, positions: Rows, pods: PodBatch, sign: int) -> None:
        held = pods.held(self.columns.resources)
        for sums, amounts in zip(self._sums.T, held.T, strict=True):  # faster than both axes at once
            np.add.at(sums, positions, amounts if sign > 0 else -amounts)
        self._moves.append((sign, positions, pods))

    def _moved_ports(self) -> dict[Port, BoolVector]:
        if self._ports is None:
            self._ports = {entry: self.take(used).copy() for entry, used in self.columns.ports.items()}
        for sign, positions, pods in self._moves[self._n_ports_moved :]:
            holding = pods.having(Has.PORTS)
            for position, info in zip(positions[holding].tolist(), pods.chosen(holding).infos, strict=True):
                for entry in info.ports.value:
                    if entry not in self._ports:
                        self._ports[entry] = np.zeros(len(self), dtype=np.bool_)
                    self._ports[entry][position] = sign > 0
        self._n_ports_moved = len(self._moves)
        return self._ports


def _move_pod(pods: list[PodInfo], info: PodInfo, sign: int) -> None:
    """Let a pod come to a node, or leave it, where the last one takes its place."""
    if sign > 0:
        pods.append(info)
        return
    last = pods.pop()
    if last is not info:
        pods[pods.index(info)] = last


class NodeInfo:
    """One entry of a table, for rules that look at a node at a time.

    The framework reuses one NodeInfo for all nodes of a hook's run: read from it, do not keep it.

    Example:
        def score(self, state, pod, node):
            return 100 if node.labels.get("disk") == "ssd" and len(node.pods) < 10 else 0
    """

    __slots__ = ("_position", "_table")

    def __init__(self, table: Nodes, position: int) -> None:
        self._table = table
        self._position = position

    def _move_to(self, position: int) -> None:
        self._position = position

    @property
    def name(self) -> str:
        """The node's name."""
        return self._table.name(self._position)

    @property
    def node(self) -> Node:
        """The node object."""
        return self._table.node(self._position)

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels. Read only."""
        return self.node.labels

    @property
    def annotations(self) -> dict[str, str]:
        """The node's annotations. Read only."""
        return self.node.annotations

    @property
    def pods(self) -> Sequence[PodInfo]:
        """The pods on the node, assumed ones included."""
        return self._table.pods(self._position)

    @property
    def allocatable(self) -> dict[str, int]:
        """What the node offers, in canonical units, by resource name; `pods` among them."""
        offered = self._by_name(self._table.allocatable)
        offered["pods"] = int(self._table.allowed_pods[self._position])
        return offered

    @property
    def requested(self) -> dict[str, int]:
        """What the pods on the node hold, in canonical units, by resource name."""
        return {**self._by_name(self._table.requested), **self._table.off_axis(self._position)}

    @property
    def non_zero_requested(self) -> dict[str, int]:
        """What is held of cpu and memory, with 100 milli-CPU and 200 MiB for containers that request none."""
        held = self._table.non_zero_requested[:, self._position]
        return {"cpu": int(held[0]), "memory": int(held[1])}

    def _by_name(self, matrix: IntMatrix) -> dict[str, int]:
        names = self._table.columns.resources.values
        amounts = matrix[:, self._position].tolist()
        return {name: amount for name, amount in zip(names, amounts, strict=False) if name and amount}
