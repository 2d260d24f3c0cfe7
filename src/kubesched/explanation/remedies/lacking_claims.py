"""Remedies for resource claims that are not there, or whose device class is not: who creates what is missing."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final

import msgspec

from kubesched.api import (
    ADMIN_ACCESS,
    CELSelector,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    Namespace,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
    ResourceSlice,
    edited,
)
from kubesched.controllers import generated_name
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.device_claim_problems import CONTROLLER, DeviceClaimProblem, Lack, device_claim_problems
from kubesched.explanation.device_survey import PLUGIN
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.explanation.remedies.claim_specs import (
    CLAIM,
    TEMPLATE,
    alike_classes,
    of_class,
    way_to_change,
    with_request,
)
from kubesched.explanation.remedies.together import together

_CLASS: Final = "DeviceClass"
_MAX_CLASSES: Final = 3
_REQUEST: Final = "devices"


def has_lacking_claims(case: Case) -> bool:
    """Whether some resource claim of the pod is not in order, which keeps it from every node."""
    said = case.evaluation.by_plugin.get(PLUGIN)
    return said is not None and said.pre_filter is not None


def lacking_claims(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Put every claim that has a problem in order, together in one remedy."""
    problems = device_claim_problems(case.pod, case.evaluation.snapshot.objects)
    each = [list(_remedies(case, problem)) for problem in problems]
    if all(each):
        yield from together(each)


def _remedies(case: Case, problem: DeviceClaimProblem) -> Iterator[Remedy]:
    """What may put one claim in order, best first."""
    match problem.lack:
        case Lack.CLAIM:
            yield from _named_otherwise(case, problem)
            yield from _new(case, problem, f"create {CLAIM} {case.pod.namespace}/{problem.name}")
        case Lack.TEMPLATE:
            yield from _named_otherwise(case, problem)
            yield from _like_another(case, problem)
            yield from _new(case, problem, f"create {TEMPLATE} {case.pod.namespace}/{problem.name}")
        case Lack.CONTROLLER:
            template = case.object_of(TEMPLATE, f"{case.pod.namespace}/{problem.name}")
            text = f"let {CONTROLLER} create the claim of entry {problem.entry.name} from template {problem.name}"
            if isinstance(template, ResourceClaimTemplate):
                yield Remedy(text, "resourceClaim", True, _made(case, problem.entry, template.spec.spec))
        case Lack.NAMESPACE:
            template = case.object_of(TEMPLATE, f"{case.pod.namespace}/{problem.name}")
            text = f"label namespace {case.pod.namespace} {ADMIN_ACCESS}=true, so that the claim can be created"
            if isinstance(template, ResourceClaimTemplate):
                made = _made(case, problem.entry, template.spec.spec)
                yield Remedy(text, "label", True, _labelled(case) + made)
        case Lack.OWNER | Lack.STAYING if problem.claim is not None:
            yield _again(case, problem, problem.claim)
        case Lack.CLASS if problem.claim is not None:
            yield from _classes(case, problem, problem.claim)


# --- claims and templates ---


def _named_otherwise(case: Case, problem: DeviceClaimProblem) -> Iterator[Remedy]:
    """The name that was meant; a template that is named as a claim, or a claim that is named as a template."""
    entry, name, namespace = problem.entry, problem.name, case.pod.namespace
    for kind, other in ((CLAIM, problem.near), (TEMPLATE, problem.near), (CLAIM, name), (TEMPLATE, name)):
        known = case.object_of(kind, f"{namespace}/{other}") if other else None
        if isinstance(known, ResourceClaim):
            new = PodResourceClaim(entry.name, resource_claim_name=other)
            change = _entry_change(new)
        elif isinstance(known, ResourceClaimTemplate):
            new = PodResourceClaim(entry.name, resource_claim_template_name=other)
            change = _entry_change(new) + _made(case, new, known.spec.spec)
        else:
            continue
        is_kind = bool(entry.resource_claim_name) == bool(new.resource_claim_name)
        field = "resourceClaimName" if new.resource_claim_name else "resourceClaimTemplateName"
        text = f"correct the name of {kind} {name}, which does not exist, to {other}"
        text = text if is_kind else f"name {kind} {other} as {field} in entry {entry.name}"
        yield Remedy(text, "resourceClaim", True, change, effort=Effort.CORRECT)


def _like_another(case: Case, problem: DeviceClaimProblem) -> Iterator[Remedy]:
    """The template of that name of another namespace: a pod uses only those of its namespace."""
    for known in case.objects(TEMPLATE):
        if isinstance(known, ResourceClaimTemplate) and known.name == problem.name:
            text = f"create {TEMPLATE} {case.pod.namespace}/{problem.name} like that of namespace {known.namespace}"
            yield Remedy(text, "resourceClaim", True, _with_template(case, problem, known.spec.spec))
            return


