"""The pools of devices that a node can use, made from the ResourceSlices that belong to it.

Rule: kube-scheduler v1.36 DynamicResources. Of the slices of a pool that belong to the node, those of the highest
generation count, in the order of their names. The pool is complete if the cluster has as many slices of that generation
as they say. It is invalid if two of its devices have one name, or a device consumes a counter that it does not define.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.api import Device, DeviceAttribute, NodeSelector, ResourceSlice, ResourceSliceSpec, parse_quantity
from kubesched.engine import BoolVector
from kubesched.state.node_terms import NodeTerms
from kubesched.state.nodes import Nodes

if TYPE_CHECKING:
    from kubesched.cel import DeviceValue, Semver

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""


class PoolDevice:
    """One device of a slice.

    Attributes:
        id: its driver, its pool and its name.
        spec: the device as written.
        slice_spec: the slice that it is in.
    """

    __slots__ = ("_capacity", "_value", "id", "slice_spec", "spec")

    def __init__(self, spec: Device, slice_spec: ResourceSliceSpec) -> None:
        self.id: DeviceId = (slice_spec.driver, slice_spec.pool.name, spec.name)
        self.spec = spec
        self.slice_spec = slice_spec
        self._capacity: Mapping[str, int] | None = None
        self._value: DeviceValue | None = None

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

    @property
    def value(self) -> "DeviceValue":
        """The device as a selector sees it.

        Raises:
            CelRuntimeError: the version of an attribute is not one.
        """
        if self._value is None:
            attributes = {name: _cel_value(one) for name, one in (self.spec.attributes or {}).items()}
            capacity = {name: str(one.amount) for name, one in (self.spec.capacity or {}).items()}
            shared = self.spec.allow_multiple_allocations
            self._value = kubesched.cel.device_value(
                self.driver, attributes, capacity, allow_multiple_allocations=shared
            )
        return self._value

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


def _cel_value(attribute: DeviceAttribute) -> "bool | int | str | Semver":
    if attribute.version is not None:
        return kubesched.cel.Semver.parse(attribute.version)
    values = (attribute.integer, attribute.boolean, attribute.string)
    return next((value for value in values if value is not None), "")


class DevicePool(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """The devices of a pool that one node can use, or several nodes alike.

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


class KnownSlice:
    """A ResourceSlice with its devices.

    Attributes:
        name, spec: of the object.
        pool: driver and name of its pool.
        devices: all of them.
        is_of_one_node: whether it names a node that all of it belongs to.
    """

    __slots__ = ("_places", "devices", "is_of_one_node", "name", "pool", "spec")

    def __init__(self, known: ResourceSlice) -> None:
        spec = known.spec
        self.name = known.name
        self.spec = spec
        self.pool = (spec.driver, spec.pool.name)
        self.devices = tuple(PoolDevice(device, spec) for device in spec.devices or ())
        self.is_of_one_node = bool(spec.node_name) and not spec.per_device_node_selection
        placed = [device.spec for device in self.devices] if spec.per_device_node_selection else [spec]
        self._places = [] if self.is_of_one_node else [_Place(one) for one in placed]

    def reached(self, nodes: Nodes) -> BoolVector:
        """(n,) bool: nodes that something of it belongs to; it is not of one node."""
        reached = np.zeros(len(nodes), dtype=np.bool_)
        for place in self._places:
            reached |= place.reached(nodes)
        return reached

    def parts_on(self, nodes: Nodes) -> Iterator[tuple[int, "SlicePart"]]:
        """The rows that something of it belongs to, with what that is; it is not of one node."""
        rows = nodes.all_rows
        if not self.spec.per_device_node_selection:
            whole = SlicePart(self)
            yield from ((row, whole) for row in rows[self.reached(nodes)].tolist())
        elif self._places:
            chosen = np.vstack([place.reached(nodes) for place in self._places]).T
            for position in np.flatnonzero(chosen.any(axis=1)).tolist():
                yield int(rows[position]), SlicePart(self, chosen[position].tobytes())


class SlicePart(NamedTuple):
    """A slice that belongs to a node, or some devices of it.

    Attributes:
        known: the slice.
        chosen: a byte for each device, not 0 where it belongs to the node; empty for all.
    """

    known: KnownSlice
    chosen: bytes = b""

    @property
    def devices(self) -> Sequence[PoolDevice]:
        """The devices of the slice that belong to the node."""
        devices = self.known.devices
        return [devices[i] for i, is_chosen in enumerate(self.chosen) if is_chosen] if self.chosen else devices


class _Place:
    """Where a slice or a device is."""

    __slots__ = ("_node_name", "_terms")

    def __init__(self, written: ResourceSliceSpec | Device) -> None:
        self._node_name = written.node_name
        self._terms = None if written.all_nodes else NodeTerms(written.node_selector or NodeSelector())

    def reached(self, nodes: Nodes) -> BoolVector:
        if not self._node_name:
            return np.ones(len(nodes), dtype=np.bool_) if self._terms is None else self._terms.matches(nodes)
        reached = np.zeros(len(nodes), dtype=np.bool_)
        position = nodes.position_of(self._node_name)
        if position is not None:
            reached[position] = True
        return reached


def pool_from(key: tuple[str, str], parts: Sequence[SlicePart], n_slices: int) -> DevicePool:
    """The pool that slices make up on a node.

    Args:
        key: its driver and name.
        parts: what belongs to the node of its slices of the highest generation, in the order of their names.
        n_slices: how many slices of that generation the cluster has.
    """
    specs = [part.known.spec for part in parts]
    devices = tuple(device for part in parts for device in part.devices)
    counters = {
        counter_set.name: {
            name: parse_quantity(counter.amount) for name, counter in (counter_set.counters or {}).items()
        }
        for spec in specs
        for counter_set in spec.shared_counters or ()
    }
    return DevicePool(
        *key,
        devices,
        counters,
        is_complete=n_slices == specs[0].pool.resource_slice_count,
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
