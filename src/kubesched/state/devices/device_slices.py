"""ResourceSlices by pool and by node: finds the slices that belong to a node, and the nodes that a pool reaches."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from kubesched.api import Device, KubeObject, Node, NodeSelector, ResourceSlice, ResourceSliceSpec
from kubesched.engine import BoolVector
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_pools import DeviceId, DevicePool, PoolDevice, SliceOnNode, pools_from
from kubesched.state.node_terms import NodeTerms
from kubesched.state.nodes import Nodes
from kubesched.state.objects import ObjectStore
from kubesched.state.stale_rows import StaleRows


class KnownSlice:
    """A ResourceSlice with its devices.

    Attributes:
        name, spec: of the object.
        devices: all of them.
        places: where the slice is; with perDeviceNodeSelection where each of its devices is.
    """

    __slots__ = ("devices", "name", "places", "spec")

    def __init__(self, known: ResourceSlice) -> None:
        self.name = known.name
        self.spec = known.spec
        self.devices = tuple(PoolDevice(device, known.spec) for device in known.spec.devices or ())
        placed = [device.spec for device in self.devices] if known.spec.per_device_node_selection else [known.spec]
        self.places = [_Place(one) for one in placed]

    @property
    def pool(self) -> tuple[str, str]:
        """Its pool: driver and name."""
        return self.spec.driver, self.spec.pool.name

    def on(self, node: Node) -> SliceOnNode | None:
        """What of it belongs to a node; None where nothing does."""
        if not self.spec.per_device_node_selection:
            return (self.spec, self.devices) if self.places[0].has(node) else None
        devices = [device for device, place in zip(self.devices, self.places, strict=True) if place.has(node)]
        return (self.spec, devices) if devices else None

    def reached(self, nodes: Nodes) -> BoolVector:
        """(n,) bool: nodes that something of it belongs to."""
        reached = np.zeros(len(nodes), dtype=np.bool_)
        for place in self.places:
            reached |= place.reached(nodes)
        return reached


class _Place:
    """Where a slice or a device is."""

    __slots__ = ("_terms", "is_everywhere", "node_name")

    def __init__(self, written: ResourceSliceSpec | Device) -> None:
        self.node_name = written.node_name
        self.is_everywhere = written.all_nodes
        self._terms = NodeTerms(written.node_selector or NodeSelector())

    def has(self, node: Node) -> bool:
        if self.node_name:
            return self.node_name == node.name
        return self.is_everywhere or self._terms.matches_node(node)

    def reached(self, nodes: Nodes) -> BoolVector:
        if not self.node_name:
            return np.ones(len(nodes), dtype=np.bool_) if self.is_everywhere else self._terms.matches(nodes)
        reached = np.zeros(len(nodes), dtype=np.bool_)
        position = nodes.position_of(self.node_name)
        if position is not None:
            reached[position] = True
        return reached


class DeviceSlices:
    """All slices. Its users read `pools_of` after `refresh`, which also returns the rows that changed."""

    def __init__(self, columns: NodeColumns, objects: ObjectStore) -> None:
        self._columns = columns
        self._stale = StaleRows(columns)
        self._of_pool: dict[tuple[str, str], dict[str, KnownSlice]] = {}
        self._n_slices: dict[tuple[str, str], Counter[int]] = {}  # by generation
        self._of_node: dict[str, dict[str, KnownSlice]] = {}  # node name -> slices that are there as a whole
        self._elsewhere: dict[str, KnownSlice] = {}  # slices that may belong to several nodes
        self._pools: dict[int, tuple[DevicePool, ...]] = {}
        objects.listen("ResourceSlice", self._changed)
        for known in objects.list("ResourceSlice"):
            self._changed(None, known)

    def refresh(self) -> list[int]:
        """Take in what changed. Returns: the rows whose pools may be others."""
        rows = self._stale.take()
        for row in rows:
            self._pools.pop(row, None)
        return rows

    def pools_of(self, row: int) -> tuple[DevicePool, ...]:
        """The pools of a row, in the order in which they are tried."""
        pools = self._pools.get(row)
        if pools is None:
            pools = self._pools[row] = self.made_for(row)
        return pools

    def made_for(self, row: int) -> tuple[DevicePool, ...]:
        """The same, computed."""
        node = self._columns.nodes[row]
        if node is None:
            return ()
        slices = {**self._of_node.get(node.name, {}), **self._elsewhere}
        found = (slices[name].on(node) for name in sorted(slices))
        return pools_from((one for one in found if one is not None), self._n_slices)

    def note_use(self, device: DeviceId) -> None:
        """What is in use of a device changed."""
        for row in self._rows_of(device[0], device[1]):
            self._columns.row_log.record(row)

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        return {
            "slices": sum(map(len, self._of_pool.values())),
            "pools": len(self._of_pool),
            "generations": sum(map(len, self._n_slices.values())),
            "nodes": len(self._of_node),
            "slices of several nodes": len(self._elsewhere),
            "rows": len(self._pools),
        }

    def _rows_of(self, driver: str, pool: str) -> set[int]:
        """The rows that slices of a pool belong to."""
        return {row for known in self._of_pool.get((driver, pool), {}).values() for row in self._rows(known)}

    def _rows(self, known: KnownSlice) -> Iterator[int]:
        columns = self._columns
        if _is_of_one_node(known):
            row = columns.row_of.get(known.spec.node_name)
            if row is not None:
                yield row
        else:
            everything = Nodes(columns)
            yield from np.flatnonzero(known.reached(everything) & everything.take(columns.alive)).tolist()

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        before = old if isinstance(old, ResourceSlice) else None
        after = new if isinstance(new, ResourceSlice) else None
        if before is not None and after is not None and before.spec == after.spec:
            return
        if before is not None:
            self._mark(before.spec)
            self._remove(before)
        if after is not None:
            self._add(KnownSlice(after))
            self._mark(after.spec)

    def _mark(self, spec: ResourceSliceSpec) -> None:
        for row in self._rows_of(spec.driver, spec.pool.name):
            self._stale.mark(row)
            self._columns.row_log.record(row)

    def _add(self, known: KnownSlice) -> None:
        self._of_pool.setdefault(known.pool, {})[known.name] = known
        self._n_slices.setdefault(known.pool, Counter())[known.spec.pool.generation] += 1
        where = self._of_node.setdefault(known.spec.node_name, {}) if _is_of_one_node(known) else self._elsewhere
        where[known.name] = known

    def _remove(self, slice_: ResourceSlice) -> None:
        of_pool = self._of_pool[slice_.spec.driver, slice_.spec.pool.name]
        known = of_pool.pop(slice_.name)
        n_slices = self._n_slices[known.pool]
        n_slices[known.spec.pool.generation] -= 1
        if not n_slices[known.spec.pool.generation]:
            del n_slices[known.spec.pool.generation]
        if not of_pool:
            del self._of_pool[known.pool], self._n_slices[known.pool]
        if not _is_of_one_node(known):
            del self._elsewhere[known.name]
            return
        here = self._of_node[known.spec.node_name]
        del here[known.name]
        if not here:
            del self._of_node[known.spec.node_name]


def _is_of_one_node(known: KnownSlice) -> bool:
    return bool(known.spec.node_name) and not known.spec.per_device_node_selection
