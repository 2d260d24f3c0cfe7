"""CSINode objects as columns: the drivers of each node, their volume limits, and the migrated in-tree plugins."""

from typing import Final

import numpy as np

from kubesched.api import MAX_INT64, MIGRATED_PLUGINS, CSINode, CSINodeDriver, KubeObject
from kubesched.engine import BoolVector, IntVector, grown
from kubesched.state.columns import NodeColumns
from kubesched.state.objects import ObjectStore
from kubesched.state.stale_rows import StaleRows

NO_LIMIT: Final = MAX_INT64
"""The value in a column of limits where a node has none."""


class CSINodes:
    """Columns over the rows of the cluster, brought up to date by `refresh`.

    Attributes:
        limits: driver -> (slots,) int64, NO_LIMIT where a node has no limit for it.
        installed: driver -> (slots,) bool: nodes whose CSINode lists it.
        has_limits: (slots,) bool: nodes with a limit for some driver.
        migrated: in-tree plugin -> (slots,) bool: nodes whose CSINode lists it as migrated.
    """

    def __init__(self, columns: NodeColumns, objects: ObjectStore) -> None:
        self._columns = columns
        self._objects = objects
        self._stale = StaleRows(columns)
        self.limits: dict[str, IntVector] = {}
        self.installed: dict[str, BoolVector] = {}
        self.has_limits: BoolVector = np.zeros(columns.capacity, dtype=np.bool_)
        self.migrated: dict[str, BoolVector] = {}
        objects.listen("CSINode", self._changed)

    def refresh(self) -> None:
        """Take in what changed."""
        rows = self._stale.take()
        if rows and len(self.has_limits) < self._columns.capacity:
            self._grow(self._columns.capacity)
        n_lost = 0
        for row in rows:
            n_lost += self._read(row)
        if n_lost:
            self.limits = {driver: limits for driver, limits in self.limits.items() if (limits != NO_LIMIT).any()}
            self.installed = {driver: flags for driver, flags in self.installed.items() if flags.any()}
            self.migrated = {plugin: flags for plugin, flags in self.migrated.items() if flags.any()}

    def sizes(self) -> dict[str, int]:
        """Columns by what they are about."""
        return {"limits": len(self.limits), "installed": len(self.installed), "migrated": len(self.migrated)}

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        csi_node = new or old
        assert csi_node is not None
        self._stale.mark_name(csi_node.name)

    def _read(self, row: int) -> int:
        """Take in one row. Returns: how many drivers and plugins its CSINode no longer names."""
        n_lost = 0
        name = self._columns.names[row]
        known = self._objects.get("CSINode", name) if name else None
        csi_node = known if isinstance(known, CSINode) else None
        limits = driver_limits(csi_node)
        for driver in limits.keys() - self.limits.keys():
            self.limits[driver] = np.full(len(self.has_limits), NO_LIMIT, dtype=np.int64)
        for driver, column in self.limits.items():
            n_lost += driver not in limits and int(column[row]) != NO_LIMIT
            column[row] = limits.get(driver, NO_LIMIT)
        self.has_limits[row] = bool(limits)
        n_lost += self._flag(row, self.installed, {driver.name for driver in drivers_of(csi_node)})
        return n_lost + self._flag(row, self.migrated, migrated_plugins(csi_node))

    def _flag(self, row: int, columns: dict[str, BoolVector], names: set[str]) -> int:
        """Set the flag of these names in a row, and no other. Returns: how many lose it."""
        n_lost = 0
        for name in names - columns.keys():
            columns[name] = np.zeros(len(self.has_limits), dtype=np.bool_)
        for name, flags in columns.items():
            n_lost += name not in names and bool(flags[row])
            flags[row] = name in names
        return n_lost

    def _grow(self, capacity: int) -> None:
        n_slots = len(self.has_limits)
        self.has_limits = grown(self.has_limits, capacity)
        self.installed = {driver: grown(flags, capacity) for driver, flags in self.installed.items()}
        self.migrated = {plugin: grown(flags, capacity) for plugin, flags in self.migrated.items()}
        for driver, column in self.limits.items():
            self.limits[driver] = grown(column, capacity)
            self.limits[driver][n_slots:] = NO_LIMIT


def drivers_of(csi_node: CSINode | None) -> tuple[CSINodeDriver, ...]:
    """The drivers that a node lists."""
    return (csi_node.spec.drivers if csi_node else None) or ()


def driver_limits(csi_node: CSINode | None) -> dict[str, int]:
    """How many volumes of each driver a node takes; only drivers with a limit."""
    drivers = drivers_of(csi_node)
    return {d.name: d.allocatable.count for d in drivers if d.allocatable and d.allocatable.count is not None}


def migrated_plugins(csi_node: CSINode | None) -> set[str]:
    """The in-tree plugins that the node's kubelet leaves to CSI drivers, by their names in the annotation."""
    listed = csi_node.annotations.get(MIGRATED_PLUGINS, "") if csi_node else ""
    return set(listed.split(",")) - {""}
