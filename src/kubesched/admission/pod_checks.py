"""Checks what scheduling reads of a new pod's spec: operators, other closed sets, and ranges.

The types of the fields, quantities and ports are checked already, and fields that scheduling does not read are left to
the API server. Rule: kube-apiserver v1.36 validation of core/v1 pods, with its messages.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from kubesched.admission.device_claim_checks import pod_claim_faults
from kubesched.admission.resource_checks import (
    byte_notes,
    huge_page_faults,
    pod_level_faults,
    quantity_faults,
    resource_faults,
)
from kubesched.api import (
    BASIC_RESOURCES,
    TAINT_EFFECTS,
    AffinityToNodes,
    ComparingToleration,
    Container,
    LabelSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
    parse_node_term,
    parse_selector,
)
from kubesched.config import FieldError
from kubesched.errors import ObjectError, SelectorError

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_POLICIES: Final = ("Honor", "Ignore")


def check_new_pod(spec: PodSpec, known_resources: Collection[str] = BASIC_RESOURCES) -> None:
    """Check the spec of a new pod that has its defaults.

    Args:
        known_resources: the names that may be meant by one that is wrong.
    Raises:
        ObjectError: an API server refuses the first such field; the message begins with it.
    """
    for fault in pod_faults(spec, known_resources):
        raise ObjectError(f"{fault}; {fault.help}" if fault.help else str(fault))


def notes_on(spec: PodSpec) -> Iterator[str]:
    """What an API server warns of in the spec of a new pod."""
    for path, container in _containers(spec):
        if container.resources and container.resources.requests:
            yield from byte_notes(f"{path}.resources.requests[{{}}]".format, container.resources.requests)


def _containers(spec: PodSpec) -> Iterator[tuple[str, Container]]:
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for i, container in enumerate(containers or ()):
            yield f"spec.{field}[{i}]", container


def pod_faults(spec: PodSpec, known_resources: Collection[str] = BASIC_RESOURCES) -> Iterator[FieldError]:
    """What an API server refuses in the spec of a new pod that has its defaults."""
    yield from _in_set("spec.preemptionPolicy", spec.preemption_policy, ("Never", "PreemptLowerPriority"))
    yield from quantity_faults("spec.overhead[{}]".format, spec.overhead or {}, known_resources)
    for path, container in _containers(spec):
        yield from resource_faults(f"{path}.resources", container.resources, known_resources)
        yield from huge_page_faults(f"{path}.resources", container.resources)
        for i, port in enumerate(container.ports or ()):
            yield from _in_set(f"{path}.ports[{i}].protocol", port.protocol, ("SCTP", "TCP", "UDP"))
    yield from resource_faults("spec.resources", spec.resources, of_pod=True)
    yield from huge_page_faults("spec.resources", spec.resources)
    yield from pod_level_faults(spec)
    yield from pod_claim_faults(spec)
    for i, toleration in enumerate(spec.tolerations or ()):
        yield from _toleration_faults(f"spec.tolerations[{i}]", toleration)
    for i, constraint in enumerate(spec.topology_spread_constraints or ()):
        yield from _spread_faults(f"spec.topologySpreadConstraints[{i}]", constraint)
    if affinity := spec.affinity:
        yield from _node_affinity_faults("spec.affinity.nodeAffinity", affinity.node_affinity)
        yield from _pod_affinity_faults("spec.affinity.podAffinity", affinity.pod_affinity)
        yield from _pod_affinity_faults("spec.affinity.podAntiAffinity", affinity.pod_anti_affinity)


def _in_set(path: str, value: str | None, supported: Iterable[str]) -> Iterator[FieldError]:
    if value is not None and value not in supported:
        yield FieldError.unsupported(path, value, supported)


def _toleration_faults(path: str, toleration: Toleration) -> Iterator[FieldError]:
    operator = toleration.operator or "Equal"
    if not isinstance(toleration, ComparingToleration):
        yield from _in_set(f"{path}.operator", operator, ("Equal", "Exists"))
    if not toleration.key and operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield FieldError.invalid(f"{path}.operator", toleration.operator, detail)
    if toleration.value and operator == "Exists":
        yield FieldError.invalid(
            f"{path}.operator", toleration.value, "value must be empty when `operator` is 'Exists'"
        )
    yield from _in_set(f"{path}.effect", toleration.effect or None, TAINT_EFFECTS)


def _spread_faults(path: str, constraint: TopologySpreadConstraint) -> Iterator[FieldError]:
    for field, number in (("maxSkew", constraint.max_skew), ("minDomains", constraint.min_domains)):
        if number is not None and number <= 0:
            yield FieldError.invalid(f"{path}.{field}", number, "must be greater than zero")
    yield from _key_faults(path, constraint.topology_key)
    when = constraint.when_unsatisfiable
    yield from _in_set(f"{path}.whenUnsatisfiable", when, ("DoNotSchedule", "ScheduleAnyway"))
    if constraint.min_domains and when != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
        yield FieldError.invalid(f"{path}.minDomains", constraint.min_domains, detail)
    yield from _in_set(f"{path}.nodeAffinityPolicy", constraint.node_affinity_policy, _POLICIES)
    yield from _in_set(f"{path}.nodeTaintsPolicy", constraint.node_taints_policy, _POLICIES)
    yield from _selector_faults(f"{path}.labelSelector", constraint.label_selector)


def _node_affinity_faults(path: str, affinity: AffinityToNodes | None) -> Iterator[FieldError]:
    if affinity is None:
        return
    if affinity.required is not None:
        where = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not affinity.required.node_selector_terms:
            yield FieldError.required(where, "must have at least one node selector term")
        for i, term in enumerate(affinity.required.node_selector_terms or ()):
            yield from _term_faults(f"{where}[{i}]", term)
    for i, preferred in enumerate(affinity.preferred or ()):
        yield from _weight_faults(f"{path}.{_PREFERRED}[{i}]", preferred.weight)
        yield from _term_faults(f"{path}.{_PREFERRED}[{i}].preference", preferred.preference)


def _pod_affinity_faults(path: str, affinity: PodAffinity | None) -> Iterator[FieldError]:
    if affinity is None:
        return
    for i, term in enumerate(affinity.required or ()):
        yield from _pod_term_faults(f"{path}.{_REQUIRED}[{i}]", term)
    for i, weighted in enumerate(affinity.preferred or ()):
        yield from _weight_faults(f"{path}.{_PREFERRED}[{i}]", weighted.weight)
        yield from _pod_term_faults(f"{path}.{_PREFERRED}[{i}].podAffinityTerm", weighted.pod_affinity_term)


def _pod_term_faults(path: str, term: PodAffinityTerm) -> Iterator[FieldError]:
    yield from _key_faults(path, term.topology_key)
    yield from _selector_faults(f"{path}.labelSelector", term.label_selector)
    yield from _selector_faults(f"{path}.namespaceSelector", term.namespace_selector)


def _weight_faults(path: str, weight: int) -> Iterator[FieldError]:
    if not 1 <= weight <= 100:
        yield FieldError.invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _key_faults(path: str, topology_key: str) -> Iterator[FieldError]:
    if not topology_key:
        yield FieldError.required(f"{path}.topologyKey", "can not be empty")


def _term_faults(path: str, term: NodeSelectorTerm) -> Iterator[FieldError]:
    try:
        parse_node_term(term)
    except SelectorError as error:
        yield FieldError(path, str(error))


def _selector_faults(path: str, selector: LabelSelector | None) -> Iterator[FieldError]:
    try:
        parse_selector(selector)
    except SelectorError as error:
        yield FieldError(path, str(error))
