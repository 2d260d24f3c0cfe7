"""The devices that claims have been allocated, assumed allocations among them.

Rule: kube-scheduler v1.36 DynamicResources, over all claims with an allocation: a result with admin access takes
nothing, one with a share takes its consumed capacity, any other takes the device.
"""

from collections.abc import Callable, Mapping
from typing import Final

from kubesched.api import DeviceResult, KubeObject, ResourceClaim, parse_quantity
from kubesched.state.devices.device_pools import DeviceId
from kubesched.state.objects import ObjectStore

_NOTHING: Final[Mapping[str, int]] = {}
_Users = dict[DeviceId, dict[str, int]]  # device -> claim key -> results


class DevicesInUse:
    """Kept while claims come, change and go."""

    def __init__(self, objects: ObjectStore, changed: Callable[[DeviceId], None]) -> None:
        self._changed = changed
        self._takers: _Users = {}
        self._sharers: _Users = {}
        self._consumed: dict[DeviceId, dict[str, int]] = {}
        for known in objects.list("ResourceClaim"):
            self._move(known, 1)
        objects.listen("ResourceClaim", self._claim_changed)

    def is_taken(self, device: DeviceId) -> bool:
        """Whether a claim has the device for itself."""
        return device in self._takers

    def consumed(self, device: DeviceId) -> Mapping[str, int]:
        """What claims consume of a device that is shared: capacity -> billionths, by the names as written."""
        return self._consumed.get(device, _NOTHING)

    def holders(self, device: DeviceId) -> list[str]:
        """The claims that take the device or a part of it, as `namespace/name`, in order."""
        return sorted({**self._takers.get(device, {}), **self._sharers.get(device, {})})

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        tables = {"taken": self._takers, "shared": self._sharers, "consumed": self._consumed}
        return {name: sum(map(len, table.values())) for name, table in tables.items()}

    def _claim_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        before, after = _results(old), _results(new)
        if before != after:
            self._move(old, -1)
            self._move(new, 1)
            for device in {(one.driver, one.pool, one.device) for one in (*before, *after)}:
                self._changed(device)

    def _move(self, claim: KubeObject | None, sign: int) -> None:
        for result in _results(claim):
            assert claim is not None
            device = (result.driver, result.pool, result.device)
            if result.share_id:
                _count(self._sharers, device, claim.key, sign)
                for name, amount in (result.consumed_capacity or {}).items():
                    _count(self._consumed, device, name, sign * parse_quantity(amount))
            elif not result.admin_access:
                _count(self._takers, device, claim.key, sign)


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
