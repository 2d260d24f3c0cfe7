"""Finds the resource claims of a pod.

Rule: kube-scheduler v1.36 DynamicResources: the entries of spec.resourceClaims in order; a claim of a template has the
name that the resourceclaim controller wrote into the pod's status. The texts are upstream's.
"""

from kubesched.api import Pod, PodResourceClaim, ResourceClaim
from kubesched.framework import Status
from kubesched.state import ObjectStore


def claims_of(pod: Pod, objects: ObjectStore) -> list[ResourceClaim] | Status:
    """The claims in the order of the entries, one that two entries name twice; or why the pod has to wait for one.

    An entry for which the controller wrote no name needs no claim.
    """
    claims = []
    for entry in pod.spec.resource_claims or ():
        name, problem = claim_name(pod, entry)
        if name:
            claim = objects.get("ResourceClaim", f"{pod.namespace}/{name}")
            problem = _problem(pod, entry, name, claim)
            if isinstance(claim, ResourceClaim):
                claims.append(claim)
        if problem:
            return Status.unresolvable(problem)
    return claims


def claim_name(pod: Pod, entry: PodResourceClaim) -> tuple[str, str]:
    """The name of an entry's claim, empty where there is none; and why it is not known, empty where it is."""
    if entry.resource_claim_name:
        return entry.resource_claim_name, ""
    if not entry.resource_claim_template_name:
        fields = "none of the supported fields are set"
        return "", f'pod "{pod.key}", spec.resourceClaim "{entry.name}": {fields}'
    for made in pod.status.resource_claim_statuses or ():
        if made.name == entry.name:
            return made.resource_claim_name, ""
    return "", f'pod "{pod.key}": ResourceClaim not created yet'


def _problem(pod: Pod, entry: PodResourceClaim, name: str, claim: object) -> str:
    """What is wrong with the claim of an entry; empty for nothing."""
    if not isinstance(claim, ResourceClaim):
        return f'could not find ResourceClaim "{pod.namespace}/{name}"'
    if not entry.resource_claim_name and not claim.is_made_for(pod):
        return f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)"
    if claim.is_terminating:
        return f'resourceclaim "{name}" is being deleted'
    return ""
