"""Which pods a rule means, and which of many distinct identities of pods those are, judged by column.

A rule asks about a pod by its namespace and labels. A pod's author may write a thousand such selections, and a cluster
has thousands of distinct identities: as columns a selection costs a few array operations.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Selector
from kubesched.engine import BoolVector, Interner, IntVector
from kubesched.state.labels import LabelColumn, LabelColumns
from kubesched.state.pod_info import Identity, Part

_NO_LABELS: Final[dict[str, str]] = {}
_CAPACITY: Final = 64


class Selection(msgspec.Struct, frozen=True, eq=False):
    """The pods that all of some selectors mean. Called with an identity, it says whether it means such a pod.

    Attributes:
        parts: the names of namespaces, None for all, and the selector for labels; without a part no pod is meant.
    """

    parts: tuple[tuple[frozenset[str] | None, Selector], ...]

    def __call__(self, pod: Identity) -> bool:
        """Whether such a pod is meant."""
        for namespaces, selector in self.parts:
            if (namespaces is not None and pod.namespace not in namespaces) or not selector.matches(pod.labels):
                return False
        return bool(self.parts)


class IdentityColumns:
    """The labels and namespaces of numbered identities as columns, brought up to date when they are read.

    Args:
        identities: by number; None for a free number.
    """

    def __init__(self, identities: Interner[Part[Identity] | None]) -> None:
        self._identities = identities
        self._generation = -1
        self._known: list[Identity | None] = []  # by number, as the columns have them
        self._capacity = _CAPACITY
        self._labels = LabelColumns(self._capacity)
        self._namespaces = LabelColumn("", self._capacity)

    def selected(self, selection: Selection) -> BoolVector:
        """(numbers,) which identities a selection means; false for free numbers."""
        self._bring_up_to_date()
        n = len(self._known)
        in_use: BoolVector = self._namespaces.codes[:n] > 0
        if not selection.parts:
            return np.zeros(n, dtype=np.bool_)
        for namespaces, selector in selection.parts:
            if namespaces is not None:
                in_use &= self._namespaces.is_one_of(namespaces, self._namespaces.codes[:n])
            if selector.nothing or not np.count_nonzero(in_use):
                return np.zeros(n, dtype=np.bool_)
            for requirement in selector.requirements:
                column = self._labels.column(requirement.key, self._all_labels)
                in_use &= column.satisfied_by(requirement, column.codes[:n])
        return in_use

    def weighed(self, weighted: Iterable[tuple[Selection, int]]) -> tuple[IntVector, IntVector]:
        """(numbers,) the sum of the weights of the selections that mean each identity, and how many these are."""
        self._bring_up_to_date()
        total, n_added = np.zeros(len(self._known), dtype=np.int64), np.zeros(len(self._known), dtype=np.int64)
        for selection, weight in weighted:
            selected = self.selected(selection)
            total += selected * np.int64(weight)
            n_added += selected
        return total, n_added

    def n_values(self) -> int:
        """How many label values there are in columns."""
        self._bring_up_to_date()
        return sum(len(column.values) - 1 for column in self._labels.values())

    def _all_labels(self) -> list[Mapping[str, str]]:
        return [_labels_of(one) for one in self._known]

    def _bring_up_to_date(self) -> None:
        log = self._identities.log
        if self._generation == log.generation:
            return
        n = len(self._identities)
        changed = log.since(self._generation)
        numbers = range(max(n, len(self._known))) if changed is None else changed
        self._generation = log.generation
        if n > self._capacity:
            self._capacity = 2 * n
            self._labels.grow(self._capacity)
            self._namespaces.grow(self._capacity)
        self._known += [None] * (n - len(self._known))
        for number in numbers:
            part = self._identities.values[number] if number < n else None
            self._set(number, None if part is None else part.value)
        del self._known[n:]

    def _set(self, number: int, new: Identity | None) -> None:
        if number >= len(self._known):
            return
        old, self._known[number] = self._known[number], new
        if old is not new:
            self._namespaces.set(number, None if new is None else new.namespace)
            self._labels.set(number, _labels_of(old), _labels_of(new))


def _labels_of(identity: Identity | None) -> Mapping[str, str]:
    return _NO_LABELS if identity is None else identity.labels
