"""The slices of one pool, and the pool that they make up on a node.

Rule: kube-scheduler v1.36 DynamicResources. Before v1.37, slices with shared counters belong to every node. Of the
slices of a pool that belong to a node, those of the highest generation count, in the order of their names. The pool is
complete if the cluster has as many slices of that generation as they say; before v1.35, if the node has, and requests
find devices in others, too, unless they want all. A complete pool is invalid if two devices of
the slices that belong to the node have one name, if two counter sets have one name, or if a device, on whatever node,
consumes a counter that is not defined.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kubesched.api import CounterSet, parse_quantity
from kubesched.release import Release
from kubesched.state.devices.device_pools import DevicePool, PoolDevice
from kubesched.state.devices.known_slices import KnownSlice, SlicePart

PoolKey = tuple[str, str]
"""Driver and name of a pool."""


class _Generation(NamedTuple):
    """The slices of one generation, on whatever nodes.

    Attributes:
        n_slices: how many there are.
        counters: counter set -> counter -> billionths.
        consumers: the devices that consume counters.
        is_valid: whether the counters that are consumed are there, and no counter set is there twice.
    """

    n_slices: int
    counters: Mapping[str, Mapping[str, int]]
    consumers: tuple[PoolDevice, ...]
    is_valid: bool


class PoolSlices:
    """All slices of a pool.

    Attributes:
        slices: by name.
        version: how often they changed.
    """

    def __init__(self, key: PoolKey, release: Release) -> None:
        self.slices: dict[str, KnownSlice] = {}
        self.version = 0
        self._key = key
        self._is_complete_by_node = release.before(35)
        self._everywhere: dict[str, KnownSlice] = {}
        self._generations: dict[int, _Generation] = {}  # as far as asked, since the last change

    def add(self, known: KnownSlice) -> None:
        """A slice comes."""
        self.slices[known.name] = known
        if known.is_everywhere:
            self._everywhere[known.name] = known
        self._changed()

    def remove(self, name: str) -> KnownSlice:
        """A slice goes. Returns: it."""
        self._everywhere.pop(name, None)
        self._changed()
        return self.slices.pop(name)

    def broken(self) -> DevicePool | None:
        """The pool on a node that has no device of it, if it is incomplete or invalid there; else it is nothing."""
        pool = self.on_node(()) if self._everywhere else None
        return None if pool is None or (pool.is_complete and pool.is_valid) else pool

    def on_node(self, parts: Sequence[SlicePart]) -> DevicePool:
        """The pool on a node.

        Args:
            parts: what belongs to the node of slices that are not everywhere, in the order of their names.
        """
        here = [*self._everywhere.values(), *(part.known for part in parts)]
        number = max(known.spec.pool.generation for known in here)
        generation = self._generation(number)
        newest = [part for part in parts if part.known.spec.pool.generation == number]
        first = min((known for known in here if known.spec.pool.generation == number), key=lambda known: known.name)
        slices = [part.known for part in newest]
        devices = tuple(device for part in newest for device in part.devices)
        n_slices = len(newest) if self._is_complete_by_node else generation.n_slices
        is_complete = n_slices == first.spec.pool.resource_slice_count
        is_valid = not is_complete or (generation.is_valid and _have_names_of_their_own(slices))
        return DevicePool(
            *self._key,
            devices,
            _without(generation.consumers, devices),
            generation.counters,
            is_complete=is_complete,
            is_valid=is_valid,
            is_used=is_valid and (is_complete or self._is_complete_by_node),
            has_binding_conditions=any(one.spec.binding_conditions for known in slices for one in known.devices),
        )

    def _changed(self) -> None:
        self.version += 1
        self._generations.clear()

    def _generation(self, number: int) -> _Generation:
        known = self._generations.get(number)
        if known is None:
            slices = [one for _, one in sorted(self.slices.items()) if one.spec.pool.generation == number]
            sets = [one for known in slices for one in known.spec.shared_counters or ()]
            counters = {one.name: _amounts(one) for one in sets}
            consumers = tuple(one for known in slices for one in known.devices if one.spec.consumes_counters)
            is_valid = len(counters) == len(sets) and _are_defined(consumers, counters)
            known = self._generations[number] = _Generation(len(slices), counters, consumers, is_valid)
        return known


def _amounts(of_set: CounterSet) -> dict[str, int]:
    return {name: parse_quantity(counter.amount) for name, counter in (of_set.counters or {}).items()}


def _are_defined(consumers: Iterable[PoolDevice], counters: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether there is every counter that a device consumes."""
    return all(name in counters.get(of_set, ()) for one in consumers for of_set, name, _ in one.consumed_counters)


def _have_names_of_their_own(slices: Iterable[KnownSlice]) -> bool:
    names = [device.name for known in slices for device in known.devices]
    return len(set(names)) == len(names)


def _without(consumers: Sequence[PoolDevice], devices: Iterable[PoolDevice]) -> tuple[PoolDevice, ...]:
    if not consumers:
        return ()
    here = {id(device) for device in devices}
    return tuple(one for one in consumers if id(one) not in here)
