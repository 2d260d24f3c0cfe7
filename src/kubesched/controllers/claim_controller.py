"""Resource claims of pods that go, and of the pods that come in their place.

Rule: kube-controller-manager v1.36, resourceclaim controller and garbage collector: a claim that was made for a pod
goes with it; of any other claim that the pod used, the reservation is taken back, and with the last one the allocation.
"""

from collections.abc import Iterator
from typing import Any

from kubesched.api import (
    EXTENDED_RESOURCE_CLAIM,
    DeviceStatus,
    EventType,
    Pod,
    PodCondition,
    ResourceClaim,
    ResourceClaimStatus,
    WatchEvent,
    edited,
    rewritten,
)
from kubesched.controllers.generated_names import generated_name, stable_uid
from kubesched.controllers.kept_replicas import Find


def left_claims(pod: Pod, find: Find, *, comes_back: bool = False) -> Iterator[WatchEvent]:
    """What happens to the resource claims of a pod that has gone; nothing for those that stay as they are.

    Args:
        find: gives an object of the cluster by its kind and key.
        comes_back: whether the same pod comes again, for which the claims of templates are re-created at once.
    """
    for name in _claim_names(pod):
        claim = find("ResourceClaim", f"{pod.namespace}/{name}")
        if isinstance(claim, ResourceClaim):
            if claim.is_made_for(pod) and comes_back and EXTENDED_RESOURCE_CLAIM not in claim.annotations:
                yield WatchEvent(EventType.MODIFIED, "ResourceClaim", edited(claim, status=ResourceClaimStatus()))
            elif claim.is_made_for(pod):
                yield WatchEvent(EventType.DELETED, "ResourceClaim", claim)
            elif (released := _released(claim, pod)) is not claim:
                yield WatchEvent(EventType.MODIFIED, "ResourceClaim", released)


def attached(claim: ResourceClaim) -> ResourceClaim:
    """The claim as drivers leave it that attach devices at once: the binding conditions of its devices are True."""
    allocation = claim.status.allocation
    results = (allocation.devices.results or ()) if allocation is not None else ()
    known = {(one.driver, one.pool, one.device, one.share_id) for one in claim.status.devices or ()}
    new = [
        DeviceStatus(
            one.driver,
            one.pool,
            one.device,
            one.share_id,
            tuple(PodCondition(name, "True", "Simulated") for name in one.binding_conditions),
        )
        for one in results
        if one.binding_conditions and (one.driver, one.pool, one.device, one.share_id) not in known
    ]
    if not new:
        return claim
    devices = (*(claim.status.devices or ()), *new)
    return edited(claim, status=ResourceClaimStatus(allocation, claim.status.reserved_for, devices))


def _claim_names(pod: Pod) -> Iterator[str]:
    """The names of the claims that a pod uses, as far as they have been made."""
    if not pod.spec.resource_claims and pod.status.extended_resource_claim_status is None:
        return
    made = {entry.name: entry.resource_claim_name for entry in pod.status.resource_claim_statuses or ()}
    names = [entry.resource_claim_name or made.get(entry.name, "") for entry in pod.spec.resource_claims or ()]
    if pod.status.extended_resource_claim_status is not None:
        names.append(pod.status.extended_resource_claim_status.resource_claim_name)
    yield from dict.fromkeys(filter(None, names))


def _released(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    """The claim without the reservation of a pod; the same claim if it has none."""
    users = claim.status.reserved_for or ()
    others = tuple(user for user in users if user.uid != pod.uid)
    if len(others) == len(users):
        return claim
    status = claim.status
    if not others:
        return edited(claim, status=ResourceClaimStatus())
    return edited(claim, status=ResourceClaimStatus(status.allocation, others, status.devices))


def fresh_device_claims(old: Pod, new: Pod, find: Find) -> Iterator[tuple[ResourceClaim, ResourceClaim]]:
    """The claims that were made for a pod, each with the one that is made for a pod in its place, or beside it.

    Those are not allocated yet. The status of the new pod has their names; see `renewed_statuses`.
    """
    made = {entry.name: entry.resource_claim_name for entry in new.status.resource_claim_statuses or ()}
    for entry in old.status.resource_claim_statuses or ():
        claim = find("ResourceClaim", f"{old.namespace}/{entry.resource_claim_name}")
        if isinstance(claim, ResourceClaim) and claim.is_made_for(old):
            yield claim, _fresh_claim(claim, made[entry.name], new)


def _fresh_claim(claim: ResourceClaim, name: str, owner: Pod) -> ResourceClaim:
    def renew(document: dict[str, Any]) -> None:
        metadata = document["metadata"]
        kept = {key: metadata[key] for key in ("namespace", "labels", "annotations") if metadata.get(key)}
        reference = {"apiVersion": "v1", "kind": "Pod", "name": owner.name, "uid": owner.uid, "controller": True}
        uid = stable_uid("ResourceClaim", claim.namespace, name)
        document["metadata"] = {**kept, "name": name, "uid": uid, "ownerReferences": [reference]}
        document.pop("status", None)

    return rewritten(claim, renew)


def renewed_statuses(pod: Pod, name: str) -> list[dict[str, str]]:
    """status.resourceClaimStatuses of a pod like this one: the names of its claims follow the name of the pod."""
    renewed = []
    for entry in pod.status.resource_claim_statuses or ():
        claim = entry.resource_claim_name
        if claim and name != pod.name:
            claim = generated_name(f"{name}-{entry.name}-", 0)
        renewed.append({"name": entry.name, "resourceClaimName": claim} if claim else {"name": entry.name})
    return renewed
