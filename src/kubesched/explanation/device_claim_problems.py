"""Finds what keeps the resource claims of a pod from being allocated at all: they are not there, or their class is not.

The words say who creates what is missing: the resourceclaim controller makes claims from templates, a person
makes the other ones.
"""

import enum
from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.admission import admin_access_faults
from kubesched.api import Namespace, Pod, PodResourceClaim, ResourceClaim, ResourceClaimTemplate
from kubesched.naming import near_letters
from kubesched.plugins import alternatives_of, claim_name
from kubesched.state import ObjectStore

CONTROLLER: Final = "the resourceclaim controller of kube-controller-manager"


class Lack(enum.Enum):
    """What a claim of a pod lacks."""

    CLAIM = "the claim, which a person creates"
    TEMPLATE = "the template"
    NAMESPACE = "a label of the namespace, without which an API server refuses the claim"
    CONTROLLER = "the controller, which makes the claim from a template"
    OWNER = "the pod as its owner"
    STAYING = "not to be deleted"
    CLASS = "a device class"


class DeviceClaimProblem(msgspec.Struct, frozen=True):
    """One claim that is not in order.

    Attributes:
        entry: of spec.resourceClaims.
        words: what is wrong.
        name: of the object that is lacking: a claim, a template or a class.
        near: the name that was probably meant; empty for none.
        claim: None where there is none.
        request: the request whose class is lacking, as positions of the request and the alternative.
    """

    entry: PodResourceClaim
    lack: Lack
    words: str
    name: str
    near: str = ""
    claim: ResourceClaim | None = None
    request: tuple[int, int] = (0, 0)


def device_claim_problems(pod: Pod, objects: ObjectStore) -> Iterator[DeviceClaimProblem]:
    """Every claim of the pod that is not in order, in the order of its entries."""
    for entry in pod.spec.resource_claims or ():
        name, problem = claim_name(pod, entry)
        claim = objects.get("ResourceClaim", f"{pod.namespace}/{name}") if name else None
        if isinstance(claim, ResourceClaim):
            yield from _of_claim(pod, entry, claim, objects)
        elif entry.resource_claim_name:
            yield _without_claim(pod, entry, objects)
        elif entry.resource_claim_template_name and (name or problem):
            yield _not_made(pod, entry, objects)


def _without_claim(pod: Pod, entry: PodResourceClaim, objects: ObjectStore) -> DeviceClaimProblem:
    name, near = entry.resource_claim_name, _near(pod, "ResourceClaim", entry.resource_claim_name, objects)
    words = f"ResourceClaim {pod.namespace}/{name} does not exist"
    if near:
        words = f"{words}; claim {near} does"
    elif objects.get("ResourceClaimTemplate", f"{pod.namespace}/{name}") is not None:
        words = f"{words}; a ResourceClaimTemplate of that name does"
    else:
        words = f"{words}, and no controller creates it"
    return DeviceClaimProblem(entry, Lack.CLAIM, words, name, near)


def _not_made(pod: Pod, entry: PodResourceClaim, objects: ObjectStore) -> DeviceClaimProblem:
    name = entry.resource_claim_template_name
    template = objects.get("ResourceClaimTemplate", f"{pod.namespace}/{name}")
    namespace = objects.get("Namespace", pod.namespace)
    if isinstance(template, ResourceClaimTemplate):
        for fault in admin_access_faults(template.spec.spec, namespace if isinstance(namespace, Namespace) else None):
            words = f"the API server refuses the claim of entry {entry.name} from template {name}: {fault}"
            return DeviceClaimProblem(entry, Lack.NAMESPACE, words, name)
        words = f"{CONTROLLER} creates the claim of entry {entry.name} from template {name}"
        return DeviceClaimProblem(entry, Lack.CONTROLLER, words, name)
    near = _near(pod, "ResourceClaimTemplate", name, objects)
    words = f"{CONTROLLER} creates the claim of entry {entry.name} once there is a template {pod.namespace}/{name}"
    words = f"{words}; template {near} exists" if near else words
    return DeviceClaimProblem(entry, Lack.TEMPLATE, words, name, near)


def _of_claim(
    pod: Pod, entry: PodResourceClaim, claim: ResourceClaim, objects: ObjectStore
) -> Iterator[DeviceClaimProblem]:
    if not entry.resource_claim_name and not claim.is_made_for(pod):
        words = f"ResourceClaim {claim.key} was made for another pod"
        yield DeviceClaimProblem(entry, Lack.OWNER, words, claim.name, claim=claim)
    elif claim.is_terminating:
        words = f"ResourceClaim {claim.key} is being deleted"
        yield DeviceClaimProblem(entry, Lack.STAYING, words, claim.name, claim=claim)
    elif claim.status.allocation is None:
        for i, request in enumerate(claim.spec.devices.requests or ()):
            for j, (full_name, one) in enumerate(alternatives_of(request)):
                name = one.device_class_name
                if objects.get("DeviceClass", name) is None:
                    near = near_letters(name, [known.name for known in objects.list("DeviceClass")])
                    words = (
                        f"DeviceClass {name} of request {full_name} does not exist{f' ({near} does)' if near else ''}"
                    )
                    yield DeviceClaimProblem(entry, Lack.CLASS, words, name, near, claim, (i, j))


def _near(pod: Pod, kind: str, name: str, objects: ObjectStore) -> str:
    return near_letters(name, [one.name for one in objects.list(kind) if one.namespace == pod.namespace])
