"""The devices that claims have been allocated, assumed allocations among them.

Rule: kube-scheduler v1.36 DynamicResources, over all claims with an allocation: a result with admin access takes
nothing, one with a share takes its consumed capacity, any other takes the device. What a claim takes does not change
while it is allocated: of a claim that a pod lists twice, the allocation that is written first counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from kubesched.api import DeviceResult, KubeObject, ResourceClaim, parse_quantity
from kubesched.engine import ChangeLog
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_pools import DeviceId, DevicePool, PoolDevice, ordered
from kubesched.state.objects import ObjectStore

_NOTHING: Final[Mapping[str, int]] = {}
_Amounts = tuple[tuple[str, int], ...]
_Users = dict[DeviceId, dict[str, int]]  # device -> claim key -> results


class DevicePoolUse(NamedTuple):
    """What of a pool is in use, by the places of its devices.

    Attributes:
        taken: the places of those that a claim has for itself.
        shared: the places of others of which claims have a part, and what is consumed of each.
        counters: what its devices elsewhere use of each counter set.
    """

    taken: tuple[int, ...]
    shared: tuple[tuple[int, _Amounts], ...] = ()
    counters: tuple[tuple[str, _Amounts], ...] = ()


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
        self._first: dict[str, tuple[DeviceResult, ...]] = {}  # what claims take that were written once more
        for known in objects.list("ResourceClaim"):
            self._move(known.key, _results(known), 1)
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

    def of_pool(self, pool: DevicePool) -> DevicePoolUse:
        """What of a pool is in use."""
        takers, sharers = self._takers, self._sharers
        ids = pool.ids
        taken = tuple([place for place, one in enumerate(ids) if one in takers]) if takers else ()
        if not sharers and not pool.elsewhere:
            return DevicePoolUse(taken)
        shared = [(place, ordered(self.consumed(one))) for place, one in enumerate(ids) if one in sharers]
        counters = self.used_counters(pool.elsewhere)
        by_set = tuple((name, ordered(of_set)) for name, of_set in sorted(counters.items()))
        return DevicePoolUse(taken, tuple(shared), by_set)

    def used_counters(self, devices: Iterable[PoolDevice]) -> dict[str, Counter[str]]:
        """What those of some devices use that claims have: counter set -> counter -> billionths."""
        used: dict[str, Counter[str]] = {}
        for device in devices:
            if device.spec.consumes_counters and (device.id in self._takers or device.id in self._sharers):
                for of_set, name, amount in device.consumed_counters:
                    used.setdefault(of_set, Counter())[name] += amount
        return used

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        tables = {"taken": self._takers, "shared": self._sharers, "consumed": self._consumed}
        return {name: sum(map(len, table.values())) for name, table in tables.items()} | {"twice": len(self._first)}

    def _claim_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        key = (old or new or ResourceClaim()).key
        before, after = self._first.pop(key, None) or _results(old), _results(new)
        if before == after:
            return
        if before and after and _is_one_allocation(old, new):
            self._first[key] = before
            return
        self._move(key, before, -1)
        self._move(key, after, 1)
        columns = self._columns
        self.log.keep(2 * columns.capacity)
        for pool in {(one.driver, one.pool) for one in (*before, *after)}:
            for row in self._rows_of(*pool):
                self.log.record(row)
                columns.device_log.record(row)

    def _move(self, key: str, results: Iterable[DeviceResult], sign: int) -> None:
        for result in results:
            device = (result.driver, result.pool, result.device)
            if result.admin_access:
                continue
            if result.share_id:
                _count(self._sharers, device, key, sign)
                for name, amount in (result.consumed_capacity or {}).items():
                    _count(self._consumed, device, name, sign * parse_quantity(amount))
            else:
                _count(self._takers, device, key, sign)


def _results(claim: KubeObject | None) -> tuple[DeviceResult, ...]:
    """What a claim has been allocated."""
    allocation = claim.status.allocation if isinstance(claim, ResourceClaim) else None
    return (allocation.devices.results or ()) if allocation is not None else ()


def _is_one_allocation(old: KubeObject | None, new: KubeObject | None) -> bool:
    """Whether a claim was allocated only once. An API server lets no client change an allocation."""
    if not isinstance(old, ResourceClaim) or not isinstance(new, ResourceClaim) or old.uid != new.uid:
        return False
    before, after = old.status.allocation, new.status.allocation
    times = [None if one is None else one.allocation_timestamp for one in (before, after)]
    return times[0] is not None and times[0] == times[1]


def _count(table: dict[DeviceId, dict[str, int]], device: DeviceId, key: str, amount: int) -> None:
    """Add to an entry; one of 0 is none."""
    counts = table.setdefault(device, {})
    counts[key] = counts.get(key, 0) + amount
    if not counts[key]:
        del counts[key]
    if not counts:
        del table[device]
