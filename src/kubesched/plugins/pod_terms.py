"""The incoming pod's affinity terms for InterPodAffinity, with namespace selectors resolved to names."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from kubesched.api import Selector
from kubesched.engine import FloatVector
from kubesched.release import Release
from kubesched.state import AffinityTerms, CountedGroup, Identity, Part, Selection, Snapshot, Term

MANY_TERMS: Final = 32
"""From so many terms on, a pod's terms are counted together."""

_NO_LABELS: Final[dict[str, str]] = {}
_NO_NAMESPACE: Final = Selector(nothing=True)
_KNOWN: Final = Selection(())  # for a group that is kept, which has its own


def resolved_terms(part: Part[AffinityTerms], snapshot: Snapshot) -> AffinityTerms:
    """A pod's terms with the names of the namespaces that their selectors select, in the pod's order.

    They are resolved once for pods with equal terms as long as no namespace changes.

    Rule: kube-scheduler; from v1.34 to v1.36.3 a term keeps its selector, which then meets empty labels: one that has
    only NotIn and DoesNotExist selects every namespace (kubernetes issue 141526).
    """
    generation = snapshot.objects.generation("Namespace")
    known = part.compiled.get(resolved_terms)
    if known is None or known[0] != generation:
        written = part.value
        selected = _SelectedNamespaces(snapshot, _keeps_selector(snapshot.cluster_state.release))
        resolved = AffinityTerms(
            _resolved(written.required_affinity, selected),
            _resolved(written.required_anti_affinity, selected),
            _resolved(written.preferred_affinity, selected),
            _resolved(written.preferred_anti_affinity, selected),
        )
        known = part.compiled[resolved_terms] = (generation, resolved)
    terms: AffinityTerms = known[1]
    return terms


def meets_every_namespace(written: AffinityTerms, release: Release) -> bool:
    """Whether the version has a term match every namespace although its selector leaves some out."""
    terms = (
        *written.required_affinity,
        *written.required_anti_affinity,
        *written.preferred_affinity,
        *written.preferred_anti_affinity,
    )
    selectors = (term.namespace_selector for term in terms if _keeps_selector(release))
    return any(not (one.nothing or one.is_empty) and one.matches(_NO_LABELS) for one in selectors)


def _keeps_selector(release: Release) -> bool:
    """Rule: kube-scheduler v1.34 to v1.36, until v1.34.12, v1.35.9 and v1.36.5; the later patches by their notes."""
    return not release.before(34) and release.before(37) and not release.patch


def all_match(terms: tuple[Term, ...], pod: Identity) -> bool:
    """Whether a pod matches all of these terms; no terms match no pod.

    Rule: kube-scheduler v1.36: after resolution terms are matched with empty namespace labels.
    """
    return bool(terms) and all(term.matches(pod.namespace, pod.labels, _NO_LABELS) for term in terms)


def meant_by(*terms: Term) -> Selection:
    """The pods that `all_match` accepts, to find many at once."""
    return Selection(
        tuple(
            (None if term.namespace_selector.matches(_NO_LABELS) else term.namespaces, term.selector) for term in terms
        )
    )


def group_of(snapshot: Snapshot, *terms: Term) -> CountedGroup:
    """The placed pods that all of these terms mean."""
    key, groups = ("terms", *[term.key for term in terms]), snapshot.groups
    return groups.group(key, _KNOWN if key in groups else meant_by(*terms))


def sums_of_many(snapshot: Snapshot, weighted: Sequence[tuple[Term, int]]) -> dict[str, tuple[FloatVector, bool]]:
    """Add up the weights of many terms for the placed pods that they mean, per domain.

    A group of pods for each term is worth its while for a pod's few terms, which the next pod has too. A thousand would
    push out the groups of all other pods.

    Returns: by topology key of terms whose key some node has: (values,) float64 by the number of the label's value; and
        whether any pod was counted in a domain.
    """
    columns = snapshot.columns
    by_key: dict[str, list[tuple[Selection, int]]] = {}
    for term, weight in weighted:
        by_key.setdefault(term.topology_key, []).append((meant_by(term), weight))
    sums = {}
    for key, some in by_key.items():
        label, n_rows = columns.label(key), columns.n_rows
        by_row, n_by_row = columns.pod_table.weighed_by_row(some, n_rows)
        codes = label.codes[:n_rows]
        by_code = np.bincount(codes, weights=by_row, minlength=len(label.values)).astype(np.float64)
        by_code[0] = 0
        sums[key] = by_code, bool(np.count_nonzero(n_by_row[codes > 0]))
    return sums


class _SelectedNamespaces:
    """The names of the namespaces that selectors select; equal selectors of one pod are judged once."""

    def __init__(self, snapshot: Snapshot, keeps_selector: bool) -> None:
        self.keeps_selector = keeps_selector
        self._snapshot = snapshot
        self._known: list[tuple[str, dict[str, str]]] | None = None
        self._selected: dict[object, frozenset[str]] = {}

    def by(self, term: Term) -> frozenset[str]:
        """Those that a term's namespaceSelector selects."""
        meaning, selector = term.key[2], term.namespace_selector
        if self._known is None:
            self._known = [(one.name, one.labels) for one in self._snapshot.list("Namespace")]
        found = self._selected.get(meaning)
        if found is None:
            found = frozenset([name for name, labels in self._known if selector.matches(labels)])
            self._selected[meaning] = found
        return found


def _resolved(terms: tuple[Term, ...], selected: _SelectedNamespaces) -> tuple[Term, ...]:
    return tuple([_resolve(term, selected) for term in terms])


def _resolve(term: Term, selected: _SelectedNamespaces) -> Term:
    selector = term.namespace_selector
    if selector.nothing or selector.is_empty:
        return term
    names = term.namespaces | selected.by(term)
    if not selected.keeps_selector:
        selector = _NO_NAMESPACE
    key = (*term.key[:1], names, *term.key[2:])
    return Term(term.topology_key, names, selector, term.selector, term.weight, key)
