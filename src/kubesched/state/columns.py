"""What the cluster knows of its nodes, in columns: one row per node, one contiguous array row per resource.

The columns are changed by ClusterState only. Rules see them through `Nodes`, a table of chosen rows.
"""

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import Node, Taint, is_scalar_resource, parse_quantity, whole_units
from kubesched.engine import BoolVector, ChangeLog, Interner, IntMatrix, IntVector, RowAllocator, grown
from kubesched.state.labels import LabelColumn
from kubesched.state.pod_info import Part, PodInfo, Port
from kubesched.state.pod_table import PodBatch, PodTable
from kubesched.state.requests import PodRequests

__all__ = ["CPU", "EPHEMERAL_STORAGE", "MEMORY", "ImageState", "NodeColumns"]

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2
Rows = npt.NDArray[np.intp]
_BASIC: Final = ("cpu", "memory", "ephemeral-storage")
_LEADING: Final = [CPU, MEMORY, EPHEMERAL_STORAGE]


class ImageState:
    """One image name.

    Attributes:
        size: what the first node reported.
        rows: of the nodes that have it; changed by `add` and `discard`.
    """

    __slots__ = ("_row_vector", "rows", "size")

    def __init__(self, size: int, row: int) -> None:
        self.size = size
        self.rows = {row}
        self._row_vector: Rows | None = None

    def add(self, row: int) -> None:
        """A node has the image."""
        self.rows.add(row)
        self._row_vector = None

    def discard(self, row: int) -> None:
        """A node has it no more."""
        self.rows.discard(row)
        self._row_vector = None

    @property
    def row_vector(self) -> Rows:
        """The rows as an array, in no order."""
        if self._row_vector is None:
            self._row_vector = np.fromiter(self.rows, dtype=np.intp, count=len(self.rows))
        return self._row_vector


