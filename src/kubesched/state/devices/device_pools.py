"""Devices, and the pools of them that nodes can use."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.api import NANO, Device, DeviceAttribute, ResourceSliceSpec, parse_quantity, whole_quantity
from kubesched.documents import count, joined, plural

if TYPE_CHECKING:
    from kubesched.cel import DeviceValue, Reads, Semver

_MAX_NAMED: Final = 2

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""


class ShortCounter(NamedTuple):
    """A counter of which less is left than a device takes.

    Attributes:
        left, total: in billionths.
        takes: the amount as it is written.
    """

    of_set: str
    name: str
    left: int
    total: int
    takes: str

    @property
    def amounts(self) -> str:
        """How much is left of it, in words; empty for nothing."""
        if self.left <= 0:
            return ""
        left, total = (whole_quantity(amount // NANO, like=self.takes) for amount in (self.left, self.total))
        return f"{left} of {total} left, the device takes {self.takes}"


def counter_words(short: Sequence[ShortCounter], by: str = "") -> str:
    """Counters in one phrase, of which equal amounts are left.

    Args:
        by: who has used them up.
    """
    names, sets = (list(dict.fromkeys(some)) for some in ([one.name for one in short], [one.of_set for one in short]))
    which = names[0] if len(names) == 1 else count(len(names), "counter")
    of = joined(sets) if len(sets) <= _MAX_NAMED else count(len(sets), "counter set")
    amounts = short[0].amounts
    return (
        f"{which} of {of}: {amounts}" if amounts else f"{which} of {of} {plural(len(names), 'is', 'are')} used up{by}"
    )


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
            self._capacity = {name: int(parse_quantity(capacity.amount)) for name, capacity in written.items()}
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

    @property
    def consumed_counters(self) -> Iterator[tuple[str, str, int]]:
        """What it uses of the counters of its pool: counter set, counter, billionths."""
        for consumed in self.spec.consumes_counters or ():
            for name, counter in (consumed.counters or {}).items():
                yield consumed.counter_set, name, parse_quantity(counter.amount)

    def short_counters(
        self, counters: Mapping[str, Mapping[str, int]], used: Mapping[str, Mapping[str, int]]
    ) -> "Iterator[ShortCounter]":
        """The counters of which less is left than it takes.

        Args:
            counters, used: counter set -> counter -> billionths that there are, and that devices in use take.
        """
        for consumed in self.spec.consumes_counters or ():
            for name, counter in (consumed.counters or {}).items():
                total = counters.get(consumed.counter_set, {}).get(name, 0)
                left = total - used.get(consumed.counter_set, {}).get(name, 0)
                if left < parse_quantity(counter.amount):
                    yield ShortCounter(consumed.counter_set, name, left, total, str(counter.amount))

    def read_by(self, reads: "Reads") -> Hashable:
        """What selectors read of it, for much less than `value` costs: where this is equal, they answer the same."""
        spec, driver = self.spec, self.id[0]
        attributes, capacity = spelled(reads.attributes, driver), spelled(reads.capacity, driver)
        return (
            driver,
            spec.allow_multiple_allocations,
            _chosen(spec.attributes, attributes),
            _chosen(spec.capacity, capacity),
        )

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


@lru_cache(maxsize=1024)
def spelled(names: frozenset[str] | None, driver: str) -> tuple[str, ...] | None:
    """How slices of a driver may spell qualified names: those of its domain without it; None stands for all."""
    if names is None:
        return None
    own = f"{driver}/"
    return tuple(sorted({*names, *(name.removeprefix(own) for name in names)}))


def _chosen(written: Mapping[str, Any] | None, names: tuple[str, ...] | None) -> Hashable:
    if not written:
        return None
    return ordered(written) if names is None else tuple(map(written.get, names))


def ordered(table: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The entries of a table in the order of their names."""
    return tuple(sorted(table.items()))


def _cel_value(attribute: DeviceAttribute) -> "bool | int | str | Semver":
    if attribute.version is not None:
        return kubesched.cel.Semver.parse(attribute.version)
    values = (attribute.integer, attribute.boolean, attribute.string)
    return next((value for value in values if value is not None), "")


class DevicePool(msgspec.Struct, frozen=True, eq=False, weakref=True, dict=True):
    """The devices of a pool that one node can use, or several nodes alike.

    Attributes:
        driver, name: of the pool.
        devices: in the order in which they are tried.
        elsewhere: devices of the pool on other nodes only, as far as they consume counters.
        counters: counter set -> counter -> amount, in billionths.
        is_complete: whether all its slices are there.
        is_valid: whether it contradicts itself nowhere; an incomplete pool is not looked at.
        is_used: whether requests that do not want all devices find devices in it.
        has_binding_conditions: whether a device of its slices has some; such pools come last.
    """

    driver: str
    name: str
    devices: tuple[PoolDevice, ...]
    elsewhere: tuple[PoolDevice, ...]
    counters: Mapping[str, Mapping[str, int]]
    is_complete: bool
    is_valid: bool
    is_used: bool
    has_binding_conditions: bool

    @cached_property
    def ids(self) -> tuple[DeviceId, ...]:
        """Those of its devices, which are looked up whenever one of them is taken or freed."""
        return tuple([device.id for device in self.devices])
