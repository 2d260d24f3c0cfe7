"""Says why the claims of a pod cannot be allocated on a node: what is in the way of each request, by how many devices.

The phrases name no pod and no node, so that nodes with the same devices in use have the same ones.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

import msgspec

from kubesched.api import Device, ResourceClaim, ResourcePool, ResourceSliceSpec, parse_quantity
from kubesched.cel import CompiledSelector, Refusal, compile_selector
from kubesched.documents import count, plural
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.plugins.dynamic_resources.asks import ALL, ClaimAsk, ConstraintAsk, DeviceAsk, NamedAsk
from kubesched.plugins.dynamic_resources.device_search import is_ignored
from kubesched.plugins.tolerations import taint_words, untolerated_taints
from kubesched.state import DeviceId, DevicePool, Devices, PoolDevice, ShortCounter, counter_words

_TAKEN: Final = "taken"
_TAINT: Final = "taint "
_ABSENT: Final = "absent"
_MOST_VALUES: Final = 3
_LONGEST: Final = 60
_BEHIND: Final = 12  # characters of a text that are shown behind a word
_READS_DEVICE: Final = re.compile("attributes|capacity|allowMultiple")


class Nearness(IntEnum):
    """What has to change before a request gets devices of a node; what such devices do by themselves comes first."""

    ENOUGH = 0
    """Nothing, if it were the only request."""
    USED_UP = 1
    """Other devices, or other claims, use counters or capacity of devices that would do."""
    TAKEN = 2
    """Others have devices that would do."""
    TAINTED = 3
    """Devices that would do have a taint."""
    BROKEN_POOL = 4
    """Devices that may do are left out, because their pool is incomplete or invalid."""
    OTHER = 5
    """The devices of the class are others than the request wants, or too few."""
    NONE = 6
    """There is no device of the class."""


class _Reason(NamedTuple):
    """What keeps a request from a device, as in a DeviceObstacle, and the devices whose users are in the way."""

    what: str
    wanted: str = ""
    value: str = ""
    passes: bool = False
    used: tuple[DeviceId, ...] = ()
    short: ShortCounter | None = None


class DeviceObstacle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What keeps a request from some devices of its class.

    Attributes:
        devices: how many.
        what: in words; of an attribute or a capacity, its name.
        wanted: what the request wants of it, such as `>= 80Gi`; empty for other reasons.
        values: the different ones that the devices have.
        passes: whether equal devices of a new node do not have it: others use the devices, or they have a taint.
    """

    devices: int
    what: str
    wanted: str = ""
    values: tuple[str, ...] = ()
    passes: bool = False

    @property
    def nearness(self) -> Nearness:
        """What has to change before a request gets these devices."""
        if not self.passes:
            return Nearness.OTHER
        if self.what.startswith(_TAINT):
            return Nearness.TAINTED
        return Nearness.TAKEN if self.what == _TAKEN else Nearness.USED_UP

    def words(self, n_of_class: int) -> str:
        """It as a phrase."""
        n = self.devices
        which = f"all {count(n, 'device')}" if n == n_of_class and n > 1 else count(n, "device")
        if self.wanted:
            some = " or ".join(self.values) if len(self.values) <= _MOST_VALUES else "another one"
            return f"{self.what} is {some}, the claim wants {self.wanted} ({which})"
        return f"{which} {plural(n, 'is', 'are')} taken" if self.what == _TAKEN else f"{self.what} ({which})"


