"""Completes new resource claims as an API server does, and creates those of a pod's templates.

Rule: kube-apiserver v1.36 defaults of resource.k8s.io/v1; kube-controller-manager v1.36, resourceclaim controller: a
claim named `<pod>-<entry>-<5 letters>` that the pod owns, whose name is in the status of the pod.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from kubesched.api import (
    POD_CLAIM_NAME,
    DeviceRequest,
    DeviceSubRequest,
    KubeObject,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    Toleration,
)
from kubesched.controllers import generated_name

Document = dict[str, Any]
Templates = Mapping[tuple[str, str], ResourceClaimTemplate]
"""Templates by namespace and name."""

EXACT_COUNT: Final = "ExactCount"


def with_claim_defaults(known: KubeObject) -> KubeObject:
    """A claim or a template as an API server stores it: the mode, the count, and the operators of tolerations.

    Any other object, and one that is complete, is given back as it is.
    """
    if isinstance(known, ResourceClaim):
        spec = _completed(known.spec)
        return known if spec is known.spec else replace(known, spec=spec)
    if isinstance(known, ResourceClaimTemplate):
        spec = _completed(known.spec.spec)
        return known if spec is known.spec.spec else replace(known, spec=replace(known.spec, spec=spec))
    return known


def _completed(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    requests = spec.devices.requests or ()
    completed = tuple(map(_completed_request, requests))
    if all(new is old for new, old in zip(completed, requests, strict=True)):
        return spec
    return replace(spec, devices=replace(spec.devices, requests=completed))


def _completed_request(request: DeviceRequest) -> DeviceRequest:
    exactly = request.exactly and _completed_ask(request.exactly)
    alternatives = request.first_available or ()
    completed = tuple(map(_completed_ask, alternatives))
    if exactly is request.exactly and all(new is old for new, old in zip(completed, alternatives, strict=True)):
        return request
    return replace(request, exactly=exactly, first_available=completed or request.first_available)


def _completed_ask(ask: DeviceSubRequest) -> DeviceSubRequest:
    mode = ask.allocation_mode or EXACT_COUNT
    count = ask.count or (1 if mode == EXACT_COUNT else 0)
    tolerations = ask.tolerations and tuple(map(_completed_toleration, ask.tolerations))
    if (mode, count, tolerations) == (ask.allocation_mode, ask.count, ask.tolerations):
        return ask
    return replace(ask, allocation_mode=mode, count=count, tolerations=tolerations)


def _completed_toleration(toleration: Toleration) -> Toleration:
    return toleration if toleration.operator else replace(toleration, operator="Equal")


def claims_of_templates(pod: Document, templates: Templates) -> Iterator[Document]:
    """The claims that are made for a new pod, which has its name and uid; their names are put into its status.

    An entry whose template does not exist gets no claim: the pod waits for it.
    """
    owner, statuses = pod["metadata"], []
    for entry in pod["spec"].get("resourceClaims") or ():
        template = templates.get((owner["namespace"], entry.get("resourceClaimTemplateName") or ""))
        if template is not None:
            claim = _claim_of(owner, entry["name"], template)
            statuses.append({"name": entry["name"], "resourceClaimName": claim["metadata"]["name"]})
            yield claim
    if statuses:
        pod["status"] = {**(pod.get("status") or {}), "resourceClaimStatuses": statuses}


def _claim_of(owner: Document, entry: str, template: ResourceClaimTemplate) -> Document:
    spec = template.document.get("spec") or {}
    written = spec.get("metadata") or {}
    reference = {"apiVersion": "v1", "kind": "Pod", "name": owner["name"], "uid": owner["uid"], "controller": True}
    metadata = {
        "name": generated_name(f"{owner['name']}-{entry}-", 0),
        "namespace": owner["namespace"],
        "labels": written.get("labels") or {},
        "annotations": {**(written.get("annotations") or {}), POD_CLAIM_NAME: entry},
        "ownerReferences": [reference],
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": spec.get("spec") or {},
    }
