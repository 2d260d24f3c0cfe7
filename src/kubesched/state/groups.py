"""Counts the pods of a kind on each node: the relation behind spreading and inter-pod affinity.

A group is a question that some rule asks about pods, such as "pods of namespace a with app=web". Its answer, a count
per row, is kept while pods come and go; which groups a pod belongs to is looked up per distinct (namespace, labels),
not per pod.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import Final

import msgspec
import numpy as np

from kubesched.engine import FloatVector, Interner, IntVector, grown
from kubesched.state.columns import NodeColumns
from kubesched.state.pod_info import Identity, Part, PodInfo

Predicate = Callable[[Identity], bool]
_MAX_GROUPS: Final = 1024
_MAX_UNUSED: Final = 20_000  # a pod asks for some two groups, so this is about ten thousand pods
_BUDGET: Final = 64 * 1024 * 1024
_OVERHEAD: Final = 2560  # bytes of a group without its arrays: objects, key, predicate, memberships; 2,200 measured


class CountedGroup:
    """Pods that satisfy a predicate.

    Attributes:
        counts: (capacity,) int64, pods of the group on each row.
        includes_terminating: whether pods with a deletionTimestamp count.
        number: its number among the groups that are kept.
        used: the number of its last use.
    """

    __slots__ = ("_columns", "_domains", "counts", "includes_terminating", "number", "predicate", "used")

    def __init__(self, predicate: Predicate, columns: NodeColumns, *, includes_terminating: bool) -> None:
        self.predicate = predicate
        self.includes_terminating = includes_terminating
        self.counts: IntVector = np.zeros(columns.capacity, dtype=np.int64)
        self.number = -1
        self.used = 0
        self._columns = columns
        self._domains: dict[str, FloatVector] = {}

    @property
    def n_bytes(self) -> int:
        """The memory that the group takes, its overhead as an estimate."""
        return self.counts.nbytes + sum(by_code.nbytes for by_code in self._domains.values()) + _OVERHEAD

    def move(self, row: int, n_pods: int) -> None:
        """Count pods in or out. A node's labels change only while its pods are counted out."""
        if row >= len(self.counts):
            self.counts = grown(self.counts, self._columns.capacity)
        self.counts[row] += n_pods
        for key, by_code in self._domains.items():
            label = self._columns.label(key)
            code = label.codes[row]
            if code:
                if code >= len(by_code):
                    by_code = self._domains[key] = grown(by_code, len(label.values))
                by_code[code] += n_pods

    def count(self, rows: IntVector) -> None:
        """Begin with the pods on these rows, a row as often as it has pods."""
        self.counts = np.bincount(rows, minlength=self._columns.capacity)

    def by_domain(self, topology_key: str) -> FloatVector:
        """Pods of the group in each domain of a label key.

        Returns: (values,) float64 by the number of the label's value; entry 0, nodes without the key, is 0. Read only.
        """
        by_code = self._domains.get(topology_key)
        label = self._columns.label(topology_key)
        if not label.n_labelled:  # not kept: a pod may ask for any number of keys that no node has
            return np.zeros(1)
        if by_code is None:
            n_rows = min(len(self.counts), self._columns.n_rows)
            codes, counts = label.codes[:n_rows], self.counts[:n_rows]
            by_code = np.bincount(codes, weights=counts, minlength=len(label.values)).astype(np.float64)
            by_code[0] = 0
            self._drop_lost_keys()
            self._domains[topology_key] = by_code
        elif len(by_code) < len(label.values):
            by_code = self._domains[topology_key] = grown(by_code, len(label.values))
        elif len(by_code) > len(label.values):  # the last values have no node any more, and so no pods
            by_code = self._domains[topology_key] = by_code[: len(label.values)].copy()
        return by_code

    def _drop_lost_keys(self) -> None:
        """Forget the domains of keys that no node has any more."""
        for key in [key for key in self._domains if not self._columns.label(key).n_labelled]:
            del self._domains[key]


