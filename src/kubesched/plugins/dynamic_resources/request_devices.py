"""What a node has for one request of a claim: how many devices, and what keeps the request from the others."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from kubesched.api import Device, ResourcePool, ResourceSliceSpec, parse_quantity
from kubesched.documents import count, plural
from kubesched.plugins.dynamic_resources.asks import ALL, DeviceAsk, NamedAsk
from kubesched.plugins.dynamic_resources.device_search import is_ignored
from kubesched.plugins.dynamic_resources.selector_refusals import bare_name, cut, failing, refusal_of
from kubesched.plugins.tolerations import taint_words, untolerated_taints
from kubesched.state import DeviceId, DevicePool, Devices, PoolDevice, ShortCounter, counter_words

if TYPE_CHECKING:
    from kubesched.cel import Refusal

_TAKEN: Final = "taken"
_TAINT: Final = "taint "
_ABSENT: Final = "absent"
_MOST_VALUES: Final = 3
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


class Against(NamedTuple):
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
    def is_enough_on_new_node(self) -> bool:
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


def devices_for(
    pools: Sequence[DevicePool], devices: Devices, claims: Iterable[NamedAsk]
) -> Iterator[tuple[RequestDevices, ...]]:
    """What a node has for each request, one after another: for each of its alternatives."""
    for claim in claims:
        for alternatives in claim.ask.requests:
            yield tuple(_for_ask(pools, devices, claim.claim, ask) for ask in alternatives)


def _for_ask(pools: Sequence[DevicePool], devices: Devices, claim: str, ask: DeviceAsk) -> RequestDevices:
    return looked_at(pools, devices, claim, ask)[0]


def looked_at(
    pools: Sequence[DevicePool], devices: Devices, claim: str, ask: DeviceAsk
) -> tuple[RequestDevices, list[Against]]:
    """What a node has for a request, and what keeps it from each of the others."""
    of_class = [
        (pool, one)
        for pool in pools
        if pool.is_used
        for one in pool.devices
        if not refusal_of(ask.class_selectors, one)
    ]
    reasons = [reason for pool, one in of_class if (reason := reason_against(pool, one, devices, ask)) is not None]
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


def reason_against(pool: DevicePool, device: PoolDevice, devices: Devices, ask: DeviceAsk) -> Against | None:
    """What keeps a request from a device of its class; None for nothing."""
    if refusal := refusal_of(ask.selectors, device):
        return Against(failing(refusal)) if refusal.error else _in_words(refusal)
    if not ask.is_admin and devices.in_use.is_taken(device.id):
        return Against(_TAKEN, passes=True, used=(device.id,))
    for taint in untolerated_taints(device.spec.taints or (), ask.tolerations):
        return Against(f"{_TAINT}{taint_words(taint)} is not tolerated", passes=True)
    if is_ignored(device, devices):
        return Against(f"is a part of a device, which {devices.release} gives to no claim")
    for name, amount in ask.capacity:
        has = (device.spec.capacity or {}).get(name)
        if has is None or parse_quantity(has.amount) < parse_quantity(amount):
            return Against(bare_name(name), f">= {amount}", str(has.amount) if has is not None else _ABSENT)
    if device.spec.allow_multiple_allocations and _is_used_up(device, devices, ask):
        return Against("too little of its capacity is left", passes=True, used=(device.id,))
    used = devices.used_counters(pool) if device.spec.consumes_counters else {}
    for short in device.short_counters(pool.counters, used):
        others = tuple(_consumers(pool, devices, short.of_set, short.name))
        return Against(short.amounts, passes=True, used=others, short=short)
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


def _in_words(refusal: "Refusal") -> Against:
    comparison = refusal.conjunct.comparison
    if comparison is None:
        return Against(f"{cut(refusal.conjunct.text)} does not hold")
    value = _ABSENT if refusal.value is None else str(refusal.value)
    return Against(bare_name(comparison.name) or "driver", f"{comparison.operator} {comparison.literal}", value)


def _counted(reasons: Sequence[Against]) -> Iterator[DeviceObstacle]:
    """The reasons with how many devices each concerns, the most frequent first."""
    alike: defaultdict[tuple[str, str, bool], list[Against]] = defaultdict(list)
    for reason in reasons:
        alike[reason.what, reason.wanted, reason.passes].append(reason)
    for (what, wanted, passes), some in sorted(alike.items(), key=lambda kind: -len(kind[1])):
        short = [one.short for one in some if one.short is not None]
        values = tuple(dict.fromkeys(one.value for one in some if one.value))
        words = counter_words(short, " by other devices") if short else what
        yield DeviceObstacle(len(some), words, wanted, values, passes)
