"""The devices that claims have been allocated, assumed allocations among them.

Rule: kube-scheduler v1.36 DynamicResources, over all claims with an allocation: a result with admin access takes
nothing, one with a share takes its consumed capacity, any other takes the device.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final

from kubesched.api import DeviceResult, KubeObject, ResourceClaim, parse_quantity
from kubesched.engine import ChangeLog
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_pools import DeviceId, DevicePool, PoolDevice
from kubesched.state.objects import ObjectStore

_NOTHING: Final[Mapping[str, int]] = {}
PoolUse = tuple[Hashable, ...]
"""The places of the devices of a pool that are taken, what is consumed of others by place, and counters."""
_Users = dict[DeviceId, dict[str, int]]  # device -> claim key -> results


class DevicesInUse:
    """Kept while claims come, change and go.

    Attributes:
        log: the rows with a pool of which the use changed. The same rows are recorded as changed in the columns.
    """

    def __init__(
        self, columns: NodeColumns, objects: ObjectStore, rows_of: Callable[[str, str], Iterable[int]]
    ) -> None:
        self.log = ChangeLog()
        self._columns = columns
        self._rows_of = rows_of  # driver, pool
        self._takers: _Users = {}
        self._sharers: _Users = {}
        self._consumed: dict[DeviceId, dict[str, int]] = {}
        for known in objects.list("ResourceClaim"):
            self._move(known, 1)
        objects.listen("ResourceClaim", self._claim_changed)

    def is_taken(self, device: DeviceId) -> bool:
        """Whether a claim has the device for itself."""
        return device in self._takers

    def is_shared(self, device: DeviceId) -> bool:
        """Whether a claim has a part of the device."""
        return device in self._sharers

    def consumed(self, device: DeviceId) -> Mapping[str, int]:
        """What claims consume of a device that is shared: capacity -> billionths, by the names as written."""
        return self._consumed.get(device, _NOTHING)

    def holders(self, device: DeviceId) -> list[str]:
        """The claims that take the device or a part of it, as `namespace/name`, in order."""
        return sorted({**self._takers.get(device, {}), **self._sharers.get(device, {})})

    def of_pool(self, pool: DevicePool) -> PoolUse:
        """What of a pool is in use."""
        takers, sharers = self._takers, self._sharers
        ids = [device.id for device in pool.devices]
        taken = tuple([place for place, one in enumerate(ids) if one in takers]) if takers else ()
        if not sharers and not pool.elsewhere:
            return taken, (), ()
        shared = [(place, _items(self.consumed(one))) for place, one in enumerate(ids) if one in sharers]
        counters = self.used_counters(pool.elsewhere)
        return taken, tuple(shared), tuple((name, _items(of_set)) for name, of_set in sorted(counters.items()))

    def used_counters(self, devices: Iterable[PoolDevice]) -> dict[str, Counter[str]]:
        """What those of some devices use that claims have: counter set -> counter -> billionths."""
        used: dict[str, Counter[str]] = {}
        for device in devices:
            if device.spec.consumes_counters and (device.id in self._takers or device.id in self._sharers):
                for of_set, name, amount in device.consumed_counters:
                    used.setdefault(of_set, Counter())[name] += amount
        return used

    def at_once(self) -> tuple[frozenset[DeviceId], dict[DeviceId, dict[str, int]]]:
        """A copy of what is taken, and of what is consumed by device."""
        return frozenset(self._takers), {device: dict(amounts) for device, amounts in self._consumed.items()}

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        tables = {"taken": self._takers, "shared": self._sharers, "consumed": self._consumed}
        return {name: sum(map(len, table.values())) for name, table in tables.items()}

    def _claim_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        before, after = _results(old), _results(new)
        if before != after:
            self._move(old, -1)
            self._move(new, 1)
            columns = self._columns
            self.log.keep(2 * columns.capacity)
            for pool in {(one.driver, one.pool) for one in (*before, *after)}:
                for row in self._rows_of(*pool):
                    self.log.record(row)
                    columns.row_log.record(row)

    def _move(self, claim: KubeObject | None, sign: int) -> None:
        for result in _results(claim):
            assert claim is not None
            device = (result.driver, result.pool, result.device)
            if result.admin_access:
                continue
            if result.share_id:
                _count(self._sharers, device, claim.key, sign)
                for name, amount in (result.consumed_capacity or {}).items():
                    _count(self._consumed, device, name, sign * parse_quantity(amount))
            else:
                _count(self._takers, device, claim.key, sign)


def _items(amounts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(amounts.items()))


def _results(claim: KubeObject | None) -> tuple[DeviceResult, ...]:
    """What a claim has been allocated."""
    allocation = claim.status.allocation if isinstance(claim, ResourceClaim) else None
    return (allocation.devices.results or ()) if allocation is not None else ()


def _count(table: dict[DeviceId, dict[str, int]], device: DeviceId, key: str, amount: int) -> None:
    """Add to an entry; one of 0 is none."""
    counts = table.setdefault(device, {})
    counts[key] = counts.get(key, 0) + amount
    if not counts[key]:
        del counts[key]
    if not counts:
        del table[device]
