"""The remedy for a namespaceSelector that the version misreads: an expression that no version misreads."""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api import LabelSelector, PodAffinityTerm, SelectorRequirement
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.remedies.case import Case, Remedy, field_edit
from kubesched.plugins import meets_every_namespace
from kubesched.state import AffinityTerms, Identity, Term

_NAME: Final = "kubernetes.io/metadata.name"
"""Rule: Kubernetes v1.22 and later: the API server gives every namespace this label."""


def misread_selectors(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Require a label of the namespaces that anti-affinity of the pod means; empty labels do not have it."""
    affinity = case.pod.spec.affinity
    written = (affinity.pod_anti_affinity.required if affinity and affinity.pod_anti_affinity else None) or ()
    release = case.evaluation.snapshot.cluster_state.release
    terms, keys = list(written), []
    for i, term in enumerate(case.info.terms.value.required_anti_affinity):
        if meets_every_namespace(AffinityTerms(required_anti_affinity=(term,)), release):
            keys.append(_key(case, term))
            terms[i] = _requiring(written[i], keys[-1])
    if keys:
        expressions = joined(f"{{key: {key}, operator: Exists}}" for key in dict.fromkeys(keys))
        text = f"add {expressions} to the namespaceSelector of the required pod anti-affinity"
        change = field_edit("affinity.pod_anti_affinity.required", tuple(terms))
        yield Remedy(text, "podAntiAffinity", True, change)


def _key(case: Case, term: Term) -> str:
    """A label key of the selector that every namespace with pods of the term has; else the one that all have."""

    def is_meant(them: Identity) -> bool:
        return term.matches(them.namespace, them.labels, labels_of(them.namespace))

    labels_of = case.evaluation.snapshot.namespace_labels
    spaces = dict.fromkeys(info.pod.namespace for info, _ in case.placed.selected(is_meant))
    meant = [labels_of(name) for name in spaces if name not in term.namespaces]
    keys = (one.key for one in term.namespace_selector.requirements if one.operator == "NotIn")
    return next((key for key in keys if all(key in labels for labels in meant)), _NAME)


def _requiring(term: PodAffinityTerm, key: str) -> PodAffinityTerm:
    selector = term.namespace_selector or LabelSelector()
    expressions = (*(selector.match_expressions or ()), SelectorRequirement(key, "Exists"))
    return msgspec.structs.replace(
        term, namespace_selector=msgspec.structs.replace(selector, match_expressions=expressions)
    )