class RequestDevices(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a node has for one request.

    Attributes:
        claim: `namespace/name`.
        request: the request, or `request/subrequest`.
        wanted: how many devices it wants.
        of_class: how many devices of the class there are.
        usable: how many of them the request could have if it were the only one.
        obstacles: what keeps it from the others, that of most devices first.
        broken_pools: what is wrong with pools that are left out; empty for nothing.
        broken_may_do: whether one of these pools has a device that the request wants, or none that is known.
    """

    claim: str
    request: str
    device_class: str
    wanted: int
    of_class: int
    usable: int
    obstacles: tuple[DeviceObstacle, ...] = ()
    broken_pools: str = ""
    broken_may_do: bool = False

    @property
    def is_enough(self) -> bool:
        """Whether the request could be served if it were the only one."""
        return self.of_class > 0 and self.usable >= self.wanted

    @property
    def is_enough_anew(self) -> bool:
        """Whether it could be served by equal devices of a new node."""
        return 0 < self.wanted <= self.usable + sum(one.devices for one in self.obstacles if one.passes)

    @property
    def nearness(self) -> Nearness:
        """What has to change before it gets enough devices if it is the only one."""
        if self.is_enough:
            return Nearness.ENOUGH
        n = self.usable
        for kind in (Nearness.USED_UP, Nearness.TAKEN, Nearness.TAINTED):
            n += sum(one.devices for one in self.obstacles if one.nearness is kind)
            if 0 < self.wanted <= n:
                return kind
        if self.broken_may_do:
            return Nearness.BROKEN_POOL
        return Nearness.OTHER if self.of_class else Nearness.NONE

    @property
    def words(self) -> str:
        """Why it gets too few devices."""
        if not self.of_class:
            return f"request {self.request}: {self.broken_pools or f'no device of class {self.device_class}'}"
        if self.wanted > self.of_class:
            have = f"{count(self.of_class, 'device')} of class {self.device_class}, {self.wanted} are wanted"
            return f"request {self.request}: {have}"
        why = [*(one.words(self.of_class) for one in self.obstacles), *filter(None, [self.broken_pools])]
        if not self.usable:
            return f"request {self.request}: {', '.join(why)}"
        will_do = f"{self.usable} of {count(self.of_class, 'device')} will do, {self.wanted} are wanted"
        because = f" ({', '.join(why)})" if why else ""
        return f"request {self.request}: {will_do}{because}"


def device_reasons(pools: Sequence[DevicePool], devices: Devices, claims: Iterable[NamedAsk]) -> Iterator[str]:
    """A phrase for each request that the devices of a node cannot serve, even if it were the only one.

    If each could be served by itself, one phrase for all: they want the same devices, or a constraint keeps them apart.

    Args:
        pools: of the node.
        devices: what is in use of them.
        claims: those that are to be allocated.
    """
    claims = list(claims)
    short = [
        one
        for alternatives in devices_for(pools, devices, claims)
        if not any(one.is_enough for one in alternatives)
        for one in alternatives
    ]
    yield from [one.words for one in short] or reasons_together(pools, devices, claims)


def devices_for(
    pools: Sequence[DevicePool], devices: Devices, claims: Iterable[NamedAsk]
) -> Iterator[tuple[RequestDevices, ...]]:
    """What a node has for each request, one after another: for each of its alternatives."""
    for claim in claims:
        for alternatives in claim.ask.requests:
            yield tuple(_for_ask(pools, devices, claim.claim, ask) for ask in alternatives)


def used_devices(pools: Sequence[DevicePool], devices: Devices, claims: Iterable[NamedAsk]) -> set[DeviceId]:
    """The devices whose users are in the way of the requests that the devices of a node cannot serve.

    If each could be served by itself, they are in the way of all, unless a constraint would not hold without them
    either. No device is in the way of a request that wants more devices than there are of the class.
    """
    claims = list(claims)
    found = [
        [_looked_at(pools, devices, claim.claim, ask) for ask in alternatives]
        for claim in claims
        for alternatives in claim.ask.requests
    ]
    short = [one for one in found if not any(of_request.is_enough for of_request, _ in one)]
    if not short and any(not conflict.is_held for conflict in _conflicts(pools, devices, claims)):
        return set()
    reasons = [
        reason
        for one in short or found
        for of_request, reasons in one
        if of_request.wanted <= of_request.of_class
        for reason in reasons
    ]
    return {device for reason in reasons for device in reason.used}


def _for_ask(pools: Sequence[DevicePool], devices: Devices, claim: str, ask: DeviceAsk) -> RequestDevices:
    return _looked_at(pools, devices, claim, ask)[0]


def _looked_at(
    pools: Sequence[DevicePool], devices: Devices, claim: str, ask: DeviceAsk
) -> tuple[RequestDevices, list[_Reason]]:
    """What a node has for a request, and what keeps it from each of the others."""
    of_class = [
        (pool, one)
        for pool in pools
        if pool.is_used
        for one in pool.devices
        if not refusal_of(ask.class_selectors, one)
    ]
    reasons = [reason for pool, one in of_class if (reason := _reason(pool, one, devices, ask)) is not None]
    of_request = RequestDevices(
        claim,
        ask.name,
        ask.class_name,
        ask.count if ask.mode != ALL else len(of_class),
        len(of_class),
        len(of_class) - len(reasons),
        tuple(_counted(reasons)),
        _in_states(broken_pools_for(pools, ask)),
        any(_may_do(pool, ask) for pool in pools if not pool.is_used),
    )
    return of_request, reasons


def _may_do(pool: DevicePool, ask: DeviceAsk) -> bool:
    wanted = (*ask.class_selectors, *ask.selectors)
    return not pool.devices or any(not refusal_of(wanted, one) for one in pool.devices)


def broken_pools_for(pools: Iterable[DevicePool], ask: DeviceAsk) -> Iterator[DevicePool]:
    """The pools that are left out, of drivers of which the class of a request may have devices."""
    for pool in pools:
        if not pool.is_used:
            unknown = PoolDevice(Device("unknown"), ResourceSliceSpec(driver=pool.driver, pool=ResourcePool(pool.name)))
            refusal = refusal_of(ask.class_selectors, unknown)
            if refusal is None or refusal.error or _READS_DEVICE.search(refusal.conjunct.text):
                yield pool


def _in_states(pools: Iterable[DevicePool]) -> str:
    """What is wrong with pools that are left out."""
    states = Counter(_fault_of(pool) if pool.is_complete else "being updated" for pool in pools)
    return ", ".join(f"{count(n, 'pool')} {plural(n, 'is', 'are')} {state}" for state, n in states.items())


def _fault_of(pool: DevicePool) -> str:
    """Why a complete pool is invalid."""
    if len({device.id for device in pool.devices}) < len(pool.devices):
        return "invalid: two of its devices have one name"
    consumed = (one for device in (*pool.devices, *pool.elsewhere) for one in device.consumed_counters)
    if any(name not in pool.counters.get(of_set, ()) for of_set, name, _ in consumed):
        return "invalid: a device consumes a counter that its slices do not define"
    return "invalid: two of its counter sets have one name"


def _reason(pool: DevicePool, device: PoolDevice, devices: Devices, ask: DeviceAsk) -> _Reason | None:
    """What keeps a request from a device of its class; None for nothing."""
    if refusal := refusal_of(ask.selectors, device):
        return _Reason(_failing(refusal)) if refusal.error else _in_words(refusal)
    if not ask.is_admin and devices.in_use.is_taken(device.id):
        return _Reason(_TAKEN, passes=True, used=(device.id,))
    for taint in untolerated_taints(device.spec.taints or (), ask.tolerations):
        return _Reason(f"{_TAINT}{taint_words(taint)} is not tolerated", passes=True)
    if is_ignored(device, devices):
        return _Reason(f"is a part of a device, which {devices.release} gives to no claim")
    for name, amount in ask.capacity:
        has = (device.spec.capacity or {}).get(name)
        if has is None or parse_quantity(has.amount) < parse_quantity(amount):
            return _Reason(_bare(name), f">= {amount}", str(has.amount) if has is not None else _ABSENT)
    if device.spec.allow_multiple_allocations and _is_used_up(device, devices, ask):
        return _Reason("too little of its capacity is left", passes=True, used=(device.id,))
    used = devices.used_counters(pool) if device.spec.consumes_counters else {}
    for short in device.short_counters(pool.counters, used):
        others = tuple(_consumers(pool, devices, short.of_set, short.name))
        return _Reason(short.amounts, passes=True, used=others, short=short)
    return None


def _consumers(pool: DevicePool, devices: Devices, counter_set: str, counter: str) -> Iterator[DeviceId]:
    """The devices in use that consume a counter."""
    for device in (*pool.devices, *pool.elsewhere):
        if devices.in_use.is_taken(device.id) or devices.in_use.is_shared(device.id):
            if any((of_set, name) == (counter_set, counter) for of_set, name, _ in device.consumed_counters):
                yield device.id


def _is_used_up(device: PoolDevice, devices: Devices, ask: DeviceAsk) -> bool:
    asked, used = dict(ask.capacity), devices.in_use.consumed(device.id)
    return any(
        used.get(name, 0) + (parse_quantity(asked[name]) if name in asked else 0) > amount
        or (name not in asked and used.get(name, 0) >= amount)
        for name, amount in device.capacity.items()
    )


def has_ignored(pools: Iterable[DevicePool], devices: Devices, ask: DeviceAsk) -> bool:
    """Whether a request wants a device of a node that the version gives to no claim."""
    wanted = (*ask.class_selectors, *ask.selectors)
    every = (device for pool in pools if pool.is_used for device in pool.devices)
    return any(is_ignored(device, devices) and not refusal_of(wanted, device) for device in every)


def refusal_of(texts: Iterable[str], device: PoolDevice) -> Refusal | None:
    """The first part of a selector that does not hold for a device."""
    for text in texts:
        try:
            selector = compile_selector(text)
            if not _holds(selector, device) and (refusal := selector.refusal(device.value)):
                return refusal
        except CelCompileError:
            continue
    return None


def failing_selectors(pools: Sequence[DevicePool], claims: Iterable[NamedAsk]) -> Iterator[str]:
    """A phrase for each request with an expression that does not compile, or fails for a device of a node."""
    for claim in claims:
        for ask in claim.ask.asks:
            failures = (_failure_of(ask, device) for pool in pools for device in pool.devices)
            if failure := next(filter(None, failures), ""):
                yield f"request {ask.name}: {failure}"


def _failure_of(ask: DeviceAsk, device: PoolDevice) -> str:
    """The part of a selector that fails for a device which the ones before it accept, and why; empty for none."""
    failure = _failing_one(ask.class_selectors, device)
    if failure:
        return f"class {ask.class_name}: {failure}"
    return "" if refusal_of(ask.class_selectors, device) else _failing_one(ask.selectors, device)


def _failing_one(texts: Iterable[str], device: PoolDevice) -> str:
    for text in texts:
        try:
            selector = compile_selector(text)
        except CelCompileError as error:
            return f"{_cut(text)} does not compile: {str(error).splitlines()[0]}"
        try:
            if not selector.matches(device.value):
                return ""
        except CelRuntimeError as error:
            refusal = selector.refusal(device.value)
            return f"{_cut(text)} fails: {error}" if refusal is None else _failing(refusal)
    return ""


def _failing(refusal: Refusal) -> str:
    return f"{_cut(refusal.conjunct.text, refusal.wrong_word)} fails: {refusal.error}"


def _holds(selector: CompiledSelector, device: PoolDevice) -> bool:
    """Whether a device matches: that is known for a part of what a refusal costs."""
    try:
        return selector.matches(device.value)
    except CelRuntimeError:
        return False


def _in_words(refusal: Refusal) -> _Reason:
    comparison = refusal.conjunct.comparison
    if comparison is None:
        return _Reason(f"{_cut(refusal.conjunct.text)} does not hold")
    value = _ABSENT if refusal.value is None else str(refusal.value)
    return _Reason(_bare(comparison.name) or "driver", f"{comparison.operator} {comparison.literal}", value)


def _bare(name: str) -> str:
    return name.rpartition("/")[2]


def _cut(text: str, word: str = "") -> str:
    """A part of a long text, with a word of it."""
    end = text.find(word) + len(word)
    if len(text) <= _LONGEST or end <= _LONGEST:
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    end += _BEHIND
    return f"...{text[end - _LONGEST : end]}{'...' if end < len(text) else ''}"


def _counted(reasons: Sequence[_Reason]) -> Iterator[DeviceObstacle]:
    """The reasons with how many devices each concerns, the most frequent first."""
    alike: defaultdict[tuple[str, str, bool], list[_Reason]] = defaultdict(list)
    for reason in reasons:
        alike[reason.what, reason.wanted, reason.passes].append(reason)
    for (what, wanted, passes), some in sorted(alike.items(), key=lambda kind: -len(kind[1])):
        short = [one.short for one in some if one.short is not None]
        values = tuple(dict.fromkeys(one.value for one in some if one.value))
        words = counter_words(short, " by other devices") if short else what
        yield DeviceObstacle(len(some), words, wanted, values, passes)


class _Conflict(NamedTuple):
    """Why devices cannot meet a constraint, and whether they could if others had none of them."""

    why: str
    is_held: bool


def reasons_together(pools: Sequence[DevicePool], devices: Devices, claims: Iterable[NamedAsk]) -> Iterator[str]:
    """Why requests that could be served one by one cannot be served at once."""
    claims = list(claims)
    constraints = [one for claim in claims for one in claim.ask.constraints]
    certain = [conflict.why for conflict in _conflicts(pools, devices, claims)]
    yield from certain or [f"{_constraint_name(one)}: no choice of free devices meets it" for one in constraints]
    if not constraints:
        yield "its requests together want more devices than are free"


def _conflicts(pools: Sequence[DevicePool], devices: Devices, claims: Iterable[NamedAsk]) -> Iterator[_Conflict]:
    """The constraints that no choice of devices can meet, whatever else is wanted."""
    for claim in claims:
        for one in claim.ask.constraints:
            if why := _lacking(pools, claim.ask, one):
                yield _Conflict(f"{_constraint_name(one)}: {why}", is_held=False)
            elif (short := _too_few(pools, devices, claim.ask, one)) is not None:
                yield short


def _constraint_name(constraint: ConstraintAsk) -> str:
    return f"constraint {'distinctAttribute' if constraint.is_distinct else 'matchAttribute'} {constraint.attribute}"


def _too_few(
    pools: Sequence[DevicePool], devices: Devices, claim: ClaimAsk, constraint: ConstraintAsk
) -> _Conflict | None:
    """That too few devices have one value of an attribute; None where that is not certain."""
    asks = [ask for alternatives in claim.requests for ask in alternatives if constraint.concerns(ask.name)]
    has_choice = any(len(one) > 1 and any(constraint.concerns(ask.name) for ask in one) for one in claim.requests)
    wanted = sum(ask.count for ask in asks)
    if constraint.is_distinct or has_choice or any(ask.mode == ALL for ask in asks):
        return None
    free: defaultdict[str, set[DeviceId]] = defaultdict(set)
    every: defaultdict[str, set[DeviceId]] = defaultdict(set)
    for pool, device in ((one, device) for one in pools if one.is_used for device in one.devices):
        value = repr(device.attribute(constraint.attribute))
        if device.attribute(constraint.attribute) is None:
            continue
        for ask in asks:
            if not refusal_of(ask.class_selectors, device):
                reason = _reason(pool, device, devices, ask)
                if reason is None:
                    free[value].add(device.id)
                if reason is None or reason.used:
                    every[value].add(device.id)
    for groups, kind in ((every, "device"), (free, "free device")):
        most = max(map(len, groups.values()), default=0)
        if most < wanted:
            some = f"at most {count(most, kind)} {plural(most, 'shares', 'share')} a {_bare(constraint.attribute)}"
            why = f"{_constraint_name(constraint)}: {some}, {wanted} are wanted"
            return _Conflict(why, is_held=groups is free)
    return None


def _lacking(pools: Sequence[DevicePool], claim: ClaimAsk, constraint: ConstraintAsk) -> str:
    """That no device of some request has the attribute of a constraint; empty where each has such a device."""
    with_it = [
        device
        for pool in pools
        if pool.is_used
        for device in pool.devices
        if device.attribute(constraint.attribute) is not None
    ]
    if not with_it:
        return "no device has this attribute"
    for alternatives in claim.requests:
        concerned = [ask for ask in alternatives if constraint.concerns(ask.name)]
        if len(concerned) == len(alternatives) and not any(
            not refusal_of((*ask.class_selectors, *ask.selectors), device) for ask in concerned for device in with_it
        ):
            names = " or ".join(ask.name for ask in concerned)
            return f"no device for request {names} has this attribute"
    return ""


def elsewhere(claims: Iterable[ResourceClaim]) -> Iterator[str]:
    """Where claims are allocated that are not available on a node."""
    for claim in claims:
        if claim.status.allocation is not None and claim.status.allocation.node_selector is not None:
            terms = claim.status.allocation.node_selector.node_selector_terms or ()
            names = [name for term in terms for field in term.match_fields or () for name in field.values or ()]
            where = f"on {' or '.join(names)}" if names else "on other nodes"
            yield f"claim {claim.name} is allocated {where}"
