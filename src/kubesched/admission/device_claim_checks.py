"""Checks what scheduling reads of new resource claims, and the entries of a pod that refer to them.

Rule: kube-apiserver v1.36 validation of resource.k8s.io/v1 and of core/v1 pods, with its messages.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from kubesched.admission.device_claims import EXACT_COUNT
from kubesched.api import (
    ADMIN_ACCESS,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    KubeObject,
    Namespace,
    PodResourceClaim,
    PodSpec,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    Toleration,
    label_faults,
    subdomain_faults,
)
from kubesched.config import FieldError
from kubesched.errors import ObjectError

_ALL: Final = "All"
_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_MAX_ITEMS: Final = 32  # requests, constraints, selectors
_MAX_ALTERNATIVES: Final = 8
_ONE_FORM: Final = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
)
_NAME_OF_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
_NOT_ADMIN: Final = f"admin access to devices requires the `{ADMIN_ACCESS}: true` label on the containing namespace"
_QUALIFIED: Final = "a fully qualified name must be a domain and a name separated by a slash"


def check_device_claim(known: KubeObject, namespace: Namespace | None) -> None:
    """Check a new claim or template that has its defaults; any other object passes.

    Args:
        namespace: of the object; None where it is not known.
    Raises:
        ObjectError: an API server refuses the first such field; the message begins with it.
    """
    faults: Iterable[FieldError] = ()
    if isinstance(known, ResourceClaim):
        faults = chain(admin_access_faults(known.spec, namespace), _claim_faults("spec", known.spec))
    elif isinstance(known, ResourceClaimTemplate):
        spec = known.spec.spec
        faults = chain(admin_access_faults(spec, namespace), _claim_faults("spec.spec", spec))
    for fault in faults:
        raise ObjectError(f"{fault}; {fault.help}" if fault.help else str(fault))


def admin_access_faults(spec: ResourceClaimSpec, namespace: Namespace | None) -> Iterator[FieldError]:
    """That a namespace is not for claims with admin access, of the first request that asks for it.

    An API server calls the field like that also in a template.

    Args:
        namespace: None where it is not known.
    """
    i = spec.admin_request
    if i is not None and namespace is not None and not namespace.allows_admin_access:
        help_ = f"label it: kubectl label namespace {namespace.name} {ADMIN_ACCESS}=true"
        yield FieldError(f"spec.devices.requests[{i}].adminAccess", f"Forbidden: {_NOT_ADMIN}", help=help_)


def _claim_faults(path: str, spec: ResourceClaimSpec) -> Iterator[FieldError]:
    requests, constraints = spec.devices.requests or (), spec.devices.constraints or ()
    where = f"{path}.devices.requests"
    yield from too_many(where, requests, _MAX_ITEMS)
    yield from structure_faults(where, requests)
    for i, request in enumerate(requests):
        yield from _request_faults(f"{where}[{i}]", request)
    names = {request.name for request in requests}
    names |= {f"{one.name}/{alternative.name}" for one in requests for alternative in one.first_available or ()}
    yield from too_many(f"{path}.devices.constraints", constraints, _MAX_ITEMS)
    for i, constraint in enumerate(constraints):
        yield from _constraint_faults(f"{path}.devices.constraints[{i}]", constraint, names)


def _request_faults(path: str, request: DeviceRequest) -> Iterator[FieldError]:
    alternatives = request.first_available or ()
    if request.exactly is not None:
        yield from _ask_faults(f"{path}.exactly", request.exactly)
    yield from too_many(f"{path}.firstAvailable", alternatives, _MAX_ALTERNATIVES)
    for i, alternative in enumerate(alternatives):
        yield from _ask_faults(f"{path}.firstAvailable[{i}]", alternative)


def structure_faults(path: str, requests: Sequence[DeviceRequest]) -> Iterator[FieldError]:
    """What is wrong with the names and the forms of requests, by which results refer to them."""
    yield from _duplicates(path, [request.name for request in requests])
    for i, request in enumerate(requests):
        yield from _name_and_form_faults(f"{path}[{i}]", request)


def _name_and_form_faults(path: str, request: DeviceRequest) -> Iterator[FieldError]:
    yield from _label_faults(f"{path}.name", request.name)
    alternatives = request.first_available or ()
    if request.exactly is None and not alternatives:
        yield FieldError.required(path, _ONE_FORM)
    elif request.exactly is not None and alternatives:
        yield FieldError.invalid(path, None, f"{_ONE_FORM}, but multiple fields are set")
    yield from _duplicates(f"{path}.firstAvailable", [alternative.name for alternative in alternatives])
    for i, alternative in enumerate(alternatives):
        yield from _label_faults(f"{path}.firstAvailable[{i}].name", alternative.name)


def too_many(path: str, listed: Sequence[object], most: int) -> Iterator[FieldError]:
    """That a list is too long."""
    if len(listed) > most:
        yield FieldError(path, f"Too many: {len(listed)}: must have at most {most} items")


def _ask_faults(path: str, ask: DeviceSubRequest) -> Iterator[FieldError]:
    """What is wrong with what one request asks for."""
    if not ask.device_class_name:
        yield FieldError.required(f"{path}.deviceClassName")
    for fault in subdomain_faults(ask.device_class_name) if ask.device_class_name else ():
        yield FieldError.invalid(f"{path}.deviceClassName", ask.device_class_name, fault)
    yield from _selector_faults(f"{path}.selectors", ask.selectors or ())
    if ask.allocation_mode not in (_ALL, EXACT_COUNT):
        yield FieldError.unsupported(f"{path}.allocationMode", ask.allocation_mode, (_ALL, EXACT_COUNT))
    elif ask.allocation_mode == _ALL and ask.count:
        yield FieldError.invalid(f"{path}.count", ask.count, "must not be specified when allocationMode is 'All'")
    elif ask.allocation_mode == EXACT_COUNT and ask.count <= 0:
        yield FieldError.invalid(f"{path}.count", ask.count, "must be greater than zero")
    for i, toleration in enumerate(ask.tolerations or ()):
        yield from _toleration_faults(f"{path}.tolerations[{i}]", toleration)


def _selector_faults(path: str, selectors: tuple[DeviceSelector, ...]) -> Iterator[FieldError]:
    yield from too_many(path, selectors, _MAX_ITEMS)
    for i, selector in enumerate(selectors):
        if selector.cel is None:
            yield FieldError.required(f"{path}[{i}].cel")


def _toleration_faults(path: str, toleration: Toleration) -> Iterator[FieldError]:
    if toleration.operator not in ("Equal", "Exists"):
        yield FieldError.unsupported(f"{path}.operator", toleration.operator, ("Equal", "Exists"))
    elif toleration.operator == "Exists" and toleration.value:
        yield FieldError.invalid(f"{path}.value", toleration.value, "must be empty for operator `Exists`")
    if toleration.effect and toleration.effect not in _EFFECTS:
        yield FieldError.unsupported(f"{path}.effect", toleration.effect, _EFFECTS)


def _constraint_faults(path: str, constraint: DeviceConstraint, names: set[str]) -> Iterator[FieldError]:
    for i, name in enumerate(constraint.requests or ()):
        if name not in names:
            yield FieldError.invalid(f"{path}.requests[{i}]", name, _NAME_OF_REQUEST)
    attributes = (("matchAttribute", constraint.match_attribute), ("distinctAttribute", constraint.distinct_attribute))
    if all(attribute is None for _, attribute in attributes):
        yield FieldError.required(path, _ONE_ATTRIBUTE)
    for field, attribute in attributes:
        if attribute is not None and "/" not in attribute:
            yield FieldError.invalid(f"{path}.{field}", attribute, _QUALIFIED)


def pod_claim_faults(spec: PodSpec) -> Iterator[FieldError]:
    """What an API server refuses in the entries of spec.resourceClaims of a new pod."""
    entries = spec.resource_claims or ()
    yield from entry_faults(entries)
    for i, entry in enumerate(entries):
        if not entry.resource_claim_name and not entry.resource_claim_template_name:
            detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            yield FieldError.invalid(f"spec.resourceClaims[{i}]", entry, detail)


def entry_faults(entries: Sequence[PodResourceClaim]) -> Iterator[FieldError]:
    """What no pod of a cluster has in its entries, apart from what kube-scheduler has a message for."""
    for i, entry in enumerate(entries):
        path = f"spec.resourceClaims[{i}]"
        if not entry.name:
            yield FieldError.required(f"{path}.name")
        else:
            yield from _label_faults(f"{path}.name", entry.name)
        if entry.resource_claim_name and entry.resource_claim_template_name:
            detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield FieldError.invalid(path, entry, detail)
    yield from _duplicates("spec.resourceClaims", [entry.name for entry in entries], ".name")


def _label_faults(path: str, name: str) -> Iterator[FieldError]:
    yield from (FieldError.invalid(path, name, fault) for fault in label_faults(name))


def _duplicates(path: str, names: list[str], field: str = "") -> Iterator[FieldError]:
    for i, name in enumerate(names):
        if name and name in names[:i]:
            yield FieldError.duplicate(f"{path}[{i}]{field}", name)
