"""Searches the devices of a node for the claims of a pod: all of them, or none.

Rule: kube-scheduler v1.36 structured allocator ("incubating"). Depth first, in a fixed order: claims as the pod lists
them, requests and alternatives as the claim lists them, devices in the order of their pools. The first complete choice
wins, so nothing is ever scored. The next device of a request is looked for behind the last one.

A device that is like one that led nowhere is skipped, as long as this changes neither the first choice nor the errors:
not beside requests for all devices, and not where values must differ, because there the order of the devices counts.
"""

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.api import parse_quantity
from kubesched.errors import CelCompileError, CelRuntimeError, ClaimError
from kubesched.plugins.dynamic_resources.asks import ALL, EXACT_COUNT, DeviceAsk, NamedAsk
from kubesched.plugins.dynamic_resources.capacity_use import consumed_of
from kubesched.plugins.dynamic_resources.constraints import Bonds
from kubesched.plugins.dynamic_resources.patience import Looks, Patience
from kubesched.plugins.tolerations import has_untolerated_taint
from kubesched.state import DeviceId, DevicePool, Devices, PoolDevice

MOST_DEVICES: Final = 32
"""How many devices one claim may have."""

PARTITIONS: Final = "DRAPartitionableDevices"
"""The gate of devices that share counters."""

_FEW_LOOKS: Final = 4000
_NO_KEY: Final = "no such key"
_ADVICE: Final = (
    ". consider using CEL optional chaining (.? followed by orValue())"
    " or guarding the check with has() for optional fields"
)
_NOT_SHARED: Final[dict[str, int]] = {}

Place = tuple[DevicePool, PoolDevice]


class Shortage(enum.Enum):
    """Why claims cannot be allocated on a node."""

    NOT_ENOUGH = "cannot allocate all claims"
    INVALID_POOLS = "invalid resource pools were encountered"
    TIMED_OUT = "timed out trying to allocate devices"
    TOO_LONG = "its claims leave more choices of devices than kubesched tries on one node"


class ChosenDevice(msgspec.Struct, frozen=True, eq=False):
    """A device for a request.

    Attributes:
        ask: the request or subrequest that it is for.
    """

    ask: DeviceAsk
    device: PoolDevice


Chosen = tuple[ChosenDevice, ...]
"""The devices of one claim, in the order of the search."""


def search(
    pools: Sequence[DevicePool], devices: Devices, claims: Sequence[NamedAsk], patience: Patience
) -> tuple[Chosen, ...] | Shortage:
    """Find devices for all claims.

    Args:
        pools: of the node, in order.
        devices: what is taken of them.
        patience: ends a search that takes too long.
    Returns: the devices of each claim, or why there are none.
    Raises:
        ClaimError: a claim cannot be judged; the text is upstream's.
    """
    chosen = _Search(pools, devices, claims, Looks(_FEW_LOOKS)).run()
    if chosen is Shortage.TOO_LONG:
        is_hopeless = _is_hopeless(pools, devices, claims)
        chosen = Shortage.NOT_ENOUGH if is_hopeless else _Search(pools, devices, claims, patience).run()
    if chosen is Shortage.NOT_ENOUGH and not all(pool.is_valid for pool in pools):
        return Shortage.INVALID_POOLS
    return chosen


def is_ignored(device: PoolDevice, devices: Devices) -> bool:
    """Whether no claim gets a device, because the version of Kubernetes knows no devices that share counters."""
    return bool(device.spec.consumes_counters) and not devices.release.has(PARTITIONS)


def _is_hopeless(pools: Sequence[DevicePool], devices: Devices, claims: Sequence[NamedAsk]) -> bool:
    """Whether a claim, or a request of one, could not be allocated even if it were the only one.

    A long search may meet an error before it comes to that result. So this is not certain where there might be one.
    """
    single = [
        msgspec.structs.replace(claim, ask=msgspec.structs.replace(claim.ask, requests=(request,)))
        for claim in claims
        for request in claim.ask.requests
    ]
    try:
        if any(_Search(pools, devices, claims, Looks(0)).may_fail(i) for i in range(len(claims))):
            return False
        alone = (_Search(pools, devices, [one], Looks(_FEW_LOOKS)).run() for one in (*single, *claims))
        return any(one is Shortage.NOT_ENOUGH for one in alone)
    except ClaimError:
        return False


class _Slot(msgspec.Struct, eq=False):
    """One of the devices that a request asks for.

    Attributes:
        claim, request, alternative, number: which one, all as positions.
        next: where to look next, among the places of the request.
        place: what is chosen; None for nothing.
        consumed: what that takes of a shared device.
        tried: what devices are like that led nowhere.
    """

    claim: int
    request: int
    alternative: int
    number: int
    next: int = 0
    place: Place | None = None
    consumed: Mapping[str, int] = _NOT_SHARED
    tried: set[object] = set()


