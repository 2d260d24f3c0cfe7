"""ResourceSlices by pool and by node: finds the slices that belong to a node, and the nodes that a pool reaches."""

from collections import Counter
from collections.abc import Iterable
from weakref import WeakValueDictionary

import numpy as np

from kubesched.api import KubeObject, ResourceSlice, ResourceSliceSpec
from kubesched.engine import ChangeLog
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_pools import DevicePool, KnownSlice, SlicePart, pool_from
from kubesched.state.nodes import Nodes
from kubesched.state.objects import ObjectStore
from kubesched.state.stale_rows import StaleRows

PoolKey = tuple[str, str]
"""Driver and name of a pool."""


class DeviceSlices:
    """All slices. `refresh` takes in what changed; `pools_of` reads it.

    Attributes:
        log: the rows whose pools may be others than before, as far as they were refreshed.
    """

    def __init__(self, columns: NodeColumns, objects: ObjectStore) -> None:
        self.log = ChangeLog()
        self._columns = columns
        self._stale = StaleRows(columns)
        self._of_pool: dict[PoolKey, dict[str, KnownSlice]] = {}
        self._n_slices: dict[PoolKey, Counter[int]] = {}  # by generation
        self._of_node: dict[str, dict[str, KnownSlice]] = {}  # node name -> the slices that name it
        self._elsewhere: dict[str, KnownSlice] = {}  # slices that may belong to several nodes
        self._reaching: dict[int, list[SlicePart]] = {}  # row -> what of those belongs to it, in the order of names
        self._pools: dict[int, tuple[DevicePool, ...]] = {}
        self._common: WeakValueDictionary[tuple[object, ...], DevicePool] = WeakValueDictionary()  # of several nodes
        objects.listen("ResourceSlice", self._changed)
        for known in objects.list("ResourceSlice"):
            if isinstance(known, ResourceSlice):
                self._add(KnownSlice(known))

    def refresh(self) -> None:
        """Take in what changed."""
        rows = self._stale.take()
        if not rows:
            return
        columns = self._columns
        self.log.keep(2 * columns.capacity)
        for row in rows:
            self._pools.pop(row, None)
            self._reaching.pop(row, None)
            self.log.record(row)
        if self._elsewhere:
            nodes = Nodes(columns, np.array([row for row in rows if columns.alive[row]], dtype=np.intp))
            for name in sorted(self._elsewhere):
                for row, part in self._elsewhere[name].parts_on(nodes):
                    self._reaching.setdefault(row, []).append(part)

    def pools_of(self, row: int) -> tuple[DevicePool, ...]:
        """The pools of a row, in the order in which they are tried."""
        pools = self._pools.get(row)
        if pools is None:
            pools = self._pools[row] = self._made_for(row)
        return pools

    def rows_of(self, driver: str, pool: str) -> set[int]:
        """The rows that slices of a pool belong to."""
        return {row for known in self._of_pool.get((driver, pool), {}).values() for row in self._rows(known)}

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        return {
            "slices": sum(map(len, self._of_pool.values())),
            "pools": len(self._of_pool),
            "generations": sum(map(len, self._n_slices.values())),
            "nodes": len(self._of_node),
            "slices of several nodes": len(self._elsewhere),
            "reached rows": len(self._reaching),
            "common pools": len(self._common),
            "rows": len(self._pools),
        }

    # --- the pools of a row ---

    def _made_for(self, row: int) -> tuple[DevicePool, ...]:
        here = self._of_node.get(self._columns.names[row], {})
        parts = [SlicePart(known) for known in here.values()]
        if elsewhere := self._reaching.get(row):
            parts += elsewhere
        if len(parts) > 1:
            parts.sort(key=lambda part: part.known.name)
        of_pool: dict[PoolKey, list[SlicePart]] = {}
        for part in parts:
            of_pool.setdefault(part.known.pool, []).append(part)
        pools = [self._pool(key, parts) for key, parts in of_pool.items()]
        if len(pools) > 1:
            pools.sort(key=lambda pool: (pool.has_binding_conditions, pool.driver, pool.name))
        return tuple(pools)

    def _pool(self, key: PoolKey, parts: list[SlicePart]) -> DevicePool:
        """A pool of a row; one that no slice of a single node is part of is the same object for all its rows."""
        generation = max(part.known.spec.pool.generation for part in parts)
        n_slices = self._n_slices[key][generation]
        newest = [part for part in parts if part.known.spec.pool.generation == generation]
        if any(part.known.is_of_one_node for part in newest):
            return pool_from(key, newest, n_slices)
        pool = self._common.get((n_slices, *newest))
        if pool is None:
            pool = self._common[n_slices, *newest] = pool_from(key, newest, n_slices)
        return pool

    def _rows(self, known: KnownSlice) -> Iterable[int]:
        columns = self._columns
        if known.is_of_one_node:
            row = columns.row_of.get(known.spec.node_name)
            return () if row is None else (row,)
        rows = np.flatnonzero(columns.alive[: columns.n_rows])
        reached: list[int] = rows[known.reached(Nodes(columns, rows))].tolist()
        return reached

    # --- slices come, change and go ---

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
        for row in self.rows_of(spec.driver, spec.pool.name):
            self._stale.mark(row)
            self._columns.row_log.record(row)

    def _add(self, known: KnownSlice) -> None:
        self._of_pool.setdefault(known.pool, {})[known.name] = known
        self._n_slices.setdefault(known.pool, Counter())[known.spec.pool.generation] += 1
        where = self._of_node.setdefault(known.spec.node_name, {}) if known.is_of_one_node else self._elsewhere
        where[known.name] = known

    def _remove(self, removed: ResourceSlice) -> None:
        pool = (removed.spec.driver, removed.spec.pool.name)
        known = self._of_pool[pool].pop(removed.name)
        generation = known.spec.pool.generation
        self._n_slices[pool][generation] -= 1
        if not self._n_slices[pool][generation]:
            del self._n_slices[pool][generation]
        if not self._of_pool[pool]:
            del self._of_pool[pool], self._n_slices[pool]
        if not known.is_of_one_node:
            del self._elsewhere[known.name]
            return
        here = self._of_node[known.spec.node_name]
        del here[known.name]
        if not here:
            del self._of_node[known.spec.node_name]
