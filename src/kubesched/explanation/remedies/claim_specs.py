"""Other specs for the claims of a pod. Those that a template makes change with the template.

Rule: kube-apiserver v1.36: the specs of a ResourceClaim and of a ResourceClaimTemplate cannot be changed. They are
deleted and re-created, and so is a pod whose claim is made from a template.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

import msgspec

from kubesched.api import (
    CELSelector,
    DeviceClaim,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    edited,
)
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.device_patches import is_of_manifest
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, is_equal
from kubesched.plugins import DeviceAsk, claim_name

CLAIM: Final = "ResourceClaim"
TEMPLATE: Final = "ResourceClaimTemplate"
SLICE: Final = "ResourceSlice"

_WORD: Final = re.compile("[a-z]+")
_OF_GPUS: Final = {"mig", "vgpu"}

DevicesEdit = Callable[[DeviceClaim], DeviceClaim]
RequestEdit = Callable[[DeviceSubRequest], DeviceSubRequest]


class ClaimRequest(msgspec.Struct, frozen=True, eq=False):
    """One alternative of one request of a claim.

    Attributes:
        usable: how many devices some node has for it.
        has_class: whether some node has a device of its class, or has one in a pool that is not complete.
    """

    case: Case
    claim: ResourceClaim
    place: int
    alternative: int
    ask: DeviceAsk
    usable: int
    has_class: bool

    def remedy(
        self, what: str, edit: "partial[DeviceSubRequest]", effort: Effort, ladder: str = "", *, keeps: bool = False
    ) -> Remedy:
        """The remedy of another request."""
        text = f"{what} in request {self.ask.name}: {way_to_change(self.case, self.claim)}"
        change = with_request(self.case, self.claim, self.place, self.alternative, edit)
        ladder = f"{ladder} of {self.claim.key}/{self.ask.name}" if ladder else ""
        return Remedy(text, "deviceRequest", keeps, change, ladder=ladder, effort=effort)


def template_of(case: Case, claim: ResourceClaim) -> ResourceClaimTemplate | None:
    """The template from which a claim of the pod is made; None for none, and for one that is not at hand."""
    known = case.object_of(TEMPLATE, f"{claim.namespace}/{_template_name(case, claim)}")
    return known if isinstance(known, ResourceClaimTemplate) else None


def way_to_change(case: Case, claim: ResourceClaim) -> str:
    """What a person does to change what a claim asks for."""
    template = _template_name(case, claim)
    known = template_of(case, claim) if template else claim
    if known is not None and is_of_manifest(known, case.pod):
        return f"change {f'template {template}' if template else f'claim {claim.name}'}"
    if template:
        return f"change template {template} and recreate the pod"
    return f"create a new claim in place of {claim.name}"


def with_devices(case: Case, claim: ResourceClaim, edit: DevicesEdit) -> Change:
    """The change of what a claim asks for; of its template and of other claims from that, too.

    These are claims of the pod and of the equal pods that wait.
    """
    names, template, known = [claim.name], _template_name(case, claim), template_of(case, claim)
    if template:
        pods = (case.pod, *(one for one in case.waiting if is_equal(one, case.pod)))
        made = {name for pod in pods for name in _made_from(template, pod)}
        names = sorted(name for name in made if case.object_of(CLAIM, f"{claim.namespace}/{name}") is not None)
    edits = [Edit(CLAIM, f"{claim.namespace}/{name}", partial(_of_claim, edit=edit)) for name in names]
    if known is not None:
        edits.append(Edit(TEMPLATE, known.key, partial(_of_template, edit=edit)))
    return Change(edits=tuple(edits))


def _made_from(template: str, pod: Pod) -> Iterator[str]:
    """The names of the claims of a pod that a template makes; empty for those that are not made yet."""
    for entry in pod.spec.resource_claims or ():
        if entry.resource_claim_template_name == template:
            yield claim_name(pod, entry)[0]


def with_request(case: Case, claim: ResourceClaim, request: int, alternative: int, edit: RequestEdit) -> Change:
    """The change of one request of a claim.

    Args:
        request, alternative: which one, as positions.
    """
    return with_devices(case, claim, partial(_with_request, request=request, alternative=alternative, edit=edit))


def selecting(one: DeviceSubRequest, texts: Mapping[int, str]) -> DeviceSubRequest:
    """A request with other expressions, by their places; one that is empty goes."""
    old = [known.cel.expression if known.cel else "" for known in one.selectors or ()]
    new = [texts.get(i, text) for i, text in enumerate(old)]
    selectors = tuple(DeviceSelector(CELSelector(text)) for text in new if text)
    return msgspec.structs.replace(one, selectors=selectors or None)


def alike_classes(case: Case, name: str) -> Iterator[str]:
    """The device classes whose names begin with a word of another one's, as `gpu` and `whole-gpu.example.com` do.

    A network card does not replace a GPU.
    """
    words = _words(name)
    return (one.name for one in case.objects("DeviceClass") if one.name != name and words & _words(one.name))


def _words(name: str) -> set[str]:
    words = set(_WORD.findall(name.partition(".")[0].lower()))
    return words | {"gpu"} if words & _OF_GPUS else words


def of_class(one: DeviceSubRequest, name: str) -> DeviceSubRequest:
    """A request for devices of another class."""
    return msgspec.structs.replace(one, device_class_name=name)


def _template_name(case: Case, claim: ResourceClaim) -> str:
    """The name of the template from which a claim of the pod is made; empty for none."""
    entries = (one for one in case.pod.spec.resource_claims or () if claim_name(case.pod, one)[0] == claim.name)
    return next((one.resource_claim_template_name for one in entries), "")


def _of_claim(claim: ResourceClaim, edit: DevicesEdit) -> ResourceClaim:
    return edited(claim, spec=msgspec.structs.replace(claim.spec, devices=edit(claim.spec.devices)))


def _of_template(template: ResourceClaimTemplate, edit: DevicesEdit) -> ResourceClaimTemplate:
    spec = msgspec.structs.replace(template.spec.spec, devices=edit(template.spec.spec.devices))
    return edited(template, spec=msgspec.structs.replace(template.spec, spec=spec))


def _with_request(devices: DeviceClaim, request: int, alternative: int, edit: RequestEdit) -> DeviceClaim:
    """The claim with one other request; the same where it has none there, as a template that has changed since."""
    requests = list(devices.requests or ())
    if request < len(requests):
        requests[request] = _with_alternative(requests[request], alternative, edit)
    return msgspec.structs.replace(devices, requests=tuple(requests))


def _with_alternative(one: DeviceRequest, alternative: int, edit: RequestEdit) -> DeviceRequest:
    if one.exactly is not None:
        return msgspec.structs.replace(one, exactly=edit(one.exactly))
    some = list(one.first_available or ())
    if alternative < len(some):
        some[alternative] = edit(some[alternative])
    return msgspec.structs.replace(one, first_available=tuple(some))
