"""The incoming pod's affinity terms as InterPodAffinity uses them: namespace selectors resolved to names."""

from typing import Final

from kubesched.state import AffinityTerms, Identity, Part, Snapshot, Term

__all__ = ["ResolvedTerms", "all_match", "resolved_terms"]

_NO_LABELS: Final[dict[str, str]] = {}


class ResolvedTerms:
    """A pod's terms with the names of the namespaces that their selectors select.

    Attributes:
        required_affinity, required_anti_affinity, preferred_affinity, preferred_anti_affinity: the terms, in the pod's
            order.
    """

    __slots__ = ("preferred_affinity", "preferred_anti_affinity", "required_affinity", "required_anti_affinity")

    def __init__(self, terms: AffinityTerms, snapshot: Snapshot) -> None:
        self.required_affinity = _resolved(terms.required_affinity, snapshot)
        self.required_anti_affinity = _resolved(terms.required_anti_affinity, snapshot)
        self.preferred_affinity = _resolved(terms.preferred_affinity, snapshot)
        self.preferred_anti_affinity = _resolved(terms.preferred_anti_affinity, snapshot)


def resolved_terms(part: Part[AffinityTerms], snapshot: Snapshot) -> ResolvedTerms:
    """A pod's terms, resolved once for pods with equal terms as long as no namespace changes."""
    generation = snapshot.objects.generation("Namespace")
    known = part.compiled.get(ResolvedTerms)
    if known is None or known[0] != generation:
        known = part.compiled[ResolvedTerms] = (generation, ResolvedTerms(part.value, snapshot))
    terms: ResolvedTerms = known[1]
    return terms


def all_match(terms: tuple[Term, ...], pod: Identity) -> bool:
    """Whether a pod is meant by all of these terms; none are never matched.

    Rule: kube-scheduler v1.36: after resolution terms are matched with empty namespace labels.
    """
    return bool(terms) and all(term.matches(pod.namespace, pod.labels, _NO_LABELS) for term in terms)


def _resolved(terms: tuple[Term, ...], snapshot: Snapshot) -> tuple[Term, ...]:
    return tuple(_resolve(term, snapshot) for term in terms)


def _resolve(term: Term, snapshot: Snapshot) -> Term:
    selector = term.namespace_selector
    if selector.nothing or selector.is_empty:
        return term
    selected = {ns.name for ns in snapshot.list("Namespace") if selector.matches(ns.labels)}
    names = term.namespaces | selected
    key = (*term.key[:1], names, *term.key[2:])
    return Term(term.topology_key, names, selector, term.selector, term.weight, key)
