"""Finds nodes whose devices are alike, so that a search for devices has one result for all of them.

No two devices of real clusters are equal: each has an attribute such as a uuid. So devices are compared in what a claim
reads of them, and in what decides whatever it reads. There is a number per row for each set of names that claims read.
The numbers are kept and brought up to date by the logs of changed rows.
"""

from collections import deque
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kubesched.engine import Interner, IntVector, grown
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.changed_rows import ChangedRows
from kubesched.state.devices.device_pools import DevicePool, PoolDevice, ordered
from kubesched.state.devices.device_slices import DeviceSlices
from kubesched.state.devices.devices_in_use import DevicePoolUse, DevicesInUse

if TYPE_CHECKING:
    from kubesched.cel import Reads

_MAX_TABLES: Final = 16
_N_RECENT: Final = 512


class DeviceProjection:
    """A number for each row; rows with equal numbers are alike for claims that read no more than some names.

    They are equal in everything that decides: the drivers, the order and the state of the pools, and of each device the
    taints, counters, what is in use, and its capacities if it is shared. Names of pools and devices decide nothing.

    A content that no row has any more keeps its number for a while: a claim that is freed is often taken again.

    Attributes:
        numbers: (slots,) int64; in the end, a number that no row has is given out again.
    """

    def __init__(self, reads: "Reads", columns: NodeColumns, slices: DeviceSlices, in_use: DevicesInUse) -> None:
        self.numbers: IntVector = np.full(columns.capacity, -1, dtype=np.int64)
        self._reads = reads
        self._columns = columns
        self._slices = slices
        self._in_use = in_use
        self._changed = ChangedRows(columns, slices, in_use)
        self._pools: Interner[Hashable] = Interner()
        self._contents: Interner[Hashable] = Interner()
        self._pools_of: list[tuple[int, ...]] = []  # row -> numbers of its pools
        self._recent: deque[tuple[Interner[Hashable], int]] = deque()  # to release; pools behind the contents with them
        self._results: dict[Hashable, tuple[dict[int, Any], int]] = {}  # the last one is the last used; generations

    def refresh(self) -> None:
        """Take in what changed."""
        changed = self._changed.take()
        if changed is None:
            return
        of_pools, of_uses = changed
        self._grow(self._columns.n_rows)
        numbers: dict[DevicePool, int] = {}  # several rows may have the same pool
        before = [number for row in of_pools for number in self._compare_pools(row, numbers)]
        known: dict[DevicePool, DevicePoolUse] = {}
        for row in {*of_pools, *of_uses}:
            self._compare_use(row, known)
        for number in before:
            self._release(self._pools, number)

    def results(self, key: Hashable) -> dict[int, Any]:
        """A table by number, to read and to add to; numbers that have come to mean something else are not in there."""
        log = self._contents.log
        table, generation = self._results.pop(key, ({}, log.generation))
        changed = log.since(generation)
        if changed is None:
            table.clear()
        else:
            for number in changed:
                table.pop(number, None)
        self._results[key] = (table, log.generation)
        if len(self._results) > _MAX_TABLES:
            del self._results[next(iter(self._results))]
        return table

    def sizes(self) -> dict[str, int]:
        """Distinct values, and what is kept for them."""
        n_results = sum(len(table) for table, _ in self._results.values())
        return {"pools": self._pools.n_values, "contents": self._contents.n_values, "results": n_results}

    def _grow(self, n_rows: int) -> None:
        n_slots = len(self.numbers)
        if n_slots < self._columns.capacity:
            self.numbers = grown(self.numbers, self._columns.capacity)
            self.numbers[n_slots:] = -1
        self._pools_of += [()] * (n_rows - len(self._pools_of))

    def _compare_pools(self, row: int, numbers: dict[DevicePool, int]) -> tuple[int, ...]:
        """Number the pools of a row. Returns: the numbers that it had before, to release."""
        before, pools = self._pools_of[row], self._slices.pools_of(row)
        self._pools_of[row] = tuple([self._hold(pool, numbers) for pool in pools])
        return before

    def _hold(self, pool: DevicePool, numbers: dict[DevicePool, int]) -> int:
        number = numbers.get(pool)
        if number is not None:
            return self._pools.hold_again(number)
        number = numbers[pool] = self._pools.hold(self._pool(pool))
        return number

    def _compare_use(self, row: int, known: dict[DevicePool, DevicePoolUse]) -> None:
        content: list[Hashable] = []
        for number, pool in zip(self._pools_of[row], self._slices.pools_of(row), strict=True):
            use = known.get(pool)
            if use is None:
                use = known[pool] = self._in_use.of_pool(pool)
            content += (number, use)
        before = int(self.numbers[row])
        self.numbers[row] = self._contents.hold((*content,))
        if before >= 0:
            self._release(self._contents, before)

    def _release(self, interner: Interner[Hashable], number: int) -> None:
        self._recent.append((interner, number))
        if len(self._recent) > _N_RECENT:
            interner, number = self._recent.popleft()
            interner.release(number)

    # --- what is compared ---

    def _pool(self, pool: DevicePool) -> Hashable:
        counters = tuple((name, ordered(of_set)) for name, of_set in sorted(pool.counters.items()))
        devices = tuple([self._device(device) for device in pool.devices])
        return (pool.is_complete, pool.is_valid, counters, devices, pool.driver)

    def _device(self, device: PoolDevice) -> Hashable:
        spec = device.spec
        return (
            device.read_by(self._reads),
            spec.taints,
            ordered(spec.capacity or {}) if spec.allow_multiple_allocations else None,
            tuple(device.consumed_counters) if spec.consumes_counters else None,
        )
