"""The nodes of the cluster as columns: one row per node, one contiguous array per resource.

The columns are changed by ClusterState only. Rules see them through `Nodes`, a table of chosen rows.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from kubesched.api import BASIC_RESOURCES, Node, Taint, is_scalar_resource, parse_quantity, whole_units
from kubesched.engine import BoolVector, ChangeLog, Interner, IntMatrix, IntVector, RowAllocator, grown
from kubesched.state.image_state import ImageState
from kubesched.state.labels import LabelColumn, LabelColumns
from kubesched.state.pod_info import PodInfo, Port
from kubesched.state.pod_table import PodBatch, PodTable
from kubesched.state.resource_axis import ResourceAxis

ValueT = TypeVar("ValueT", bound=Hashable)
_NO_LABELS: Final[dict[str, str]] = {}
_Offered = tuple[Mapping[str, str | int | float], int, int, IntVector]
"""What a node offers, the generation of the resource axis; and how many pods it takes, and its amounts on that axis."""


class NodeColumns:
    """The columns. Arrays have `capacity` slots; rows below `n_rows` are in use or free (`alive` is false, the rest 0).

    Attributes:
        nodes: the object of each row; None for a free row.
        names, row_of: row to name and back.
        resources: the resource axis.
        allocatable: (resources, capacity) int64.
        held: (3 + resources, capacity) int64: what pods hold, as ResourceAxis.held_vector has it.
        n_pods, non_zero_requested, requested: its parts: (capacity,), (2, capacity) and (resources, capacity).
        allowed_pods: (capacity,) int64.
        unschedulable: (capacity,) bool.
        taint_ids, feature_ids: (capacity,) int32 into `taint_lists` and `feature_lists`.
        pods: the pods on each row, in NodeInfo order.
        pod_table: the same pods in columns.
        ports: host port entry -> (capacity,) bool, for those that are taken somewhere.
        images: image name -> ImageState.
        node_log: changes of node objects. row_log: changes of node objects or of the pods on them.
        device_log: changes of node objects, of the devices of nodes, or of what claims have of these.
    """

    def __init__(self, capacity: int = 64) -> None:
        self.capacity = capacity
        self.rows = RowAllocator()
        self.nodes: list[Node | None] = []
        self.names: list[str] = []
        self.row_of: dict[str, int] = {}
        self.resources = ResourceAxis()
        self.allocatable: IntMatrix = np.zeros((3, capacity), dtype=np.int64)
        self._set_held(np.zeros((6, capacity), dtype=np.int64))
        self.allowed_pods: IntVector = np.zeros(capacity, dtype=np.int64)
        self.alive: BoolVector = np.zeros(capacity, dtype=np.bool_)
        self.unschedulable: BoolVector = np.zeros(capacity, dtype=np.bool_)
        self.taint_ids: npt.NDArray[np.int32] = np.zeros(capacity, dtype=np.int32)
        self.taint_lists: Interner[tuple[Taint, ...]] = Interner(((),))
        self.feature_ids: npt.NDArray[np.int32] = np.zeros(capacity, dtype=np.int32)
        self.feature_lists: Interner[tuple[str, ...]] = Interner(((),))
        self.labels = LabelColumns(capacity)
        self.pods: list[list[PodInfo]] = []
        self.pod_table = PodTable()
        self.ports: dict[Port, BoolVector] = {}
        self.images: dict[str, ImageState] = {}
        self.node_log = ChangeLog()
        self.row_log = ChangeLog()
        self.device_log = ChangeLog()
        self._offered: _Offered = ({}, -1, 0, np.zeros(0, dtype=np.int64))
        self._everywhere: tuple[int, frozenset[int]] = (-1, frozenset())  # generation of node_log, and what it was then

    def _set_held(self, held: IntMatrix) -> None:
        self.held = held
        self.n_pods: IntVector = held[0]
        self.non_zero_requested: IntMatrix = held[1:3]
        self.requested: IntMatrix = held[3:]

    @property
    def offered_everywhere(self) -> frozenset[int]:
        """The rows of the resource axis of which every node offers something."""
        generation = self.node_log.generation
        if self._everywhere[0] != generation:
            offered = (self.allocatable[:, self.alive] > 0).all(axis=1)
            self._everywhere = generation, frozenset(np.flatnonzero(offered).tolist())
        return self._everywhere[1]

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
        return self.labels.get(key) or self.labels.column(key, self._all_labels)

    def _all_labels(self) -> list[Mapping[str, str]]:
        return [_NO_LABELS if node is None else node.labels for node in self.nodes]

    def _hold_resources(self, names: Iterable[str]) -> None:
        """Count a node or pod that has something of these resources, which are on the axis from now on."""
        for name in names:
            self.resources.hold(name)
        missing = len(self.resources) - len(self.allocatable)
        if missing > 0:
            extra = np.zeros((missing, self.capacity), dtype=np.int64)
            self.allocatable = np.vstack((self.allocatable, extra))
            self._set_held(np.vstack((self.held, extra)))

    def _release_resources(self, names: Iterable[str]) -> None:
        """Count one out, its amounts having been taken off."""
        for name in names:
            self.resources.release(self._resource(name))
        n_resources = len(self.resources)
        if n_resources < len(self.allocatable):
            self.allocatable = self.allocatable[:n_resources].copy()
            self._set_held(self.held[: 3 + n_resources].copy())

    def _resource(self, name: str) -> int:
        row = self.resources.find(name)
        assert row is not None, "held by whoever asks"
        return row

    def sizes(self) -> dict[str, int]:
        """Entries by registry."""
        return {
            "label values": sum(len(label.values) - 1 for label in self.labels.values()),
            "resources": len(self.resources),
            "host ports": len(self.ports),
            "taint lists": len(self.taint_lists),
            "feature lists": len(self.feature_lists),
            "images": len(self.images),
            **{f"placed pods, {name}": size for name, size in self.pod_table.sizes().items()},
        }

    # --- nodes come, change and go ---

    def add_node(self, node: Node, free_row: int | None = None) -> int:
        """Give a node a row, this free one if one is named, and fill it in."""
        row = self.rows.take(free_row)
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
        """Fill a row again from a changed object."""
        self._drop_images(row)
        self._fill(row, node)

    def remove_node(self, row: int) -> None:
        """Take a node away; its row holds zeros until it is given out again. Its pods were taken off before."""
        old = self.nodes[row]
        assert old is not None
        self._drop_images(row)
        self.taint_lists.release(int(self.taint_ids[row]))
        self.feature_lists.release(int(self.feature_ids[row]))
        del self.row_of[self.names[row]]
        self.names[row] = ""
        self.nodes[row] = None
        self.alive[row] = False
        self.unschedulable[row] = False
        for column in (self.allocatable, self.held):
            column[:, row] = 0
        for vector in (self.allowed_pods, self.taint_ids, self.feature_ids):
            vector[row] = 0
        self.labels.set(row, old.labels, _NO_LABELS)
        self._release_resources(_further(old))
        self.rows.give_back(row)
        self._changed(row)

    def _fill(self, row: int, node: Node) -> None:
        old = self.nodes[row]
        self.nodes[row] = node
        self._fill_allocatable(row, node, old)
        self.unschedulable[row] = node.unschedulable
        self.taint_ids[row] = _exchanged(self.taint_lists, self.taint_ids[row], node.taints, old)
        features = node.status.declared_features or ()
        self.feature_ids[row] = _exchanged(self.feature_lists, self.feature_ids[row], features, old)
        self.labels.set(row, _NO_LABELS if old is None else old.labels, node.labels)
        self._add_images(row, node)
        self._changed(row)

    def _fill_allocatable(self, row: int, node: Node, old: Node | None) -> None:
        self._hold_resources(_further(node))  # may replace the matrix
        offered, generation = node.status.allocatable or {}, self.resources.log.generation
        if self._offered[:2] != (offered, generation):  # most nodes are like the one before
            self._offered = (offered, generation, *self._amounts(offered))
        _, _, self.allowed_pods[row], self.allocatable[:, row] = self._offered
        if old is not None:
            self._release_resources(_further(old))

    def _amounts(self, offered: Mapping[str, str | int | float]) -> tuple[int, IntVector]:
        """How many pods a node takes, and (resources,) int64 what it offers."""
        allowed_pods, amounts = 0, np.zeros(len(self.allocatable), dtype=np.int64)
        for name, text in offered.items():
            if name == "pods":
                allowed_pods = whole_units(name, parse_quantity(text))
            elif name in BASIC_RESOURCES or is_scalar_resource(name):
                amounts[self._resource(name)] = whole_units(name, parse_quantity(text))
        return allowed_pods, amounts

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

    def image_sizes(self, node: Node) -> dict[str, int]:
        """The sizes that are known of the images of a node, which other nodes may have reported."""
        return {
            name: self.images[name].size
            for image in node.status.images or ()
            for name in image.names or ()
            if name in self.images
        }

    def restore_image_sizes(self, sizes: Mapping[str, int]) -> None:
        """Have images of the sizes that were known."""
        for name, size in sizes.items():
            self.images[name].size = size

    def _changed(self, row: int) -> None:
        self.node_log.record(row)
        self.row_log.record(row)
        self.device_log.record(row)

    def _grow(self, capacity: int) -> None:
        self.capacity = capacity
        self.allocatable = grown(self.allocatable, capacity)
        self._set_held(grown(self.held, capacity))
        self.allowed_pods = grown(self.allowed_pods, capacity)
        self.alive = grown(self.alive, capacity)
        self.unschedulable = grown(self.unschedulable, capacity)
        self.taint_ids = grown(self.taint_ids, capacity)
        self.feature_ids = grown(self.feature_ids, capacity)
        self.labels.grow(capacity)
        self.ports = {entry: grown(used, capacity) for entry, used in self.ports.items()}
        for log in (self.node_log, self.row_log, self.device_log):
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
        held = PodBatch(infos).held(self.resources).T
        at = np.array(rows, dtype=np.intp)
        for sums, amounts in zip(self.held, held, strict=True):
            np.add.at(sums, at, amounts)
        for row in rows:
            self.row_log.record(row)

    def _stand(self, row: int, info: PodInfo) -> None:
        """Note that a pod is on a row, its ports and resources; what it holds of them is still to be added."""
        pods = self.pods[row]
        info.node_row = row
        info.place = len(pods)
        pods.append(info)
        self.pod_table.add(info)
        further = info.requests.value.further
        if further:
            self._hold_resources(further)
        for entry in info.ports.value:
            self._take_port(row, entry)

    def _take_port(self, row: int, entry: Port) -> None:
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
        if info.requests.value.further:
            self._release_resources(info.requests.value.further)
        for entry in info.ports.value:
            self._free_port(row, entry)

    def _free_port(self, row: int, entry: Port) -> None:
        used = self.ports.get(entry)
        if used is not None:
            used[row] = False
            if not used.any():
                del self.ports[entry]

    def ports_on(self, row: int, infos: Iterable[PodInfo]) -> dict[Port, bool]:
        """Which of the host ports of some pods are taken on a row."""
        ports = self.ports
        return {entry: entry in ports and bool(ports[entry][row]) for info in infos for entry in info.ports.value}

    def restore_ports(self, row: int, taken: Mapping[Port, bool]) -> None:
        """Have host ports of a row taken and free as they were."""
        for entry, is_taken in taken.items():
            if is_taken:
                self._take_port(row, entry)
            else:
                self._free_port(row, entry)

    def has_ports_of(self, info: PodInfo) -> bool:
        """Whether all host ports of a placed pod are taken on its row; another pod that left may have freed some."""
        row, ports = info.node_row, self.ports
        return row < 0 or all(entry in ports and ports[entry][row] for entry in info.ports.value)

    def replace_pod(self, row: int, old: PodInfo, new: PodInfo) -> None:
        """Count a changed pod in place of what it was; it keeps its place in the order."""
        place = old.place
        self.remove_pod(row, old)
        self.add_pod(row, new)
        self.swap_in(new, place)

    def swap_in(self, info: PodInfo, place: int) -> None:
        """Let the last pod of a row change places with another one: the inverse of how a pod's place is filled."""
        pods = self.pods[info.node_row]
        if info.place != place:
            displaced = pods[place]
            self._put(info, place)
            self._put(displaced, len(pods) - 1)

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

    def arrange(self, row: int, infos: Sequence[PodInfo]) -> None:
        """Have the pods of a row in this order."""
        for place, info in enumerate(infos):
            self._put(info, place)
        self.row_log.record(row)

    def _put(self, info: PodInfo, place: int) -> None:
        self.pods[info.node_row][place] = info
        info.place = place
        self.pod_table.moved(info)

    def _move(self, row: int, info: PodInfo, sign: int) -> None:
        held = self.held[:, row]
        if sign > 0:
            held += self.resources.held_vector(info.requests)
        else:
            held -= self.resources.held_vector(info.requests)
        self.row_log.record(row)


def _further(node: Node) -> list[str]:
    """The resources that a node offers beyond cpu, memory and ephemeral-storage."""
    return [name for name in node.status.allocatable or () if name not in BASIC_RESOURCES and is_scalar_resource(name)]


def _exchanged(interner: Interner[ValueT], number: int, value: ValueT, old: Node | None) -> int:
    """The number of a row's new value; the row no longer has that of the old one, if there was an old one."""
    new = interner.hold(value)
    if old is not None:
        interner.release(int(number))
    return new