class _Search:
    def __init__(
        self, pools: Sequence[DevicePool], devices: Devices, claims: Sequence[NamedAsk], patience: Patience | Looks
    ) -> None:
        self._pools = pools
        self._devices = devices
        self._claims = claims
        self._patience = patience
        is_taken = devices.in_use.is_taken
        may_be_taken = any(ask.is_admin for claim in claims for ask in claim.ask.asks)
        self._places: list[Place] = [
            (pool, device)
            for pool in pools
            if pool.is_used
            for device in pool.devices
            if may_be_taken or not is_taken(device.id)
        ]
        self._all: dict[tuple[int, int, int], list[Place]] = {}  # of mode All, by claim, request and alternative
        self._selected: dict[tuple[int, DeviceAsk, DeviceId], bool] = {}
        self._uses: dict[DeviceId, list[_Slot]] = {}
        self._consumed: dict[DeviceId, dict[str, int]] = {}
        self._counters: dict[int, dict[str, dict[str, int]]] = {}  # by the id of the pool: what is used
        self._bonds = [Bonds(claim.ask.constraints, devices.release) for claim in claims]
        self._chosen: list[list[ChosenDevice]] = [[] for _ in claims]
        self._kinds: dict[DeviceId, object] = {}
        self._may_skip = all(ask.mode == EXACT_COUNT for claim in claims for ask in claim.ask.asks) and not any(
            constraint.is_distinct for claim in claims for constraint in claim.ask.constraints
        )

    def run(self) -> tuple[Chosen, ...] | Shortage:
        for i in range(len(self._claims)):
            self._check(i)
        slots: list[_Slot] = []
        request = self._request_from(0, 0)
        following = None if request is None else self._slot(*request, 0)
        while request is not None:
            if following is not None:
                slots.append(following)
            elif not slots:
                return Shortage.NOT_ENOUGH
            slot = slots[-1]
            self._take_back(slot)
            if self._choose(slot):
                if slot.number + 1 < self._count(slot):
                    following = _Slot(slot.claim, slot.request, slot.alternative, slot.number + 1, slot.next)
                else:
                    request = self._request_from(slot.claim, slot.request + 1)
                    following = None if request is None else self._slot(*request, 0)
            elif self._patience.is_over:
                return Shortage.TIMED_OUT if self._patience.is_timed else Shortage.TOO_LONG
            else:
                slots.pop()
                following = None if slot.number else self._slot(slot.claim, slot.request, slot.alternative + 1)
        return tuple(map(tuple, self._chosen))

    def may_fail(self, claim: int) -> bool:
        """Whether a search for a claim can meet an error.

        Raises:
            ClaimError: a selector fails for some device.
        """
        ask = self._claims[claim].ask
        for one in ask.asks:
            for _, device in self._places:
                self._is_selected(claim, one, device)
        return bool(ask.constraints) and any(one.mode == ALL for one in ask.asks)

    # --- where the search goes on ---

    def _request_from(self, claim: int, request: int) -> tuple[int, int] | None:
        """This request, or the first one of the next claim that has some; None behind the last one."""
        while claim < len(self._claims):
            if request < len(self._claims[claim].ask.requests):
                return claim, request
            claim, request = claim + 1, 0
        return None

    def _slot(self, claim: int, request: int, alternative: int) -> _Slot | None:
        """The first device of an alternative that is not too large, or of a later one; None for none."""
        for i in range(alternative, len(self._claims[claim].ask.requests[request])):
            slot = _Slot(claim, request, i, 0)
            if 0 < self._count(slot) <= MOST_DEVICES - len(self._chosen[claim]):
                return slot
        return None

    def _ask(self, slot: _Slot) -> DeviceAsk:
        return self._claims[slot.claim].ask.requests[slot.request][slot.alternative]

    def _count(self, slot: _Slot) -> int:
        places = self._all.get((slot.claim, slot.request, slot.alternative))
        return self._ask(slot).count if places is None else len(places)

    # --- before the search: limits, and what "all devices" are ---

    def _check(self, claim: int) -> None:
        """Count what a claim asks for.

        Raises:
            ClaimError: it is too much, or it is not known how much.
        """
        key, ask, n_devices = self._claims[claim].claim, self._claims[claim].ask, 0
        for i, constraint in enumerate(ask.constraints):
            if not constraint.attribute:
                raise ClaimError(f"claim {key}, constraint #{i}: empty constraint (unsupported constraint type?)")
        for i, alternatives in enumerate(ask.requests):
            for j, one in enumerate(alternatives):
                if one.mode == ALL:
                    self._all[claim, i, j] = list(self._all_devices(claim, one))
                elif one.mode != EXACT_COUNT:
                    raise ClaimError(f"claim {key}, request {one.name}: unsupported count mode {one.mode}")
                if one.capacity and not self._devices.release.has("DRAConsumableCapacity"):  # as before v1.35
                    why = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
                    raise ClaimError(f"claim {key}, request {one.name.partition('/')[0]}: {why}")
            n_devices += min((self._count(_Slot(claim, i, j, 0)) for j in range(len(alternatives))), default=0)
        if n_devices > MOST_DEVICES:
            limit = f"exceeds the claim limit of {MOST_DEVICES}"
            raise ClaimError(f"claim {key}: number of requested devices {n_devices} {limit}")

    def _all_devices(self, claim: int, ask: DeviceAsk) -> Iterator[Place]:
        """What "all devices" are.

        Rule: kube-scheduler before v1.37 leaves out shared devices of which too little is left; since then these fail.
        """
        leaves_out_used = self._devices.release.before(37)
        for pool in self._pools:
            if not pool.is_complete or not pool.is_valid:
                state = "invalid" if pool.is_complete else "being updated"
                where = f"claim {self._claims[claim].claim}, request {ask.short_name}"
                pool_name = f"{pool.driver}/{pool.name}"
                raise ClaimError(f"{where}: asks for all devices, but resource pool {pool_name} is currently {state}")
            for device in pool.devices:
                used = self._devices.in_use.consumed(device.id) if leaves_out_used else _NOT_SHARED
                if self._is_selected(claim, ask, device) and self._has_room(ask, device, used) is not None:
                    yield pool, device

    # --- one device ---

    def _choose(self, slot: _Slot) -> bool:
        """Choose the next device that will do. Returns: whether there is one."""
        ask = self._ask(slot)
        places = self._all.get((slot.claim, slot.request, slot.alternative))
        n_places = len(self._places) if places is None else slot.number + 1
        if places is None:
            places = self._places
        else:
            slot.next = max(slot.next, slot.number)
        while slot.next < n_places:
            if self._patience.look():
                return False
            pool, device = places[slot.next]
            slot.next += 1
            if slot.tried and self._kind(pool, device) in slot.tried:
                continue
            if self._take(slot, ask, pool, device):
                return True
        return False

    def _take(self, slot: _Slot, ask: DeviceAsk, pool: DevicePool, device: PoolDevice) -> bool:
        """Take a device, if the request may have it. Returns: whether it has it.

        Raises:
            ClaimError: a selector fails, or one of all devices breaks a constraint.
        """
        must = ask.mode == ALL
        if not self._is_free(slot, ask, device) or (not must and not self._is_selected(slot.claim, ask, device)):
            return False
        if has_untolerated_taint(device.spec.taints or (), ask.tolerations) or is_ignored(device, self._devices):
            return False
        if not self._has_counters(pool, device):
            return False
        consumed = self._has_room(ask, device, self._consumed_of(device))
        if consumed is None and not must:
            return False
        if not self._bonds[slot.claim].add(ask.name, device):
            if must:
                where = f"claim {self._claims[slot.claim].claim}, request {ask.short_name}"
                text = f"cannot add device {'/'.join(device.id)} because a claim constraint would not be satisfied"
                raise ClaimError(f"{where}: {text}")
            return False
        if consumed is None:  # one of all devices: an error comes first
            self._bonds[slot.claim].remove(ask.name)
            return False
        slot.place, slot.consumed = (pool, device), consumed
        self._account(slot, 1)
        self._uses.setdefault(device.id, []).append(slot)
        self._chosen[slot.claim].append(ChosenDevice(ask, device))
        return True

    def _take_back(self, slot: _Slot) -> None:
        """Undo the choice of a slot, which led nowhere."""
        if slot.place is None:
            return
        pool, device = slot.place
        self._account(slot, -1)
        self._bonds[slot.claim].remove(self._ask(slot).name)
        self._uses[device.id].pop()
        self._chosen[slot.claim].pop()
        slot.place = None
        kind = self._kind(pool, device) if self._may_skip else None
        if kind is not None:
            slot.tried = {*slot.tried, kind}

    def _account(self, slot: _Slot, sign: int) -> None:
        """Count what the choice of a slot consumes, or give it back."""
        assert slot.place is not None
        pool, device = slot.place
        if device.spec.consumes_counters and not self._is_in_use(device, but_for=1 if sign < 0 else 0):
            for of_set, name, amount in device.consumed_counters:
                used = self._used(pool).setdefault(of_set, {})
                used[name] = used.get(name, 0) + sign * amount
        for name, amount in slot.consumed.items():
            mine = self._consumed_of(device)
            mine[name] = mine.get(name, 0) + sign * amount

    # --- the rules ---

    def _is_free(self, slot: _Slot, ask: DeviceAsk, device: PoolDevice) -> bool:
        """Whether no other request is in the way."""
        uses, in_use = self._uses.get(device.id) or (), self._devices.in_use
        if device.spec.allow_multiple_allocations:
            is_mine = any((one.claim, one.request) == (slot.claim, slot.request) for one in uses)
            return not is_mine and (ask.is_admin or not in_use.is_taken(device.id))
        if any(one.claim == slot.claim for one in uses):
            return False
        return ask.is_admin or not (uses or in_use.is_taken(device.id) or in_use.is_shared(device.id))

    def _is_selected(self, claim: int, ask: DeviceAsk, device: PoolDevice) -> bool:
        """Whether class and request select a device.

        Raises:
            ClaimError: a selector fails.
        """
        key = (claim, ask, device.id)
        known = self._selected.get(key)
        if known is None:
            known = self._selected[key] = all(
                self._is_matched(f"{owner}: selector #{i}", text, device)
                for owner, texts in (
                    (f"class {ask.class_name}", ask.class_selectors),
                    (f"claim {self._claims[claim].claim}", ask.selectors),
                )
                for i, text in enumerate(texts)
            )
        return known

    def _is_matched(self, place: str, text: str, device: PoolDevice) -> bool:
        """Whether a selector selects a device.

        Rule: kube-scheduler since v1.37 names the device for which it fails.
        Args:
            place: where the selector is, for messages.
        Raises:
            ClaimError: it does not compile, or fails for the device.
        """
        try:
            return kubesched.cel.compile_selector(text, self._devices.release).matches(device.value)
        except CelCompileError as error:
            raise ClaimError(f"{place}: CEL compile error: {error}") from error
        except CelRuntimeError as error:
            if self._devices.release.before(37):
                raise ClaimError(f"{place}: CEL runtime error: {error}") from error
            advice = _ADVICE if str(error).startswith(_NO_KEY) else ""
            raise ClaimError(f"{place} on device {'/'.join(device.id)}: CEL runtime error: {error}{advice}") from error

    @staticmethod
    def _has_room(ask: DeviceAsk, device: PoolDevice, used: Mapping[str, int]) -> Mapping[str, int] | None:
        """What a request takes of a shared device, nothing for any other; None if that is more than there is.

        Args:
            used: of the device, by others.
        """
        asked = dict(ask.capacity)
        for name, amount in asked.items():
            if device.capacity.get(name, -1) < parse_quantity(amount):
                return None
        if not device.spec.allow_multiple_allocations:
            return _NOT_SHARED
        consumed = {}
        for name, capacity in (device.spec.capacity or {}).items():
            text = consumed_of(capacity, asked.get(name))
            if text is None:
                return None
            consumed[name] = parse_quantity(text)
            if used.get(name, 0) + consumed[name] > device.capacity[name]:
                return None
        return consumed

    def _has_counters(self, pool: DevicePool, device: PoolDevice) -> bool:
        """Whether what a device consumes is left in the counter sets of its pool."""
        if not device.spec.consumes_counters or self._is_in_use(device):
            return True
        used = self._used(pool)
        return all(
            used.get(of_set, {}).get(name, 0) + amount <= pool.counters[of_set][name]
            for of_set, name, amount in device.consumed_counters
        )

    def _is_in_use(self, device: PoolDevice, but_for: int = 0) -> bool:
        """Whether a shared device is shared already, but for so many choices: it uses its counters only once."""
        if not device.spec.allow_multiple_allocations:
            return False
        return self._devices.in_use.is_shared(device.id) or len(self._uses.get(device.id, ())) > but_for

    def _used(self, pool: DevicePool) -> dict[str, dict[str, int]]:
        """What is used of the counters of a pool."""
        if id(pool) not in self._counters:
            self._counters[id(pool)] = {**self._devices.used_counters(pool)}
        return self._counters[id(pool)]

    def _consumed_of(self, device: PoolDevice) -> dict[str, int]:
        """What is consumed of a shared device."""
        consumed = self._consumed.get(device.id)
        if consumed is None:
            consumed = self._consumed[device.id] = dict(self._devices.in_use.consumed(device.id))
        return consumed

    def _kind(self, pool: DevicePool, device: PoolDevice) -> object:
        """What decides about a device that nothing uses yet; None for one that cannot be compared."""
        if device.spec.allow_multiple_allocations or self._uses.get(device.id):
            return None
        kind = self._kinds.get(device.id)
        if kind is None:
            kind = self._kinds[device.id] = (
                id(pool),
                self._devices.in_use.is_taken(device.id),
                device.spec.taints,
                msgspec.json.encode(device.spec.consumes_counters, order="sorted"),
                *(device.read_by(claim.ask.reads) for claim in self._claims),
                *(device.attribute(one.attribute) for claim in self._claims for one in claim.ask.constraints),
                *(
                    device.capacity.get(name)
                    for claim in self._claims
                    for one in claim.ask.asks
                    for name, _ in one.capacity
                ),
            )
        return kind
