"""Says why the claims of a pod cannot be allocated on a node: what is in the way of each request, by how many devices.

The phrases name no pod and no node, so that nodes with the same devices in use have the same ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kubesched.api import ResourceClaim
from kubesched.documents import count, plural
from kubesched.plugins.dynamic_resources.asks import ALL, ClaimAsk, ConstraintAsk, NamedAsk
from kubesched.plugins.dynamic_resources.request_devices import devices_for, looked_at, reason_against
from kubesched.plugins.dynamic_resources.selector_refusals import bare_name, refusal_of
from kubesched.state import DeviceId, DevicePool, Devices


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


def used_devices(pools: Sequence[DevicePool], devices: Devices, claims: Iterable[NamedAsk]) -> set[DeviceId]:
    """The devices whose users are in the way of the requests that the devices of a node cannot serve.

    If each could be served by itself, they are in the way of all, unless a constraint would not hold without them
    either. No device is in the way of a request that wants more devices than there are of the class.
    """
    claims = list(claims)
    found = [
        [looked_at(pools, devices, claim.claim, ask) for ask in alternatives]
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
                reason = reason_against(pool, device, devices, ask)
                if reason is None:
                    free[value].add(device.id)
                if reason is None or reason.used:
                    every[value].add(device.id)
    for groups, kind in ((every, "device"), (free, "free device")):
        most = max(map(len, groups.values()), default=0)
        if most < wanted:
            some = f"at most {count(most, kind)} {plural(most, 'shares', 'share')} a {bare_name(constraint.attribute)}"
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
