"""Devices that have to be attached before a pod may be bound: what their drivers report of that.

Rule: kube-scheduler v1.36 DRADeviceBindingConditions: all binding conditions of a device have to be True; one failure
condition that is True ends the attempt, and so does bindingTimeout after the allocation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from kubesched.api import DeviceResult, Pod, PodCondition, ResourceClaim
from kubesched.framework import Handle, plugin_event

_TIMEOUT: Final = "device binding timeout: "
_LABELS: Final = ("driver", "profile", "status")
_ALLOCATIONS: Final = (
    "Number of allocations using devices with BindingConditions, counted per driver per scheduling attempt"
)
_WAITS: Final = "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind."
_BUCKETS: Final = tuple(0.1 * 2**i for i in range(14))


async def attach(handle: Handle, pod: Pod, keys: Sequence[str], node_name: str, seconds: float) -> str:
    """Wait until drivers have attached the devices of some claims.

    Rule: kube-scheduler v1.36: bindingTimeout counts from the beginning of the wait, and from the allocation of a claim
        that was allocated earlier. It looks every five seconds; here, a wait ends as soon as it can.

    Returns: why they have not, in upstream's words; empty where they have.
    """
    objects = handle.cluster_state.objects
    known = (objects.get("ResourceClaim", key) for key in keys)
    claims = [one for one in known if isinstance(one, ResourceClaim) and has_conditions(one)]
    if not claims:
        return ""
    waiting = [claim.key for claim in claims]

    def outcome() -> tuple[str, str] | None:
        return _outcome({key: objects.get("ResourceClaim", key) for key in waiting})

    began, now = handle.clock.monotonic(), handle.clock.now()
    left, first = min((_allocated_at(claim, now) + seconds - now, claim.name) for claim in claims)
    is_older = left < seconds - 1  # the time of an allocation has whole seconds
    note = f"waiting for binding conditions for device on node {node_name}"
    handle.record_event(plugin_event("Scheduling", handle.profile, pod, "Normal", "BindingConditionsPending", note))
    reads = [("ResourceClaim", key) for key in waiting]
    await handle.wait(outcome, max(left, 0) if is_older else seconds, reads)
    why = f"claim={first}" if is_older else "context deadline exceeded"
    status, error = outcome() or ("timeout", _TIMEOUT + why)
    allocations = handle.metrics.counter("dra_bindingconditions_allocations", _ALLOCATIONS, _LABELS)
    waits = handle.metrics.histogram("dra_bindingconditions_wait_duration_seconds", _WAITS, _LABELS, _BUCKETS)
    for driver in sorted({one.driver for claim in claims for one in _results(claim) if one.binding_conditions}):
        allocations.add(driver, handle.profile, status)
        waits.observe(handle.clock.monotonic() - began, driver, handle.profile, status)
    return error


def _outcome(claims: Mapping[str, object]) -> tuple[str, str] | None:
    """What the drivers report by now, as the status of a metric and a text; None for nothing that ends the wait."""
    there = []
    for key, claim in claims.items():
        if not isinstance(claim, ResourceClaim):
            return "error", f'could not find ResourceClaim "{key}"'
        if claim.status.allocation is None:  # upstream waits on, until the timeout
            return "error", f"claim {key} got deallocated elsewhere in the meantime"
        there.append(claim)
    if failed := next(filter(None, map(failure_of, there)), ""):
        return "failure", failed
    return ("success", "") if all(map(is_ready, there)) else None


def has_conditions(claim: ResourceClaim) -> bool:
    """Whether a device of the claim has to be attached first."""
    return any(result.binding_conditions for result in _results(claim))


def is_ready(claim: ResourceClaim) -> bool:
    """Whether all its devices are attached."""
    return all(
        name in _true(_reported(claim, result))
        for result in _results(claim)
        for name in result.binding_conditions or ()
    )


def failure_of(claim: ResourceClaim) -> str:
    """Why a device cannot be attached, in upstream's words; empty for no reason."""
    for result in _results(claim):
        failing = result.binding_failure_conditions or ()
        for condition in _reported(claim, result):
            if condition.type in failing and condition.status == "True":
                said = f'reason={condition.reason}, message="{condition.message}"'
                return f"device binding failed: claim={claim.name}, {said}"
    return ""


def has_failed(claim: ResourceClaim, now: float, timeout: float) -> bool:
    """Whether the devices of the claim will not be attached: one has failed, or the time is over.

    Args:
        now: in seconds since 1970.
    """
    if not has_conditions(claim):
        return False
    if failure_of(claim):
        return True
    return not is_ready(claim) and now - _allocated_at(claim, now) > timeout


def _allocated_at(claim: ResourceClaim, now: float) -> float:
    """When a claim was allocated, in seconds since 1970; now where that is not known."""
    allocation = claim.status.allocation
    since = allocation.allocation_timestamp if allocation is not None else None
    return now if since is None else datetime.fromisoformat(since).timestamp()


def _results(claim: ResourceClaim) -> tuple[DeviceResult, ...]:
    allocation = claim.status.allocation
    return (allocation.devices.results or ()) if allocation is not None else ()


def _reported(claim: ResourceClaim, result: DeviceResult) -> Iterator[PodCondition]:
    """What the driver reports of a device."""
    wanted = (result.driver, result.pool, result.device, result.share_id)
    for known in claim.status.devices or ():
        if (known.driver, known.pool, known.device, known.share_id) == wanted:
            yield from known.conditions or ()


def _true(conditions: Iterable[PodCondition]) -> set[str]:
    return {condition.type for condition in conditions if condition.status == "True"}
