"""The devices of ResourceSlices as reports show them: what there is by driver, class and model, and who has it."""

import enum
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

import msgspec

from kubesched.api import DeviceClass, ResourceClaim, parse_quantity
from kubesched.cel import CompiledSelector, compile_selector
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.state import ClusterState, DeviceId, DevicePool, PoolDevice

_MODEL_NAMES: Final = ("productName", "model", "product", "profile", "pciDevice", "type")
"""Attributes that say what a device is, the best one first."""
_KEEPS_OUT: Final = ("NoSchedule", "NoExecute")
_Kind = tuple[str, tuple[str, ...], str]
_NOTHING: Final[Mapping[DeviceId, Mapping[str, int]]] = {}


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


class DeviceFill(msgspec.Struct, frozen=True):
    """How many devices of one kind there are, and who could have them, before and after.

    Attributes:
        driver, classes, model: as of a DeviceUse.
    """

    driver: str
    classes: tuple[str, ...]
    model: str
    before: DeviceCounts
    after: DeviceCounts


class DeviceMoment:
    """Which devices were in use at one moment; counted when it is read."""

    __slots__ = ("_consumed", "_counts", "_places", "_taken")

    def __init__(
        self,
        places: "Sequence[_Place]" = (),
        taken: Set[DeviceId] = frozenset(),
        consumed: Mapping[DeviceId, Mapping[str, int]] = _NOTHING,
    ) -> None:
        self._places = places
        self._taken = taken
        self._consumed = consumed
        self._counts: Mapping[_Kind, DeviceCounts] | None = None

    @property
    def counts(self) -> Mapping[_Kind, DeviceCounts]:
        """The devices by driver, classes and model."""
        if self._counts is None:
            counted: defaultdict[_Kind, Counter[DeviceState]] = defaultdict(Counter)
            for place, state, _ in self._states():
                counted[place.device.driver, place.classes, place.model][state] += 1
            self._counts = {
                kind: DeviceCounts(*(states[state] for state in DeviceState)) for kind, states in counted.items()
            }
        return self._counts

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
                classes=place.classes,
                model=place.model,
                state=state,
                why=why,
                claims=(claims := tuple(holders(place.device.id))),
                pods=tuple(pod for claim in claims for pod in pods.get(claim, ())),
                used=dict(self._consumed.get(place.device.id, {})),
                capacity=dict(place.device.capacity),
            )
            for place, state, why in self._states()
        ]

    def _states(self) -> "Iterator[tuple[_Place, DeviceState, str]]":
        used = _used_counters([place.device for place in self._places if place.device.id in self._taken])
        for place in self._places:
            id_ = place.device.id
            yield place, *_state_of(place, id_ in self._taken, self._consumed.get(id_, {}), used)


def device_fills(before: DeviceMoment, after: DeviceMoment) -> tuple[DeviceFill, ...]:
    """The devices by driver, classes and model, in the order of these, at two moments."""
    kinds = sorted(before.counts.keys() | after.counts.keys())
    none = DeviceCounts()
    return tuple(DeviceFill(*kind, before.counts.get(kind, none), after.counts.get(kind, none)) for kind in kinds)


