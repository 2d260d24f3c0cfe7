"""Finds spread constraints and pod affinity terms that select no pod and so have no effect."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from kubesched.api import LabelSelector, Pod, PodAffinityTerm, PodSpec, parse_selector

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


class _Selection(NamedTuple):
    """What a constraint or a term selects.

    Attributes:
        path: of the field, from `spec.` on.
        key: the topology key.
        namespaces: where it looks; empty for everywhere.
        is_spread: whether it spreads pods.
    """

    path: str
    key: str
    selector: LabelSelector | None
    namespaces: Collection[str]
    is_spread: bool = False


def idle_constraints(pod: Pod, pods: Sequence[Pod]) -> Iterator[str]:
    """A sentence for each constraint and term of a pod that has no effect because it selects no pod.

    Required affinity is not among them: without a pod that it selects, the pod stays pending.

    Args:
        pods: all of the cluster, and the new ones.

    Rule: Kubernetes v1.36: a selector that is absent selects nothing, an empty one selects everything.
    """
    for wanted in _selections(pod.spec, pod.namespace):
        where = f"{wanted.path} ({wanted.key})"
        if wanted.selector is None:
            yield f"{where} has no labelSelector, so it selects no pod and has no effect"
        elif not _selects(wanted, pods):
            yield f"{where} selects no pod, not even its own, so it has no effect"
        elif wanted.is_spread and not _selects(wanted, [pod]):
            yield f"{where} does not match the labels of its own pods, so they are not spread"


def _selections(spec: PodSpec, namespace: str) -> Iterator[_Selection]:
    for i, constraint in enumerate(spec.topology_spread_constraints or ()):
        path = f"spec.topologySpreadConstraints[{i}]"
        yield _Selection(path, constraint.topology_key, constraint.label_selector, (namespace,), True)
    affinity = spec.affinity
    for field in ("podAffinity", "podAntiAffinity"):
        terms = affinity and (affinity.pod_affinity if field == "podAffinity" else affinity.pod_anti_affinity)
        path = f"spec.affinity.{field}"
        for i, term in enumerate((terms and terms.required) or ()):
            if field == "podAntiAffinity":
                yield _of_term(f"{path}.{_REQUIRED}[{i}]", term, namespace)
        for i, weighted in enumerate((terms and terms.preferred) or ()):
            yield _of_term(f"{path}.{_PREFERRED}[{i}]", weighted.pod_affinity_term, namespace)


def _of_term(path: str, term: PodAffinityTerm, namespace: str) -> _Selection:
    namespaces = () if term.namespace_selector is not None else term.namespaces or (namespace,)
    return _Selection(path, term.topology_key, term.label_selector, namespaces)


def _selects(wanted: _Selection, pods: Sequence[Pod]) -> bool:
    selector = parse_selector(wanted.selector)
    return any(
        selector.matches(pod.labels) for pod in pods if not wanted.namespaces or pod.namespace in wanted.namespaces
    )
