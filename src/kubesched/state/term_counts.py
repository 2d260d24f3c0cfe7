"""Where pods stand that carry affinity terms of their own: the terms count per topology domain.

A pod that comes in is judged by the terms of the pods already placed. Distinct terms are few, so the table holds, per
topology key, how many pods carry each term in each domain; which terms mean the incoming pod is found once per distinct
(namespace, labels).
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kubesched.engine import BoolVector, FloatVector
from kubesched.state.columns import NodeColumns
from kubesched.state.pod_info import Identity, Part
from kubesched.state.terms import Term

__all__ = ["DomainSums", "TermCounts"]

NamespaceLabels = Callable[[str], dict[str, str]]


class DomainSums:
    """One number per domain of a topology key.

    Attributes:
        topology_key: the label key.
        by_code: (values,) float64 by the number of the label's value; entry 0, nodes without the key, is 0.
    """

    __slots__ = ("by_code", "topology_key")

    def __init__(self, topology_key: str, by_code: FloatVector) -> None:
        self.topology_key = topology_key
        self.by_code = by_code


class _Domains:
    """(term, domain) pairs of one topology key, with how many pods carry the term there."""

    __slots__ = ("counts", "domains", "index", "size", "terms")

    def __init__(self) -> None:
        self.index: dict[tuple[int, int], int] = {}
        self.size = 0
        self.terms: npt.NDArray[np.intp] = np.zeros(16, dtype=np.intp)
        self.domains: npt.NDArray[np.intp] = np.zeros(16, dtype=np.intp)
        self.counts: npt.NDArray[np.float64] = np.zeros(16, dtype=np.float64)

    def move(self, term: int, domain: int, sign: int) -> None:
        place = self.index.get((term, domain))
        if place is None:
            place = self.index[(term, domain)] = self.size
            self.size += 1
            if self.size > len(self.counts):
                self.terms = np.concatenate((self.terms, np.zeros_like(self.terms)))
                self.domains = np.concatenate((self.domains, np.zeros_like(self.domains)))
                self.counts = np.concatenate((self.counts, np.zeros_like(self.counts)))
            self.terms[place] = term
            self.domains[place] = domain
        self.counts[place] += sign

    def sums(self, weights: FloatVector, n_values: int) -> FloatVector | None:
        """Sum of count x weight per domain; None when no pod carries a term with a weight."""
        size = self.size
        weighted = weights.take(self.terms[:size]) * self.counts[:size]
        if not np.count_nonzero(weighted):
            return None
        totals: FloatVector = np.bincount(self.domains[:size], weights=weighted, minlength=n_values).astype(
            np.float64, copy=False
        )
        return totals

    def carried(self, matching: BoolVector) -> bool:
        """Whether some pod carries a matching term here."""
        size = self.size
        return bool((matching[self.terms[:size]] & (self.counts[:size] > 0)).any())


class TermCounts:
    """The terms of one strength (required anti-affinity, say) of all pods on nodes.

    Attributes:
        terms: the distinct terms, by number.
        examples: one term of each meaning: many terms mean the same pods and differ in topology key or weight.
    """

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self.examples: list[Term] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._meanings: dict[tuple[object, ...], int] = {}
        self._meaning_of: list[int] = []  # by term
        self._meaning_by_term: npt.NDArray[np.intp] = np.zeros(0, dtype=np.intp)  # the same, made when asked for
        self._domains: dict[str, _Domains] = {}
        self._n_carried = 0
        self._matching: dict[Part[Identity], BoolVector] = {}
        self._weights: FloatVector = np.zeros(0)

    def move(self, terms: tuple[Term, ...], row: int, sign: int, columns: NodeColumns) -> None:
        """A pod with these terms came to a row (+1) or left it (-1)."""
        for term in terms:
            number = self._numbers.get(term.key)
            if number is None:
                number = self._numbers[term.key] = len(self.terms)
                self.terms.append(term)
                meaning = self._meanings.setdefault(term.meant, len(self.examples))
                self._meaning_of.append(meaning)
                if meaning == len(self.examples):
                    self.examples.append(term)
            domain = int(columns.label(term.topology_key).codes[row])
            if domain:
                domains = self._domains.get(term.topology_key)
                if domains is None:
                    domains = self._domains[term.topology_key] = _Domains()
                domains.move(number, domain, sign)
                self._n_carried += sign

    def about(self, identity: Part[Identity], namespace_labels: NamespaceLabels) -> BoolVector | None:
        """Which terms mean a pod of this identity: (terms,) bool; None when nobody carries one that does."""
        if not self._n_carried:
            return None
        known = self._matching.get(identity)
        if known is None or len(known) < len(self.examples):
            known = self._extended(known, identity.value, namespace_labels)
            if len(self._matching) > 4096:
                self._matching.clear()
            self._matching[identity] = known
        if not known.any():
            return None
        if len(self._meaning_by_term) < len(self.terms):
            self._meaning_by_term = np.array(self._meaning_of, dtype=np.intp)
        matching: BoolVector = known[self._meaning_by_term]
        return matching

    def sums(self, matching: BoolVector, columns: NodeColumns, *, by_weight: bool) -> list[DomainSums]:
        """Per topology key, the sum over matching terms of pods carrying them, or of their weights.

        Returns: only keys with some non-zero entry.
        """
        weights = self._all_weights() * matching if by_weight else matching.astype(np.float64)
        found = []
        for key, domains in self._domains.items():
            by_code = domains.sums(weights, len(columns.label(key).values))
            if by_code is not None:
                found.append(DomainSums(key, by_code))
        return found

    def is_carried(self, matching: BoolVector) -> bool:
        """Whether some pod, on a node that has the term's key, carries a matching term."""
        return any(domains.carried(matching) for domains in self._domains.values())

    def namespaces_changed(self) -> None:
        """Labels of a namespace changed: what matched must be found anew."""
        self._matching.clear()

    def _extended(self, known: BoolVector | None, pod: Identity, namespace_labels: NamespaceLabels) -> BoolVector:
        start = 0 if known is None else len(known)
        labels = namespace_labels(pod.namespace)
        new = [term.matches(pod.namespace, pod.labels, labels) for term in self.examples[start:]]
        added = np.array(new, dtype=np.bool_)
        return added if known is None else np.concatenate((known, added))

    def _all_weights(self) -> FloatVector:
        if len(self._weights) < len(self.terms):
            self._weights = np.array([term.weight for term in self.terms], dtype=np.float64)
        return self._weights