def _new(case: Case, problem: DeviceClaimProblem, text: str) -> Iterator[Remedy]:
    """A claim or a template that asks for a device, of the first class of which a node has one."""
    make = _with_claim if problem.lack is Lack.CLAIM else _with_template
    for one in islice(_known_classes(case), _MAX_CLASSES):
        exactly = DeviceSubRequest(device_class_name=one.name, allocation_mode="ExactCount", count=1)
        spec = ResourceClaimSpec(DeviceClaim((DeviceRequest(_REQUEST, exactly),)))
        such = f"{text}, for example with 1 device of class {one.name}"
        yield Remedy(such, "resourceClaim", True, make(case, problem, spec), ladder=text)


def _again(case: Case, problem: DeviceClaimProblem, claim: ResourceClaim) -> Remedy:
    """A claim that is re-created: with the pod, or by a person."""
    entry, spec = problem.entry, msgspec.structs.replace(claim.spec)
    if entry.resource_claim_name:
        text = f"wait until ResourceClaim {claim.key} is gone, then create it again"
        return Remedy(text, "resourceClaim", True, _with_claim(case, problem, spec))
    text = f"recreate the pod, so that {CONTROLLER} makes a claim for it: {problem.words}"
    return Remedy(text, "resourceClaim", True, _made(case, entry, spec))


def _entry_change(new: PodResourceClaim) -> Change:
    def changed(pod: Pod) -> Pod:
        entries = tuple(new if one.name == new.name else one for one in pod.spec.resource_claims or ())
        return edited(pod, spec=msgspec.structs.replace(pod.spec, resource_claims=entries))

    return Change(of_pod=(changed,))


def _with_claim(case: Case, problem: DeviceClaimProblem, spec: ResourceClaimSpec) -> Change:
    new = ResourceClaim(ObjectMeta(name=problem.name, namespace=case.pod.namespace), spec)
    return Change(edits=(Edit(CLAIM, new.key, lambda _: new),))


def _with_template(case: Case, problem: DeviceClaimProblem, spec: ResourceClaimSpec) -> Change:
    new = ResourceClaimTemplate(
        ObjectMeta(name=problem.name, namespace=case.pod.namespace), ResourceClaimTemplateSpec(spec=spec)
    )
    return Change(edits=(Edit(TEMPLATE, new.key, lambda _: new),)) + _made(case, problem.entry, spec)


def _labelled(case: Case) -> Change:
    def changed(namespace: Namespace) -> Namespace:
        labels = {**namespace.labels, ADMIN_ACCESS: "true"}
        return edited(namespace, metadata=msgspec.structs.replace(namespace.metadata, labels=labels))

    return Change(edits=(Edit("Namespace", case.pod.namespace, changed),))


def _made(case: Case, entry: PodResourceClaim, spec: ResourceClaimSpec) -> Change:
    """What the controller does: a claim for an entry, whose name is in the status of the pod."""
    pod, name = case.pod, generated_name(f"{case.pod.name}-{entry.name}-", 0)
    owner = OwnerReference("v1", "Pod", pod.name, pod.uid, controller=True)
    made = ResourceClaim(ObjectMeta(name=name, namespace=pod.namespace, owner_references=(owner,)), spec)

    def noted(pod: Pod) -> Pod:
        others = (one for one in pod.status.resource_claim_statuses or () if one.name != entry.name)
        statuses = (*others, PodResourceClaimStatus(entry.name, name))
        return edited(pod, status=msgspec.structs.replace(pod.status, resource_claim_statuses=statuses))

    return Change((noted,), (Edit(CLAIM, made.key, lambda _: made),))


# --- classes ---


def _classes(case: Case, problem: DeviceClaimProblem, claim: ResourceClaim) -> Iterator[Remedy]:
    """The class that was meant; the class as it may have been; another one."""
    name = problem.name
    for other in [problem.near] if problem.near else islice(alike_classes(case, name), _MAX_CLASSES):
        edit = partial(of_class, name=other)
        verb = "correct" if problem.near else "change"
        text = f"{verb} the device class {name}, which does not exist, to {other}: {way_to_change(case, claim)}"
        effort = Effort.CORRECT if problem.near else Effort.SWITCH
        change = with_request(case, claim, *problem.request, edit)
        yield Remedy(text, "deviceRequest", bool(problem.near), change, effort=effort, ladder=f"class of {name}")
    if problem.near:
        return
    drivers = _drivers(case)
    driver = name if name in drivers else next(iter(drivers), "") if len(drivers) == 1 else ""
    expression = f'device.driver == "{driver}"'
    selectors = (DeviceSelector(CELSelector(expression)),) if driver else None
    new = DeviceClass(ObjectMeta(name=name), DeviceClassSpec(selectors))
    change = Change(edits=(Edit(_CLASS, name, lambda _: new),))
    if driver:
        yield Remedy(f"create {_CLASS} {name} with selector {expression}", "deviceClass", True, change)
    else:
        yield Remedy(f"create {_CLASS} {name} with a selector of its devices", "resourceClaim", True, change)


def _known_classes(case: Case) -> Iterable[DeviceClass]:
    return (one for one in case.objects(_CLASS) if isinstance(one, DeviceClass))


def _drivers(case: Case) -> list[str]:
    """The drivers that have devices."""
    slices = (one for one in case.objects("ResourceSlice") if isinstance(one, ResourceSlice) and one.spec.devices)
    return list(dict.fromkeys(one.spec.driver for one in slices))
