"""The devices of ResourceSlices as reports show them: what there is by driver, class and model, and who has it."""

import enum
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubesched.api import ResourceClaim
from kubesched.session.device_kinds import DeviceKinds
from kubesched.state import (
    ClusterState,
    DeviceId,
    DevicePool,
    DevicePoolUse,
    NodeDevices,
    PoolDevice,
    ShortCounter,
    counter_words,
)

_KEEPS_OUT: Final = ("NoSchedule", "NoExecute")
_Kind = tuple[str, tuple[str, ...], str]


class DeviceState(enum.Enum):
    """Whether a claim could be allocated a device."""

    FREE = "free"
    SHARED = "shared"
    """Claims have parts of it, and some is left."""
    TAKEN = "taken"
    UNUSABLE = "unusable"


class DeviceUse(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A device and who has it.

    Attributes:
        nodes: those that can use it, in the order of the snapshot.
        classes: the device classes that it matches, by name.
        model: what it is, by the string attribute that tells devices of its driver apart; empty for none.
        why: what keeps it from being used; empty if nothing does.
        claims, pods: `namespace/name` of those that have it, or a part of it.
        used: capacity -> billionths that claims consume, of a device that is shared.
        capacity: capacity -> billionths in all.
    """

    driver: str
    pool: str
    device: str
    nodes: tuple[str, ...]
    classes: tuple[str, ...]
    model: str
    state: DeviceState
    why: str = ""
    claims: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()
    used: dict[str, int] = {}
    capacity: dict[str, int] = {}


class DeviceCounts(msgspec.Struct, frozen=True):
    """How many devices are in each state."""

    free: int = 0
    shared: int = 0
    taken: int = 0
    unusable: int = 0

    @property
    def n_devices(self) -> int:
        """How many there are."""
        return self.free + self.shared + self.taken + self.unusable


_NO_DEVICES: Final = DeviceCounts()


class DeviceFill(msgspec.Struct, frozen=True):
    """How many devices of one kind there are, and who could have them, before and after.

    Attributes:
        driver, classes, model: as of a DeviceUse.
        resources: the extended resources through which pods get them, too.
    """

    driver: str
    classes: tuple[str, ...]
    model: str
    before: DeviceCounts
    after: DeviceCounts
    resources: tuple[str, ...] = ()


class DeviceMoment:
    """Which devices were in use at one moment; counted when it is read."""

    __slots__ = ("_counts", "_kinds", "_nodes")

    def __init__(self, nodes: Sequence[NodeDevices] = (), kinds: DeviceKinds | None = None) -> None:
        self._nodes = nodes
        self._kinds = kinds
        self._counts: Mapping[_Kind, DeviceCounts] | None = None

    @property
    def counts(self) -> Mapping[_Kind, DeviceCounts]:
        """The devices by driver, classes and model."""
        if self._counts is None:
            counted: defaultdict[_Kind, Counter[DeviceState]] = defaultdict(Counter)
            for place, classes, model in self._places():
                counted[place.device.driver, classes, model][place.state()[0]] += 1
            self._counts = {
                kind: DeviceCounts(*(states[state] for state in DeviceState)) for kind, states in counted.items()
            }
        return self._counts

    def counted(self, kind: _Kind) -> DeviceCounts:
        """How many devices of a kind there are."""
        return self.counts.get(kind, _NO_DEVICES)

    def resources_of(self, kind: _Kind) -> tuple[str, ...]:
        """The extended resources that classes of a kind serve, by name."""
        return () if self._kinds is None else self._kinds.resources_of(kind[1])

    def uses(self, holders: Callable[[DeviceId], Iterable[str]], pods: Mapping[str, Sequence[str]]) -> list[DeviceUse]:
        """Every device.

        Args:
            holders: gives the claims that have a device.
            pods: those that each claim is reserved for.
        """
        return [
            DeviceUse(
                *place.device.id,
                nodes=tuple(place.nodes),
                classes=classes,
                model=model,
                state=(state := place.state())[0],
                why=state[1],
                claims=(claims := tuple(holders(place.device.id))),
                pods=tuple(pod for claim in claims for pod in pods.get(claim, ())),
                used=dict(place.consumed),
                capacity=dict(place.device.capacity),
            )
            for place, classes, model in self._places()
        ]

    def n_mismatched(self, wanted: Collection[Sequence[str]]) -> int:
        """How many free devices match none of some lists of CEL expressions."""
        kinds = self._kinds
        free = (place.device for place, *_ in self._places() if place.state()[0] is DeviceState.FREE)
        return sum(kinds is not None and not any(kinds.is_selected(one, device) for one in wanted) for device in free)

    def _places(self) -> "Iterator[tuple[_Place, tuple[str, ...], str]]":
        """Each device where it is, with its classes and its model."""
        if self._kinds is None:
            return
        places: dict[DeviceId, _Place] = {}
        for node in self._nodes:
            for pool, use in zip(node.pools, node.uses, strict=True):
                held = _HeldPool(pool, use)
                for i, device in enumerate(pool.devices):
                    if device.id not in places:
                        places[device.id] = _Place(device, i, held)
                    places[device.id].nodes.append(node.node)
        for place in places.values():
            yield place, *self._kinds.of(place.device)


def device_fills(before: DeviceMoment, after: DeviceMoment) -> tuple[DeviceFill, ...]:
    """The devices by driver, classes and model, in the order of these, at two moments."""
    return tuple(
        DeviceFill(*kind, before.counted(kind), after.counted(kind), after.resources_of(kind))
        for kind in sorted(before.counts.keys() | after.counts.keys())
    )


class DeviceCatalog:
    """The devices of a cluster state; what they are is found again when slices or classes change."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._generation: tuple[int, ...] = ()
        self._kinds: DeviceKinds | None = None

    def now(self) -> DeviceMoment:
        """Which of them are in use now."""
        objects = self._state.objects
        if "ResourceSlice" not in objects:
            return DeviceMoment()
        generation = (objects.generation("ResourceSlice"), objects.generation("DeviceClass"))
        if self._kinds is None or generation != self._generation:
            self._generation, self._kinds = generation, DeviceKinds(self._state)
        return DeviceMoment(self._state.devices.by_node(), self._kinds)

    def uses(self) -> list[DeviceUse]:
        """Every device that a node can use, with who has it now."""
        return self.now().uses(self._state.devices.in_use.holders, _pods_by_claim(self._state))


class _HeldPool:
    """A pool of a node, and what of it is in use."""

    __slots__ = ("consumed", "pool", "taken", "used")

    def __init__(self, pool: DevicePool, use: DevicePoolUse) -> None:
        self.pool = pool
        self.taken = frozenset(use.taken)
        self.consumed = {place: dict(amounts) for place, amounts in use.shared}
        self.used: defaultdict[str, Counter[str]] = defaultdict(Counter)  # counter set -> counter -> billionths
        if pool.counters:
            self.used.update({of_set: Counter(dict(amounts)) for of_set, amounts in use.counters})
            for place in self.taken | self.consumed.keys():
                for of_set, name, amount in pool.devices[place].consumed_counters:
                    self.used[of_set][name] += amount


class _Place:
    """A device where it is."""

    __slots__ = ("device", "held", "index", "nodes")

    def __init__(self, device: PoolDevice, index: int, held: _HeldPool) -> None:
        self.device = device
        self.index = index  # in its pool
        self.held = held
        self.nodes: list[str] = []

    @property
    def consumed(self) -> Mapping[str, int]:
        """Capacity -> billionths that claims consume, if it is shared."""
        return self.held.consumed.get(self.index, {})

    def state(self) -> tuple[DeviceState, str]:
        """Whether a claim could be allocated it, and what keeps claims from it."""
        consumed, capacity = self.consumed, self.device.capacity
        is_full = any(consumed.get(name, 0) >= amount for name, amount in capacity.items()) if consumed else False
        if is_full or self.index in self.held.taken:
            return DeviceState.TAKEN, ""
        if why := next(self._obstacles(), ""):
            return DeviceState.UNUSABLE, why
        return (DeviceState.SHARED, "") if self.index in self.held.consumed else (DeviceState.FREE, "")

    def _obstacles(self) -> Iterator[str]:
        """What keeps claims from a device that no claim has."""
        pool = self.held.pool
        if not pool.is_valid:
            yield "its pool is invalid"
        if not pool.is_complete:
            yield "its pool is being updated"
        for taint in self.device.spec.taints or ():
            if taint.effect in _KEEPS_OUT:
                yield f"taint {taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"
        if self.index in self.held.consumed:
            return  # its counters are counted already
        alike: defaultdict[str, list[ShortCounter]] = defaultdict(list)
        for short in self.device.short_counters(pool.counters, self.held.used):
            alike[short.amounts].append(short)
        if alike:
            yield "; ".join(map(counter_words, alike.values()))


def _pods_by_claim(state: ClusterState) -> dict[str, tuple[str, ...]]:
    """The pods that each claim is reserved for."""
    claims = (one for one in state.objects.list("ResourceClaim") if isinstance(one, ResourceClaim))
    return {
        claim.key: tuple(f"{claim.namespace}/{user.name}" for user in claim.status.reserved_for or ())
        for claim in claims
        if claim.status.reserved_for
    }
