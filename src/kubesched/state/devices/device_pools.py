"""The pools of devices that a node can use, made from the ResourceSlices that belong to it.

Rule: kube-scheduler v1.36 DynamicResources. Of the slices of a pool that belong to the node, those of the highest
generation count, in the order of their names. The pool is complete if the cluster has as many slices of that generation
as they say. It is invalid if two of its devices have one name, or a device consumes a counter that it does not define.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kubesched.api import Device, DeviceAttribute, ResourceSliceSpec, parse_quantity

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""


class PoolDevice:
    """One device of a slice.

    Attributes:
        id: its driver, its pool and its name.
        spec: the device as written.
        slice_spec: the slice that it is in.
    """

    __slots__ = ("_capacity", "id", "slice_spec", "spec")

    def __init__(self, spec: Device, slice_spec: ResourceSliceSpec) -> None:
        self.id: DeviceId = (slice_spec.driver, slice_spec.pool.name, spec.name)
        self.spec = spec
        self.slice_spec = slice_spec
        self._capacity: Mapping[str, int] | None = None

    @property
    def driver(self) -> str:
        """The driver."""
        return self.id[0]

    @property
    def pool(self) -> str:
        """The name of the pool."""
        return self.id[1]

    @property
    def name(self) -> str:
        """The name within the pool."""
        return self.id[2]

    @property
    def capacity(self) -> Mapping[str, int]:
        """The capacities in billionths, by their names as written."""
        if self._capacity is None:
            written = self.spec.capacity or {}
            self._capacity = {name: parse_quantity(capacity.amount) for name, capacity in written.items()}
        return self._capacity

    def attribute(self, name: str) -> DeviceAttribute | None:
        """The attribute of a qualified name; in the domain of the driver, the name may be written without it."""
        attributes = self.spec.attributes
        if not attributes:
            return None
        attribute = attributes.get(name)
        if attribute is None:
            domain, _, bare = name.rpartition("/")
            attribute = attributes.get(bare) if domain == self.id[0] else None
        return attribute


class DevicePool(msgspec.Struct, frozen=True, eq=False):
    """The devices of a pool that one node can use.

    Attributes:
        driver, name: of the pool.
        devices: in the order in which they are tried.
        counters: counter set -> counter -> amount, in billionths.
        is_complete: whether all its slices are there.
        is_valid: whether it contradicts itself nowhere.
        has_binding_conditions: whether one of the devices has some; such pools come last.
    """

    driver: str
    name: str
    devices: tuple[PoolDevice, ...]
    counters: Mapping[str, Mapping[str, int]]
    is_complete: bool
    is_valid: bool
    has_binding_conditions: bool


SliceOnNode = tuple[ResourceSliceSpec, Sequence[PoolDevice]]
"""A slice that belongs to a node, and those of its devices that do."""


def pools_from(
    slices: Iterable[SliceOnNode], of_pool: Mapping[tuple[str, str], Counter[int]]
) -> tuple[DevicePool, ...]:
    """The pools that slices make up on a node, in the order in which they are tried.

    Args:
        slices: those that belong to the node, in the order of their names.
        of_pool: driver, pool -> generation -> how many slices the cluster has.
    """
    groups: dict[tuple[str, str], list[SliceOnNode]] = {}
    for one in slices:
        groups.setdefault((one[0].driver, one[0].pool.name), []).append(one)
    pools = [_pool(key, group, of_pool[key]) for key, group in groups.items()]
    return tuple(sorted(pools, key=lambda pool: (pool.has_binding_conditions, pool.driver, pool.name)))


def _pool(key: tuple[str, str], slices: Sequence[SliceOnNode], n_slices: Mapping[int, int]) -> DevicePool:
    generation = max(spec.pool.generation for spec, _ in slices)
    newest = [(spec, devices) for spec, devices in slices if spec.pool.generation == generation]
    devices = tuple(device for _, of_slice in newest for device in of_slice)
    counters = {
        counter_set.name: {
            name: parse_quantity(counter.amount) for name, counter in (counter_set.counters or {}).items()
        }
        for spec, _ in newest
        for counter_set in spec.shared_counters or ()
    }
    return DevicePool(
        *key,
        devices,
        counters,
        is_complete=n_slices[generation] == newest[0][0].pool.resource_slice_count,
        is_valid=len({device.id for device in devices}) == len(devices) and _are_defined(devices, counters),
        has_binding_conditions=any(device.spec.binding_conditions for device in devices),
    )


def _are_defined(devices: Iterable[PoolDevice], counters: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether there is every counter that a device consumes."""
    return all(
        name in counters.get(consumed.counter_set, ())
        for device in devices
        for consumed in device.spec.consumes_counters or ()
        for name in consumed.counters or ()
    )
