"""Devices that have to be attached before a pod may be bound: what their drivers report of that.

Rule: kube-scheduler v1.36 DRADeviceBindingConditions: all binding conditions of a device have to be True; one failure
condition that is True ends the attempt, and so does bindingTimeout after the allocation.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from kubesched.api import DeviceResult, PodCondition, ResourceClaim


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
    allocation = claim.status.allocation
    since = allocation.allocation_timestamp if allocation is not None else None
    return since is not None and not is_ready(claim) and now - datetime.fromisoformat(since).timestamp() > timeout


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
