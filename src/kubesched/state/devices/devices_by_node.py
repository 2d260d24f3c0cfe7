"""What the devices of each node are and who has them, kept so that a copy of a moment costs little."""

from typing import NamedTuple

from kubesched.state.columns import NodeColumns
from kubesched.state.devices.changed_rows import ChangedRows
from kubesched.state.devices.device_pools import DevicePool
from kubesched.state.devices.device_slices import DeviceSlices
from kubesched.state.devices.devices_in_use import DevicePoolUse, DevicesInUse


class NodeDevices(NamedTuple):
    """The pools of a node, and what of each is in use."""

    node: str
    pools: tuple[DevicePool, ...]
    uses: tuple[DevicePoolUse, ...]


class DevicesByNode:
    """The devices of every row, brought up to date by the logs of changed rows."""

    def __init__(self, columns: NodeColumns, slices: DeviceSlices, in_use: DevicesInUse) -> None:
        self._columns = columns
        self._slices = slices
        self._in_use = in_use
        self._changed = ChangedRows(columns, slices, in_use)
        self._rows: dict[int, NodeDevices] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def now(self) -> tuple[NodeDevices, ...]:
        """Those of each node, in the order of the nodes; what has not changed is the same object as before."""
        self._refresh()
        return tuple(map(self._rows.__getitem__, self._columns.row_of.values()))

    def _refresh(self) -> None:
        changed = self._changed.take()
        if changed is None:
            return
        alive = set(self._columns.row_of.values())
        known: dict[DevicePool, DevicePoolUse] = {}  # several rows may have the same pool
        for row in set().union(*changed):
            if row in alive:
                self._rows[row] = self._devices_of(row, known)
            else:
                self._rows.pop(row, None)

    def _devices_of(self, row: int, known: dict[DevicePool, DevicePoolUse]) -> NodeDevices:
        pools = self._slices.pools_of(row)
        for pool in pools:
            if pool not in known:
                known[pool] = self._in_use.of_pool(pool)
        return NodeDevices(self._columns.names[row], pools, tuple([known[pool] for pool in pools]))
