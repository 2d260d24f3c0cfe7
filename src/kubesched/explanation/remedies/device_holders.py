"""Remedies for devices that others have, or that are out of order: free them, repair them, move a pod."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import chain, islice
from typing import Final

import msgspec

from kubesched.api import Device, Pod, ResourceClaim, ResourceClaimStatus, ResourceSlice, Taint, edited
from kubesched.documents import count, joined, plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.device_survey import DeviceSurvey
from kubesched.explanation.remedies.case import Case, Remedy, harm, node_words, off_node
from kubesched.explanation.remedies.claim_specs import CLAIM, SLICE
from kubesched.explanation.remedies.moved_pod import comes_back, stays
from kubesched.explanation.remedies.taints import marks_fault, marks_work
from kubesched.plugins import DeviceAsk, refusal_of, taint_words
from kubesched.state import PodInfo, PoolDevice

_MAX_NODES: Final = 20
_MAX_PODS: Final = 10
_MAX_CLAIMS: Final = 5
_MAX_NAMED: Final = 3


def device_holders(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Free claims that no pod uses; repair devices and drivers; move a pod that has some."""
    survey = DeviceSurvey(case.evaluation, where)
    asks = list(survey.short_asks())
    yield from _elsewhere(case, survey)
    if asks:
        yield from _unused(case, survey)
        yield from _repaired(case, survey, asks)
        yield from _published(case, survey, asks)
        yield from _moved(case, survey, asks)


# --- claims ---


def _elsewhere(case: Case, survey: DeviceSurvey) -> Iterator[Remedy]:
    """A claim of the pod that is allocated where the pod does not fit, and that no other pod uses.

    Rule: kube-scheduler v1.36 DynamicResources PostFilter frees such a claim, and tries the pod again.
    """
    for claim in survey.demand.claims if survey.demand is not None else ():
        users = claim.status.reserved_for or ()
        if claim.status.allocation is not None and all(user.uid == case.pod.uid for user in users):
            text = f"let kube-scheduler free claim {claim.name}, which is allocated elsewhere and no other pod uses"
            yield Remedy(text, "resourceClaim", True, _freed([claim]))


def _unused(case: Case, survey: DeviceSurvey) -> Iterator[Remedy]:
    """Claims that have devices of the drivers that the pod needs, and that no pod uses: one of them, or some."""
    drivers = {device.driver for kind in survey.kinds for pool in kind.pools for device in pool.devices}
    mine = {claim.key for claim in survey.demand.claims} if survey.demand is not None else set()
    every = [one for one in case.objects(CLAIM) if isinstance(one, ResourceClaim) and not one.status.reserved_for]
    every = [one for one in every if one.key not in mine]
    claims = list(islice((one for one in every if not drivers.isdisjoint(_drivers_of(one))), _MAX_CLAIMS))
    for some in [*([one] for one in claims), *([claims] if len(claims) > 1 else [])]:
        which = joined([one.key for one in some], _MAX_NAMED)
        text = f"free the devices of {plural(len(some), 'claim')} {which}, which no pod uses"
        yield Remedy(text, "unusedClaim", True, _freed(some), ladder="unusedClaim")


def _drivers_of(claim: ResourceClaim) -> Iterator[str]:
    """The drivers of the devices that a claim has for itself."""
    allocation = claim.status.allocation
    results = (allocation.devices.results or ()) if allocation is not None else ()
    return (result.driver for result in results if not result.admin_access)


def _freed(claims: Iterable[ResourceClaim]) -> Change:
    return Change(edits=tuple(Edit(CLAIM, claim.key, _without_devices) for claim in claims))


def _without_devices(claim: ResourceClaim) -> ResourceClaim:
    return edited(claim, status=ResourceClaimStatus())


# --- devices that are out of order ---


def _repaired(case: Case, survey: DeviceSurvey, asks: Sequence[DeviceAsk]) -> Iterator[Remedy]:
    """Repair devices that a taint fences off because they are out of order."""
    found: dict[tuple[Taint, ...], set[int]] = {}
    for ask in asks:
        for kind, _, taints in survey.tainted_devices(ask):
            if marks_fault(taints):
                found.setdefault(taints, set()).update(kind.positions[:_MAX_NODES])
    for taints, positions in found.items():
        there = sorted(positions)[:_MAX_NODES]
        pools = {(one.driver, one.name) for position in there for one in survey.pools_of(position)}
        change = Change(edits=tuple(_repairs(case, pools, taints)))
        what = "end the maintenance of" if marks_work(taints) else "repair"
        text = f"{what} the devices of {node_words(map(case.nodes.name, there))}, which taint "
        text = f"{text}{joined(map(taint_words, taints))} fences off"
        yield Remedy(text, "deviceTaint", True, change)


def _repairs(case: Case, pools: Set[tuple[str, str]], taints: tuple[Taint, ...]) -> Iterator[Edit]:
    for one in case.objects(SLICE):
        if isinstance(one, ResourceSlice) and (one.spec.driver, one.spec.pool.name) in pools:
            if any(not set(taints).isdisjoint(device.taints or ()) for device in one.spec.devices or ()):
                yield Edit(SLICE, one.key, partial(_untainted, gone=taints))


