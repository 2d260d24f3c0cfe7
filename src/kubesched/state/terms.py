"""Parsed inter-pod affinity terms: the pods that a term selects, and the topology key of its domain.

Rule: kube-scheduler v1.36 framework.AffinityTerm: a term without namespaces and without namespaceSelector means its
owner's namespace; a null namespaceSelector selects none, `{}` all. matchLabelKeys are merged by the API server, not
here.
"""

from typing import Final

import msgspec

from kubesched.api import LabelSelector, PodAffinity, PodAffinityTerm, Selector, parse_selector
from kubesched.errors import SelectorError


class Term(msgspec.Struct, frozen=True, eq=False):
    """One affinity or anti-affinity term. Equal written terms of equal namespaces share one Term (see `AffinityTerms`).

    Attributes:
        topology_key: the label key that makes a domain.
        namespaces: pods of these namespaces are meant.
        namespace_selector: so are pods of namespaces with such labels.
        selector: what their labels must be.
        weight: points of a preferred term; 0 for a required one.
        key: the term's value, hashable: topology key, which pods it matches (three entries), weight.
    """

    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: Selector
    selector: Selector
    weight: int
    key: tuple[object, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def matches(self, namespace: str, labels: dict[str, str], namespace_labels: dict[str, str]) -> bool:
        """Whether the term matches a pod of this namespace with these labels."""
        return (namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)) and (
            self.selector.matches(labels)
        )


class AffinityTerms(msgspec.Struct, frozen=True, eq=False):
    """All inter-pod terms of a pod, in the pod's order.

    Attributes:
        required_affinity, required_anti_affinity, preferred_affinity, preferred_anti_affinity: the terms.
        error: upstream's text if some selector does not parse; the lists are empty then.
    """

    required_affinity: tuple[Term, ...] = ()
    required_anti_affinity: tuple[Term, ...] = ()
    preferred_affinity: tuple[Term, ...] = ()
    preferred_anti_affinity: tuple[Term, ...] = ()
    error: str = ""

    def __bool__(self) -> bool:
        return bool(
            self.required_affinity
            or self.required_anti_affinity
            or self.preferred_affinity
            or self.preferred_anti_affinity
        )


NO_TERMS: Final = AffinityTerms()


def affinity_terms(namespace: str, affinity: PodAffinity | None, anti_affinity: PodAffinity | None) -> AffinityTerms:
    """Parse a pod's terms.

    Args:
        namespace: the pod's, for terms that name none.
    """
    if affinity is None and anti_affinity is None:
        return NO_TERMS
    try:
        return AffinityTerms(
            _required(namespace, affinity),
            _required(namespace, anti_affinity),
            _preferred(namespace, affinity),
            _preferred(namespace, anti_affinity),
        )
    except SelectorError as error:
        return AffinityTerms(error=str(error))


def _required(namespace: str, affinity: PodAffinity | None) -> tuple[Term, ...]:
    written = (affinity.required if affinity else None) or ()
    return tuple(_parse(namespace, term, 0) for term in written)


def _preferred(namespace: str, affinity: PodAffinity | None) -> tuple[Term, ...]:
    written = (affinity.preferred if affinity else None) or ()
    return tuple(_parse(namespace, term.pod_affinity_term, term.weight) for term in written)


def _parse(namespace: str, written: PodAffinityTerm, weight: int) -> Term:
    named = frozenset(written.namespaces or ())
    if not named and written.namespace_selector is None:
        named = frozenset((namespace,))
    key = (
        written.topology_key,
        named,
        _canonical(written.namespace_selector),
        _canonical(written.label_selector),
        weight,
    )
    return Term(
        written.topology_key,
        named,
        parse_selector(written.namespace_selector),
        parse_selector(written.label_selector),
        weight,
        key,
    )


def _canonical(selector: LabelSelector | None) -> bytes:
    return msgspec.json.encode(selector)
