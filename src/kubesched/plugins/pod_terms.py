"""The incoming pod's affinity terms for InterPodAffinity, with namespace selectors resolved to names."""

from typing import Final

from kubesched.state import AffinityTerms, Identity, Part, PodGroup, Snapshot, Term

__all__ = ["all_match", "group_of", "resolved_terms"]

_NO_LABELS: Final[dict[str, str]] = {}


def resolved_terms(part: Part[AffinityTerms], snapshot: Snapshot) -> AffinityTerms:
    """A pod's terms with the names of the namespaces that their selectors select, in the pod's order.

    They are resolved once for pods with equal terms as long as no namespace changes.
    """
    generation = snapshot.objects.generation("Namespace")
    known = part.compiled.get(resolved_terms)
    if known is None or known[0] != generation:
        written = part.value
        resolved = AffinityTerms(
            _resolved(written.required_affinity, snapshot),
            _resolved(written.required_anti_affinity, snapshot),
            _resolved(written.preferred_affinity, snapshot),
            _resolved(written.preferred_anti_affinity, snapshot),
        )
        known = part.compiled[resolved_terms] = (generation, resolved)
    terms: AffinityTerms = known[1]
    return terms


def all_match(terms: tuple[Term, ...], pod: Identity) -> bool:
    """Whether a pod matches all of these terms; no terms match no pod.

    Rule: kube-scheduler v1.36: after resolution terms are matched with empty namespace labels.
    """
    return bool(terms) and all(term.matches(pod.namespace, pod.labels, _NO_LABELS) for term in terms)


def group_of(snapshot: Snapshot, *terms: Term) -> PodGroup:
    """The placed pods that all of these terms mean."""
    return snapshot.groups.group(("terms", *[term.key for term in terms]), lambda pod: all_match(terms, pod))


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