class NodeColumns:
    """The columns. Arrays have `capacity` slots; rows below `n_rows` are in use or free (`alive` is false, the rest 0).

    Attributes:
        nodes: the object of each row; None for a free row.
        names, row_of: row to name and back.
        resources: names of the resource axis; cpu, memory, ephemeral-storage first.
        allocatable, requested: (resources, capacity) int64.
        non_zero_requested: (2, capacity) int64, cpu and memory with the scoring defaults.
        allowed_pods, n_pods: (capacity,) int64.
        unschedulable: (capacity,) bool.
        taint_ids, feature_ids: (capacity,) int32 into `taint_lists` and `feature_lists`.
        pods: the pods on each row, in NodeInfo order.
        pod_table: the same pods in columns.
        ports: host port entry -> (capacity,) bool.
        images: image name -> ImageState.
        node_log: changes of node objects. row_log: changes of node objects or of the pods on them.
        node_set_generation: grows when nodes come or go, or their images change.
    """

    def __init__(self, capacity: int = 64) -> None:
        self.capacity = capacity
        self.rows = RowAllocator()
        self.nodes: list[Node | None] = []
        self.names: list[str] = []
        self.row_of: dict[str, int] = {}
        self.resources: Interner[str] = Interner(_BASIC)
        self.allocatable: IntMatrix = np.zeros((3, capacity), dtype=np.int64)
        self.requested: IntMatrix = np.zeros((3, capacity), dtype=np.int64)
        self.non_zero_requested: IntMatrix = np.zeros((2, capacity), dtype=np.int64)
        self.allowed_pods: IntVector = np.zeros(capacity, dtype=np.int64)
        self.n_pods: IntVector = np.zeros(capacity, dtype=np.int64)
        self.alive: BoolVector = np.zeros(capacity, dtype=np.bool_)
        self.unschedulable: BoolVector = np.zeros(capacity, dtype=np.bool_)
        self.taint_ids: npt.NDArray[np.int32] = np.zeros(capacity, dtype=np.int32)
        self.taint_lists: Interner[tuple[Taint, ...]] = Interner(((),))
        self.feature_ids: npt.NDArray[np.int32] = np.zeros(capacity, dtype=np.int32)
        self.feature_lists: Interner[tuple[str, ...]] = Interner(((),))
        self.labels: dict[str, LabelColumn] = {}
        self.pods: list[list[PodInfo]] = []
        self.pod_table = PodTable()
        self.ports: dict[Port, BoolVector] = {}
        self.images: dict[str, ImageState] = {}
        self.node_log = ChangeLog()
        self.row_log = ChangeLog()
        self.node_set_generation = 0

    @property
    def n_rows(self) -> int:
        """Rows in use or free; every array is meaningful up to here."""
        return self.rows.n_rows

    @property
    def n_nodes(self) -> int:
        """Nodes there are."""
        return len(self.row_of)

    def label(self, key: str) -> LabelColumn:
        """The column of a label key, made when first asked for."""
        column = self.labels.get(key)
        if column is None:
            column = self.labels[key] = LabelColumn(key, self.capacity)
            column.fill([None if node is None else node.labels.get(key) for node in self.nodes])
        return column

    def resource_row(self, name: str) -> int:
        """The index of a resource on the resource axis, a new one at first sight."""
        index = self.resources.number(name)
        if index >= len(self.allocatable):
            extra = np.zeros((index + 1 - len(self.allocatable), self.capacity), dtype=np.int64)
            self.allocatable = np.vstack((self.allocatable, extra))
            self.requested = np.vstack((self.requested, extra))
        return index

    def resource_rows(self, names: Sequence[str]) -> slice | list[int]:
        """Where some resources stand on the resource axis, as an index; names that no node knows get a row of zeros."""
        rows = [self.resource_row(name) for name in names]
        return slice(0, len(rows)) if rows == _LEADING[: len(rows)] else rows

    # --- nodes come, change and go ---

    def add_node(self, node: Node) -> int:
        """Give a node a row and fill it in."""
        row = self.rows.take()
        if row == len(self.nodes):
            self.nodes.append(None)
            self.names.append("")
            self.pods.append([])
            if row >= self.capacity:
                self._grow(2 * self.capacity)
        self.names[row] = node.name
        self.row_of[node.name] = row
        self.alive[row] = True
        self._fill(row, node)
        return row

    def update_node(self, row: int, node: Node) -> None:
        """Fill a row anew from a changed object."""
        self._drop_images(row)
        self._fill(row, node)

    def remove_node(self, row: int) -> None:
        """Take a node away; its row holds zeros until it is given out again. Its pods were taken off before."""
        self._drop_images(row)
        del self.row_of[self.names[row]]
        self.names[row] = ""
        self.nodes[row] = None
        self.alive[row] = False
        self.unschedulable[row] = False
        for column in (self.allocatable, self.requested, self.non_zero_requested):
            column[:, row] = 0
        for vector in (self.allowed_pods, self.n_pods, self.taint_ids, self.feature_ids):
            vector[row] = 0
        for label in self.labels.values():
            label.set(row, None)
        self.rows.give_back((row,))
        self._changed(row)
        self.node_set_generation += 1

    def _fill(self, row: int, node: Node) -> None:
        old = self.nodes[row]
        self.nodes[row] = node
        self.allocatable[:, row] = 0
        self.allowed_pods[row] = 0
        for name, text in (node.status.allocatable or {}).items():
            if name == "pods":
                self.allowed_pods[row] = whole_units(name, parse_quantity(text))
            elif name in _BASIC or is_scalar_resource(name):
                index = self.resource_row(name)  # may replace the matrix
                self.allocatable[index, row] = whole_units(name, parse_quantity(text))
        self.unschedulable[row] = node.unschedulable
        self.taint_ids[row] = self.taint_lists.number(node.taints)
        self.feature_ids[row] = self.feature_lists.number(node.status.declared_features or ())
        for key, label in self.labels.items():
            label.set(row, node.labels.get(key))
        self._add_images(row, node)
        if old is None or old.status.images != node.status.images:
            self.node_set_generation += 1
        self._changed(row)

    def _add_images(self, row: int, node: Node) -> None:
        for image in node.status.images or ():
            for name in image.names or ():
                state = self.images.get(name)
                if state is None:
                    self.images[name] = ImageState(image.size_bytes, row)
                else:
                    state.add(row)

    def _drop_images(self, row: int) -> None:
        node = self.nodes[row]
        for image in (node.status.images if node else None) or ():
            for name in image.names or ():
                state = self.images.get(name)
                if state is not None:
                    state.discard(row)
                    if not state.rows:
                        del self.images[name]

    def _changed(self, row: int) -> None:
        self.node_log.record(row)
        self.row_log.record(row)

    def _grow(self, capacity: int) -> None:
        self.capacity = capacity
        self.allocatable = grown(self.allocatable, capacity)
        self.requested = grown(self.requested, capacity)
        self.non_zero_requested = grown(self.non_zero_requested, capacity)
        self.allowed_pods = grown(self.allowed_pods, capacity)
        self.n_pods = grown(self.n_pods, capacity)
        self.alive = grown(self.alive, capacity)
        self.unschedulable = grown(self.unschedulable, capacity)
        self.taint_ids = grown(self.taint_ids, capacity)
        self.feature_ids = grown(self.feature_ids, capacity)
        for label in self.labels.values():
            label.grow(capacity)
        self.ports = {entry: grown(used, capacity) for entry, used in self.ports.items()}
        for log in (self.node_log, self.row_log):
            log.keep(2 * capacity)

    # --- pods come and go ---

    def add_pod(self, row: int, info: PodInfo) -> None:
        """Count a pod on a row."""
        self._stand(row, info)
        self._move(row, info, 1)

    def add_pods(self, rows: Sequence[int], infos: Sequence[PodInfo]) -> None:
        """Count the i-th pod on rows[i], one after another."""
        if not infos:
            return
        for row, info in zip(rows, infos, strict=True):
            self._stand(row, info)
        held = PodBatch(infos).held(self).T  # may make the resource axis longer
        at = np.array(rows, dtype=np.intp)
        for sums, amounts in zip((self.n_pods, *self.non_zero_requested, *self.requested), held, strict=True):
            np.add.at(sums, at, amounts)
        for row in rows:
            self.row_log.record(row)

    def _stand(self, row: int, info: PodInfo) -> None:
        """Note that a pod is on a row, and its ports; what it holds is still to be added."""
        pods = self.pods[row]
        info.node_row = row
        info.place = len(pods)
        pods.append(info)
        self.pod_table.add(info)
        for entry in info.ports.value:
            used = self.ports.get(entry)
            if used is None:
                used = self.ports[entry] = np.zeros(self.capacity, dtype=np.bool_)
            used[row] = True

    def remove_pod(self, row: int, info: PodInfo) -> None:
        """Take a pod off a row; the last pod takes its place in the order, as in NodeInfo.RemovePod.

        A host port is free again although another pod there may hold it too: upstream keeps a set, not counts.
        """
        pods = self.pods[row]
        last = pods.pop()
        if last is not info:
            self._put(last, info.place)
        info.node_row = -1
        self.pod_table.remove(info)
        self._move(row, info, -1)
        for entry in info.ports.value:
            self.ports[entry][row] = False

    def replace_pod(self, row: int, old: PodInfo, new: PodInfo) -> None:
        """Count a changed pod in place of what it was; it keeps its place in the order."""
        place = old.place
        self.remove_pod(row, old)
        self.add_pod(row, new)
        if new.place != place:
            displaced = self.pods[row][place]
            self._put(new, place)
            self._put(displaced, len(self.pods[row]) - 1)

    def renew_pod(self, old: PodInfo, new: PodInfo, *, is_same: bool) -> None:
        """Put a newer reading of a pod in the place of an older one that holds the same.

        Args:
            is_same: whether rules can read no difference; otherwise the row counts as changed.
        """
        row = new.node_row = old.node_row
        new.place, new.slot = old.place, old.slot
        old.node_row = old.slot = -1
        self.pods[row][new.place] = new
        self.pod_table.infos[new.slot] = new
        if not is_same:
            self.pod_table.moved(new)
            self.row_log.record(row)

    def _put(self, info: PodInfo, place: int) -> None:
        self.pods[info.node_row][place] = info
        info.place = place
        self.pod_table.moved(info)

    def held_matrix(self, parts: Collection[Part[PodRequests]]) -> IntMatrix:
        """(parts, 3 + resources) int64: `held_vector` of each."""
        for part in parts:
            self.held_vector(part)  # may make the resource axis longer
        vectors = [self.held_vector(part) for part in parts]
        return np.array(vectors) if vectors else np.zeros((0, 3 + len(self.requested)), dtype=np.int64)

    def held_vector(self, part: Part[PodRequests]) -> IntVector:
        """What a pod with these requests adds to a node.

        Returns: (3 + resources,) int64: one pod, cpu and memory with the scoring defaults, then all resources as is.
        """
        vector: IntVector | None = part.compiled.get(NodeColumns)
        if vector is None or len(vector) != 3 + len(self.requested):
            requests = part.value
            rows = {self.resource_row(name): amount for name, amount in requests.held.items() if amount}
            vector = np.zeros(3 + len(self.requested), dtype=np.int64)
            vector[0] = 1
            vector[1] = requests.held_non_zero.get("cpu", 0)
            vector[2] = requests.held_non_zero.get("memory", 0)
            for row, amount in rows.items():
                vector[3 + row] = amount
            part.compiled[NodeColumns] = vector
        return vector

    def _move(self, row: int, info: PodInfo, sign: int) -> None:
        vector = self.held_vector(info.requests)  # may replace the matrix
        non_zero_requested, requested = self.non_zero_requested[:, row], self.requested[:, row]
        if sign > 0:
            non_zero_requested += vector[1:3]
            requested += vector[3:]
        else:
            non_zero_requested -= vector[1:3]
            requested -= vector[3:]
        self.n_pods[row] += sign
        self.row_log.record(row)
