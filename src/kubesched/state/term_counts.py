"""Counts the affinity terms of placed pods per topology domain.

A pod that comes in is judged by the terms of the pods already placed. Distinct terms are few, so the table holds, per
topology key, how many pods carry each term in each domain; which terms match an incoming pod is found once per distinct
(namespace, labels). A term that no pod carries any more, and a domain in which none does, leave nothing behind.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from kubesched.engine import BoolVector, FloatVector, Interner, IntVector, grown
from kubesched.state.columns import NodeColumns
from kubesched.state.pod_info import Identity, Part
from kubesched.state.terms import Term

NamespaceLabels = Callable[[str], dict[str, str]]


class DomainSums(NamedTuple):
    """One number per domain of a topology key.

    Attributes:
        topology_key: the label key.
        by_code: (values,) float64 by the number of the label's value; entry 0, nodes without the key, is 0.
    """

    topology_key: str
    by_code: FloatVector


class _Domains:
    """(term, domain) pairs of one topology key that some pod has, with how many do."""

    __slots__ = ("counts", "domains", "index", "terms")

    def __init__(self) -> None:
        self.index: dict[tuple[int, int], int] = {}
        self.terms: IntVector = np.zeros(16, dtype=np.int64)
        self.domains: IntVector = np.zeros(16, dtype=np.int64)
        self.counts: FloatVector = np.zeros(16, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.index)

    def move(self, term: int, domain: int, sign: int) -> None:
        place = self.index.get((term, domain))
        if place is None:
            place = self.index[term, domain] = len(self.index)
            if place == len(self.counts):
                self._resize(2 * place)
            self.terms[place], self.domains[place], self.counts[place] = term, domain, 0
        self.counts[place] += sign
        if not self.counts[place]:
            self._remove(term, domain)

    def _remove(self, term: int, domain: int) -> None:
        """The last pair takes the place of one without pods."""
        place, last = self.index.pop((term, domain)), len(self.index)
        if place < last:
            self.index[int(self.terms[last]), int(self.domains[last])] = place
            for column in (self.terms, self.domains, self.counts):
                column[place] = column[last]
        if len(self.counts) > max(16, 4 * last):
            self._resize(2 * last)

    def _resize(self, capacity: int) -> None:
        for name in ("terms", "domains", "counts"):
            column = getattr(self, name)
            setattr(self, name, grown(column, capacity) if capacity > len(column) else column[:capacity].copy())

    def sums(self, weights: FloatVector, n_values: int) -> FloatVector | None:
        """Sum of count x weight per domain; None when no pod carries a term with a weight."""
        size = len(self.index)
        weighted = weights.take(self.terms[:size]) * self.counts[:size]
        if not np.count_nonzero(weighted):
            return None
        totals: FloatVector = np.bincount(self.domains[:size], weights=weighted, minlength=n_values).astype(
            np.float64, copy=False
        )
        return totals

    def carried(self, matching: BoolVector) -> bool:
        """Whether some pod carries a matching term here."""
        return bool(matching[self.terms[: len(self.index)]].any())


class TermCounts:
    """The terms of one strength (required anti-affinity, say) of all pods on nodes.

    Attributes:
        terms: the distinct terms that pods carry, by number.
        meanings: which pods terms match; many terms match the same pods and differ in topology key or weight.
    """

    def __init__(self) -> None:
        self.terms: Interner[Term] = Interner()
        self.meanings: Interner[Meaning] = Interner()
        self._meaning_of: IntVector = np.zeros(16, dtype=np.int64)  # by term
        self._weights: FloatVector = np.zeros(16, dtype=np.float64)  # by term
        self._domains: dict[str, _Domains] = {}
        self._n_carried = 0
        self._namespace_changes = 0

    def move(self, terms: tuple[Term, ...], row: int, sign: int, columns: NodeColumns) -> None:
        """A pod with these terms came to a row (+1) or left it (-1)."""
        for term in terms:
            number = self._hold(term) if sign > 0 else self._number(term)
            domain = int(columns.label(term.topology_key).codes[row])
            if domain:
                self._move_in(term.topology_key, number, domain, sign)
            if sign < 0:
                self._release(number)

    def _move_in(self, topology_key: str, number: int, domain: int, sign: int) -> None:
        domains = self._domains.get(topology_key)
        if domains is None:
            domains = self._domains[topology_key] = _Domains()
        domains.move(number, domain, sign)
        self._n_carried += sign
        if not domains:
            del self._domains[topology_key]

    def _number(self, term: Term) -> int:
        number = self.terms.find(term)
        assert number is not None, "a pod that leaves carried it"
        return number

    def _hold(self, term: Term) -> int:
        if self.terms.find(term) is not None:
            return self.terms.hold(term)
        number = self.terms.hold(term)
        if number >= len(self._weights):
            self._weights = grown(self._weights, 2 * number)
            self._meaning_of = grown(self._meaning_of, 2 * number)
        self._weights[number] = term.weight
        self._meaning_of[number] = self.meanings.hold(Meaning(term, term.key[1:4]))
        return number

    def _release(self, number: int) -> None:
        if self.terms.release(number):
            self.meanings.release(int(self._meaning_of[number]))
            self._meaning_of[number] = 0

    def about(self, identity: Part[Identity], namespace_labels: NamespaceLabels) -> BoolVector | None:
        """Which terms match a pod of this identity: (terms,) bool; None when no pod carries one that does."""
        if not self._n_carried:
            return None
        known = identity.compiled.get(self)
        if known is None or not known.is_of(self.meanings, self._namespace_changes):
            known = self._refreshed(known, identity.value, namespace_labels)
            identity.compiled[self] = known
        if not known.is_any:
            return None
        matching: BoolVector = known.matches[self._meaning_of[: len(self.terms)]]
        return matching

    def sums(self, matching: BoolVector, columns: NodeColumns, *, by_weight: bool) -> list[DomainSums]:
        """Per topology key, the sum over matching terms of pods carrying them, or of their weights.

        Returns: only keys with some non-zero entry.
        """
        weights = self._weights[: len(matching)] * matching if by_weight else matching.astype(np.float64)
        sums = []
        for key, domains in self._domains.items():
            by_code = domains.sums(weights, len(columns.label(key).values))
            if by_code is not None:
                sums.append(DomainSums(key, by_code))
        return sums

    def is_carried(self, matching: BoolVector) -> bool:
        """Whether some pod, on a node that has the term's key, carries a matching term."""
        return any(domains.carried(matching) for domains in self._domains.values())

    def sizes(self) -> dict[str, int]:
        """Distinct terms and meanings, and (term, domain) pairs."""
        pairs = sum(len(domains) for domains in self._domains.values())
        return {"terms": len(self.terms), "meanings": len(self.meanings), "pairs": pairs}

    def namespaces_changed(self) -> None:
        """Labels of a namespace changed: the terms have to be matched again."""
        self._namespace_changes += 1

    def _refreshed(
        self, known: "MatchingTerms | None", pod: Identity, namespace_labels: NamespaceLabels
    ) -> "MatchingTerms":
        """Match the meanings that changed since then again; all of them when that is too long ago."""
        log, size = self.meanings.log, len(self.meanings)
        matches = np.zeros(size, dtype=np.bool_)
        changed: Iterable[int] | None = None
        if known is not None and known.namespace_changes == self._namespace_changes:
            changed = log.since(known.generation)
            n_same = min(size, len(known.matches))
            matches[:n_same] = known.matches[:n_same]
        labels = namespace_labels(pod.namespace)
        for number in range(size) if changed is None else changed:
            meaning = self.meanings.values[number] if number < size else None
            if number < size:
                matches[number] = meaning is not None and meaning.term.matches(pod.namespace, pod.labels, labels)
        return MatchingTerms(matches, bool(matches.any()), log.generation, self._namespace_changes)


class Meaning(msgspec.Struct, frozen=True, eq=False):
    """Which pods a term matches; equal for terms that match the same ones.

    Attributes:
        term: one such term.
        meant: the part of its key that defines which pods it matches.
    """

    term: Term
    meant: tuple[object, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Meaning) and self.meant == other.meant

    def __hash__(self) -> int:
        return hash(self.meant)


class MatchingTerms(msgspec.Struct, frozen=True, eq=False):
    """Which meanings match pods of one identity.

    Attributes:
        matches: (meanings,) bool.
        is_any: whether one does.
        generation, namespace_changes: when that was found out.
    """

    matches: BoolVector
    is_any: bool
    generation: int
    namespace_changes: int

    def is_of(self, meanings: Interner[Meaning], namespace_changes: int) -> bool:
        """Whether nothing has changed since."""
        return self.generation == meanings.log.generation and self.namespace_changes == namespace_changes