def _untainted(known: ResourceSlice, gone: tuple[Taint, ...]) -> ResourceSlice:
    def repaired(device: Device) -> Device:
        kept = tuple(taint for taint in device.taints or () if taint not in gone)
        return msgspec.structs.replace(device, taints=kept or None)

    devices = tuple(map(repaired, known.spec.devices or ()))
    return edited(known, spec=msgspec.structs.replace(known.spec, devices=devices))


def _published(case: Case, survey: DeviceSurvey, asks: Sequence[DeviceAsk]) -> Iterator[Remedy]:
    """Repair drivers that have not published all slices of pools: with the devices that are there already."""
    found: dict[str, dict[str, set[int]]] = {}  # by driver and pool: the nodes
    for position in (position for kind in survey.kinds for position in kind.positions[:_MAX_NODES]):
        for pool in survey.pools_of(position):
            if not pool.is_complete and any(_would_do(device, asks) for device in pool.devices):
                found.setdefault(pool.driver, {}).setdefault(pool.name, set()).add(position)
    for driver, pools in found.items():
        of_pool = {name: _newest(case, driver, name) for name in islice(pools, _MAX_NODES)}
        edits = (
            Edit(SLICE, one.key, partial(_of_pool_of, n_slices=len(slices)))
            for slices in of_pool.values()
            for one in slices
        )
        there = sorted(set().union(*(pools[name] for name in of_pool)))[:_MAX_NODES]
        lacks = ", ".join(
            f"{len(slices)} of {count(slices[0].spec.pool.resource_slice_count, 'slice')} of pool {name}"
            for name, slices in islice(of_pool.items(), _MAX_NAMED)
        )
        more = ", ..." if len(of_pool) > _MAX_NAMED else ""
        text = f"repair driver {driver} on {node_words(map(case.nodes.name, there))}, which publishes {lacks}{more}"
        yield Remedy(text, "devicePool", True, Change(edits=tuple(edits)))


def _newest(case: Case, driver: str, pool: str) -> list[ResourceSlice]:
    """The slices of the newest generation of a pool."""
    every = [one for one in case.objects(SLICE) if isinstance(one, ResourceSlice)]
    slices = [one for one in every if (one.spec.driver, one.spec.pool.name) == (driver, pool)]
    newest = max(one.spec.pool.generation for one in slices)
    return [one for one in slices if one.spec.pool.generation == newest]


def _of_pool_of(known: ResourceSlice, n_slices: int) -> ResourceSlice:
    pool = msgspec.structs.replace(known.spec.pool, resource_slice_count=n_slices)
    return edited(known, spec=msgspec.structs.replace(known.spec, pool=pool))


# --- pods ---


def _moved(case: Case, survey: DeviceSurvey, asks: Sequence[DeviceAsk]) -> Iterator[Remedy]:
    """Move a pod that has a device for one of the requests, from one of the nearest nodes: the one that loses least.

    A pod may go if a controller creates it again elsewhere, if its priority is not higher, and if no disruption budget
    prevents its eviction. Preemption makes no room for devices, so this is not what kube-scheduler does by itself.
    """
    positions = chain.from_iterable(kind.positions for kind in survey.kinds)
    every = (one for position in islice(positions, _MAX_NODES) for one in _holders(case, survey, position, asks))
    holders = list({info.pod.uid: (n, info) for n, info in every}.values())  # several nodes may reach one device
    holders.sort(key=lambda one: (harm(one[1].pod), one[0]))
    may_go = (info for _, info in holders if info.pod.priority <= case.pod.priority and comes_back(info.pod, case))
    moves = (off_node(case, info, "movePod", stays(info.pod), needs_places=True, ladder="devices") for info in may_go)
    yield from islice(chain.from_iterable(moves), _MAX_PODS)


def _holders(
    case: Case, survey: DeviceSurvey, position: int, asks: Sequence[DeviceAsk]
) -> Iterator[tuple[int, PodInfo]]:
    """The pods that alone have devices of a node which a request could have, with how many each has.

    Those of a pool that several nodes reach may run on another one of them.
    """
    keys = Counter(
        key
        for pool in survey.pools_of(position)
        for device in pool.devices
        if _would_do(device, asks)
        for key in survey.in_use.holders(device.id)
    )
    for key, n in keys.items():
        claim = case.object_of(CLAIM, key)
        users = (claim.status.reserved_for or ()) if isinstance(claim, ResourceClaim) else ()
        user = case.object_of("Pod", f"{claim.namespace}/{users[0].name}") if claim is not None and users else None
        place = case.nodes.position_of(user.node_name) if len(users) == 1 and isinstance(user, Pod) else None
        if place is not None:
            yield from ((n, info) for info in case.nodes.pods(place) if info.pod.uid == users[0].uid)


def _would_do(device: PoolDevice, asks: Iterable[DeviceAsk]) -> bool:
    """Whether the selectors of a request accept a device."""
    return any(not refusal_of((*ask.class_selectors, *ask.selectors), device) for ask in asks)
