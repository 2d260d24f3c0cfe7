"""ResourceSlices by pool and by node: finds the slices that belong to a node, and the nodes that a pool reaches."""

from collections.abc import Collection
from weakref import WeakValueDictionary

import numpy as np

from kubesched.api import KubeObject, ResourceSlice
from kubesched.engine import ChangeLog
from kubesched.release import Release
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_pools import DevicePool
from kubesched.state.devices.known_slices import KnownSlice, SlicePart
from kubesched.state.devices.pool_slices import PoolKey, PoolSlices
from kubesched.state.nodes import Nodes
from kubesched.state.objects import ObjectStore
from kubesched.state.stale_rows import StaleRows


class DeviceSlices:
    """All slices. `refresh` takes in what changed; `pools_of` reads it.

    Attributes:
        log: the rows whose pools may be others than before, as far as they were refreshed.
        broken: pools that are incomplete or invalid on nodes that have none of their devices. That fails requests for
            all devices there.
    """

    def __init__(self, columns: NodeColumns, objects: ObjectStore, release: Release) -> None:
        self.log = ChangeLog()
        self._release = release
        self.broken: dict[PoolKey, DevicePool] = {}
        self._columns = columns
        self._stale = StaleRows(columns)
        self._of_pool: dict[PoolKey, PoolSlices] = {}
        self._of_node: dict[str, dict[str, KnownSlice]] = {}  # node name -> the slices that name it
        self._elsewhere: dict[str, KnownSlice] = {}  # slices that may belong to several nodes
        self._reaching: dict[int, list[SlicePart]] = {}  # row -> what of those belongs to it, in the order of names
        self._pools: dict[int, tuple[DevicePool, ...]] = {}
        self._common: WeakValueDictionary[tuple[object, ...], DevicePool] = WeakValueDictionary()  # of several nodes
        objects.listen("ResourceSlice", self._changed)
        for known in objects.list("ResourceSlice"):
            if isinstance(known, ResourceSlice):
                self._add(KnownSlice(known, release))
        for key in self._of_pool:
            self._look_at(key)

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
        """The pools that have devices on a row, in the order in which they are tried."""
        pools = self._pools.get(row)
        if pools is None:
            pools = self._pools[row] = self._made_for(row)
        return pools

    def all_pools_of(self, row: int) -> tuple[DevicePool, ...]:
        """The pools of a row with the broken ones that have none of their devices there, in that order."""
        pools = self.pools_of(row)
        if not self.broken:
            return pools
        here = {(pool.driver, pool.name) for pool in pools}
        return _ordered([*pools, *(pool for key, pool in self.broken.items() if key not in here)])

    def rows_of(self, driver: str, pool: str) -> Collection[int]:
        """The rows that slices of a pool belong to."""
        known = self._of_pool.get((driver, pool))
        if known is None:
            return ()
        slices = known.slices.values()
        return self._rows(*slices) if len(slices) == 1 else set().union(*map(self._rows, slices))

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        return {
            "slices": sum(len(known.slices) for known in self._of_pool.values()),
            "pools": len(self._of_pool),
            "broken pools": len(self.broken),
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
        return _ordered([self._pool(self._of_pool[key], of_key) for key, of_key in of_pool.items()])

    def _pool(self, known: PoolSlices, parts: list[SlicePart]) -> DevicePool:
        """A pool of a row; one that no slice of a single node is part of is the same object for all its rows."""
        if any(part.known.is_of_one_node for part in parts):
            return known.on_node(parts)
        key = (known.version, *parts)
        pool = self._common.get(key)
        if pool is None:
            pool = self._common[key] = known.on_node(parts)
        return pool

    def _rows(self, known: KnownSlice) -> Collection[int]:
        columns = self._columns
        if known.is_everywhere:
            return ()
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
            key = (before.spec.driver, before.spec.pool.name)
            self._mark(key)
            self._remove(key, before.name)
            self._look_at(key)
        if after is not None:
            known = KnownSlice(after, self._release)
            self._add(known)
            self._mark(known.pool)
            self._look_at(known.pool)

    def _mark(self, key: PoolKey) -> None:
        for row in self.rows_of(*key):
            self._stale.mark(row)
            self._columns.device_log.record(row)

    def _look_at(self, key: PoolKey) -> None:
        """See whether a pool is broken on nodes that have none of its devices."""
        before, known = self.broken.pop(key, None), self._of_pool.get(key)
        pool = None if known is None else known.broken()
        if pool is not None:
            self.broken[key] = pool
        if _state(before) != _state(pool):
            for row in self._columns.row_of.values():
                self._columns.device_log.record(row)

    def _add(self, known: KnownSlice) -> None:
        of_pool = self._of_pool.get(known.pool)
        if of_pool is None:
            of_pool = self._of_pool[known.pool] = PoolSlices(known.pool, self._release)
        of_pool.add(known)
        if known.is_of_one_node and not known.is_everywhere:
            self._of_node.setdefault(known.spec.node_name, {})[known.name] = known
        elif not known.is_everywhere:
            self._elsewhere[known.name] = known

    def _remove(self, key: PoolKey, name: str) -> None:
        known = self._of_pool[key].remove(name)
        if not self._of_pool[key].slices:
            del self._of_pool[key]
        if known.is_of_one_node and not known.is_everywhere:
            here = self._of_node[known.spec.node_name]
            del here[name]
            if not here:
                del self._of_node[known.spec.node_name]
        elif not known.is_everywhere:
            del self._elsewhere[name]


def _ordered(pools: list[DevicePool]) -> tuple[DevicePool, ...]:
    if len(pools) > 1:
        pools.sort(key=lambda pool: (pool.has_binding_conditions, pool.driver, pool.name))
    return tuple(pools)


def _state(pool: DevicePool | None) -> tuple[bool, bool] | None:
    return None if pool is None else (pool.is_complete, pool.is_valid)