class DeviceCatalog:
    """What the devices of a cluster state are; found again when slices, classes or nodes change."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._generation: tuple[int, ...] = ()
        self._places: list[_Place] = []

    def now(self) -> DeviceMoment:
        """Which of them are in use now."""
        if "ResourceSlice" not in self._state.objects:
            return DeviceMoment()
        self._refresh()
        return DeviceMoment(self._places, *self._state.devices.in_use.at_once())

    def uses(self) -> list[DeviceUse]:
        """Every device that a node can use, with who has it now."""
        return self.now().uses(self._state.devices.in_use.holders, _pods_by_claim(self._state))

    def _refresh(self) -> None:
        kinds = ("ResourceSlice", "DeviceClass", "Node")
        generation = tuple(map(self._state.objects.generation, kinds))
        if generation == self._generation:
            return
        self._generation = generation
        places: dict[DeviceId, _Place] = {}
        for node, row in self._state.columns.row_of.items():
            for pool in self._state.devices.pools_of(row):
                for device in pool.devices:
                    if device.id not in places:
                        places[device.id] = _Place(device, pool)
                    places[device.id].nodes.append(node)
        self._places = list(places.values())
        classes = _Classes(self._state)
        models = _models([place.device for place in self._places])
        for place in self._places:
            place.classes = classes.of(place.device)
            place.model = _text_of(place.device, models.get(place.device.driver, ""))


class _Place:
    """A device where it is."""

    __slots__ = ("classes", "device", "model", "nodes", "pool")

    def __init__(self, device: PoolDevice, pool: DevicePool) -> None:
        self.device = device
        self.pool = pool
        self.nodes: list[str] = []
        self.classes: tuple[str, ...] = ()
        self.model = ""


class _Classes:
    """The device classes with their compiled selectors; one whose selectors do not compile matches nothing."""

    def __init__(self, state: ClusterState) -> None:
        known = sorted(state.objects.list("DeviceClass"), key=lambda one: one.name)
        self._selectors = {one.name: _compiled(one) for one in known if isinstance(one, DeviceClass)}
        self._answers: dict[tuple[object, ...], bool] = {}

    def of(self, device: PoolDevice) -> tuple[str, ...]:
        return tuple(name for name, selectors in self._selectors.items() if self._match(selectors, device))

    def _match(self, selectors: Sequence[CompiledSelector] | None, device: PoolDevice) -> bool:
        return selectors is not None and all(self._answer(selector, device) for selector in selectors)

    def _answer(self, selector: CompiledSelector, device: PoolDevice) -> bool:
        """Devices that are equal as far as the selector reads them are asked once."""
        key = (selector.text, device.read_by(selector.reads))
        answer = self._answers.get(key)
        if answer is None:
            try:
                answer = selector.matches(device.value)
            except CelRuntimeError:
                answer = False
            self._answers[key] = answer
        return answer


def _compiled(device_class: DeviceClass) -> list[CompiledSelector] | None:
    try:
        return [compile_selector(one.cel.expression) for one in device_class.spec.selectors or () if one.cel]
    except CelCompileError:
        return None


def _models(devices: Iterable[PoolDevice]) -> dict[str, str]:
    """By driver, the name of the string attribute that says what its devices are; empty for none.

    That is one of the usual names, or one that devices of a pool have in common: one in which they all differ, such as
    a uuid, is a name. Of several the one that tells devices apart counts.
    """
    values: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    seen: set[tuple[str, ...]] = set()
    common: set[tuple[str, str]] = set()
    for device in devices:
        of_driver = values[device.driver]
        for name, attribute in (device.spec.attributes or {}).items():
            if attribute.string is not None:
                of_driver[name].add(attribute.string)
                place = (device.driver, device.pool, name, attribute.string)
                if place in seen:
                    common.add((device.driver, name))
                seen.add(place)
    return {
        driver: min((name for name in names if _is_telling(driver, name, common)), key=_rank(names), default="")
        for driver, names in values.items()
    }


def _is_telling(driver: str, name: str, common: Set[tuple[str, str]]) -> bool:
    return _usual(name) < len(_MODEL_NAMES) or (driver, name) in common


def _rank(values: Mapping[str, Set[str]]) -> Callable[[str], tuple[object, ...]]:
    """The best name first: a usual one, which has several values."""

    def rank(name: str) -> tuple[object, ...]:
        usual = _usual(name)
        return usual == len(_MODEL_NAMES), len(values[name]) == 1, usual, -len(values[name]), name

    return rank


def _usual(name: str) -> int:
    """The place of the name, without its domain, among the usual ones; behind them for any other."""
    bare = name.rpartition("/")[2]
    return _MODEL_NAMES.index(bare) if bare in _MODEL_NAMES else len(_MODEL_NAMES)


def _text_of(device: PoolDevice, name: str) -> str:
    attribute = (device.spec.attributes or {}).get(name)
    return (attribute.string if attribute is not None else None) or ""


def _pods_by_claim(state: ClusterState) -> dict[str, tuple[str, ...]]:
    """The pods that each claim is reserved for."""
    claims = (one for one in state.objects.list("ResourceClaim") if isinstance(one, ResourceClaim))
    return {
        claim.key: tuple(f"{claim.namespace}/{user.name}" for user in claim.status.reserved_for or ())
        for claim in claims
        if claim.status.reserved_for
    }


def _used_counters(taken: Iterable[PoolDevice]) -> dict[tuple[str, ...], int]:
    """What devices use: driver, pool, counter set, counter -> billionths."""
    used: Counter[tuple[str, ...]] = Counter()
    for device in taken:
        for consumed in device.spec.consumes_counters or ():
            for name, counter in (consumed.counters or {}).items():
                used[device.driver, device.pool, consumed.counter_set, name] += parse_quantity(counter.amount)
    return used


def _state_of(
    place: _Place, is_taken: bool, consumed: Mapping[str, int], used: Mapping[tuple[str, ...], int]
) -> tuple[DeviceState, str]:
    capacity = place.device.capacity
    if is_taken or (consumed and any(consumed.get(name, 0) >= amount for name, amount in capacity.items())):
        return DeviceState.TAKEN, ""
    if why := next(_obstacles(place, used), ""):
        return DeviceState.UNUSABLE, why
    return (DeviceState.SHARED, "") if consumed else (DeviceState.FREE, "")


def _obstacles(place: _Place, used: Mapping[tuple[str, ...], int]) -> Iterator[str]:
    """What keeps claims from a device that no claim has."""
    device, pool = place.device, place.pool
    if not pool.is_valid:
        yield "its pool is invalid"
    if not pool.is_complete:
        yield "its pool is being updated"
    for taint in device.spec.taints or ():
        if taint.effect in _KEEPS_OUT:
            yield f"taint {taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"
    for consumed in device.spec.consumes_counters or ():
        offered = pool.counters.get(consumed.counter_set, {})
        for name, counter in (consumed.counters or {}).items():
            taken = used.get((device.driver, device.pool, consumed.counter_set, name), 0)
            if taken + parse_quantity(counter.amount) > offered.get(name, 0):
                yield f"{name} of {consumed.counter_set} is used up"
