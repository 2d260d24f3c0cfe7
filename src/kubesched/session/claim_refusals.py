"""Claims that an API server refuses when kube-scheduler writes them, so that their pods stay pending forever.

Rule: kube-scheduler v1.36.3, as measured. It writes a claim twice that a pod lists twice. It adds the time to an
allocation that has none, which may not change. It does not count the users of a claim.
"""

from typing import Final

from kubesched.api import Pod, ResourceClaim
from kubesched.plugins import ClaimPlan

_MOST_USERS: Final = 256


def is_user_twice(claim: ResourceClaim) -> bool:
    """Whether the last user of a claim is among them twice."""
    *others, last = [user.uid for user in claim.status.reserved_for or ()] or [""]
    return last in others


def refusal_of(claim: ResourceClaim, current: object) -> tuple[str, str] | None:
    """The reason and the text of a refusal; None for none.

    Args:
        claim: what is written.
        current: what is there.
    """
    users, allocation = claim.status.reserved_for or (), claim.status.allocation
    if allocation is None:
        return None
    if is_user_twice(claim):
        if isinstance(current, ResourceClaim) and current.status.allocation != allocation:
            return "Conflict", "the object has been modified"
        why = f'status.reservedFor[{len(users) - 1}]: Duplicate value: "{users[-1].uid}"'
    elif len(users) > _MOST_USERS:
        why = f"status.reservedFor: Too many: {len(users)}: must have at most {_MOST_USERS} items"
    elif allocation.allocation_timestamp is None:
        why = "status.allocation: Invalid value: ...: field is immutable"
    else:
        return None
    return "Invalid", f'ResourceClaim.resource.k8s.io "{claim.name}" is invalid: {why}'


def why_never_written(plan: ClaimPlan, pod: Pod) -> str:
    """Why kube-scheduler fails to write the claims of a plan in every attempt; empty where it can write them."""
    for claim in plan.claims:
        refusal = refusal_of(claim, None)
        if refusal is not None and (claim.key not in plan.allocating or is_user_twice(claim)):  # else it adds the time
            return refusal[1]
    return plan.not_mapped(pod)