class PodGroups:
    """All groups that have been asked for; the least recently used ones go when they take too much memory.

    Those go as well that were not asked for in a long time: every new identity is tested against each group.

    Attributes:
        budget: bytes that the groups may take together.
        max_unused: uses of other groups after which a group goes.
    """

    def __init__(
        self, columns: NodeColumns, max_groups: int = _MAX_GROUPS, budget: int = _BUDGET, max_unused: int = _MAX_UNUSED
    ) -> None:
        self.budget = budget
        self.max_unused = max_unused
        self._n_uses = 0
        self._columns = columns
        self._groups: OrderedDict[Hashable, CountedGroup] = OrderedDict()
        self._max_groups = max_groups
        self._n_unweighed = 0  # groups that came since memory was added up
        self._numbers: Interner[CountedGroup] = Interner()

    def __len__(self) -> int:
        return len(self._groups)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._groups

    @property
    def n_bytes(self) -> int:
        """What the groups take; added up when asked for, because they grow on their own."""
        return sum(group.n_bytes for group in self._groups.values())

    def group(self, key: Hashable, predicate: Predicate, *, includes_terminating: bool = True) -> CountedGroup:
        """The group of a key, counted again when it is not kept.

        Args:
            key: names the predicate; equal keys, equal predicates.
        """
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = self._counted(
                CountedGroup(predicate, self._columns, includes_terminating=includes_terminating)
            )
            self._evict()
        else:
            self._groups.move_to_end(key)
        self._n_uses += 1
        group.used = self._n_uses
        if len(group.counts) < self._columns.capacity:
            group.counts = grown(group.counts, self._columns.capacity)
        return group

    def move(self, row: int, info: PodInfo, sign: int) -> None:
        """A pod came to a row (+1) or left it (-1)."""
        if self._groups:
            terminating = info.pod.metadata.deletion_timestamp is not None
            for group in self.of(info.identity):
                if group.includes_terminating or not terminating:
                    group.move(row, sign)

    def of(self, identity: Part[Identity]) -> Collection[CountedGroup]:
        """The groups that pods of an identity belong to; only those that came or went since are looked at."""
        generation = self._numbers.log.generation
        known: Memberships | None = identity.compiled.get(self)
        if known is None or known.generation != generation:
            known = identity.compiled[self] = self._refreshed(known, identity.value)
            known.generation = generation
        return known.groups.values()

    def forget_all(self) -> None:
        """Drop every group; each is counted again on its next use."""
        while self._groups:
            self._drop_oldest()

    def _refreshed(self, known: "Memberships | None", pod: Identity) -> "Memberships":
        changed = None if known is None else self._numbers.log.since(known.generation)
        if known is None or changed is None:
            known, changed = Memberships(), list(range(len(self._numbers)))
        for number in changed:
            known.groups.pop(number, None)
            group = self._numbers.values[number] if number < len(self._numbers) else None
            if group is not None and group.predicate(pod):
                known.groups[number] = group
        return known

    def _counted(self, group: CountedGroup) -> CountedGroup:
        group.number, group.used = self._numbers.number(group), self._n_uses
        table = self._columns.pod_table
        group.count(table.rows_of(group.predicate, includes_terminating=group.includes_terminating))
        return group

    def _evict(self) -> None:
        """Keep to the limits. Memory is added up when an eighth of the groups is new: it is work for each of them."""
        self._n_unweighed += 1
        n_bytes = 0
        if 8 * self._n_unweighed >= len(self._groups):
            self._n_unweighed, n_bytes = 0, self.n_bytes
        while len(self._groups) > 1 and (len(self._groups) > self._max_groups or n_bytes > self.budget):
            n_bytes -= self._drop_oldest().n_bytes
        while self._n_uses - next(iter(self._groups.values())).used > self.max_unused:
            self._drop_oldest()

    def _drop_oldest(self) -> CountedGroup:
        _, group = self._groups.popitem(last=False)
        self._numbers.give_back(group.number)
        return group


class Memberships(msgspec.Struct, eq=False):
    """The groups that pods of one identity belong to.

    Attributes:
        groups: by number.
        generation: when that was found out.
    """

    groups: dict[int, CountedGroup] = {}
    generation: int = -1
