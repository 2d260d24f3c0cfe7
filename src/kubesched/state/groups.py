"""How many pods of a kind are on each node: the relation behind spreading and inter-pod affinity.

A group is a question that some rule asks about pods, such as "pods of namespace a with app=web". Its answer, a count
per row, is kept while pods come and go; which groups a pod belongs to is looked up per distinct (namespace, labels),
not per pod.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from kubesched.engine import FloatVector, IntVector, grown
from kubesched.state.columns import NodeColumns
from kubesched.state.pod_info import Identity, Part, PodInfo

__all__ = ["PodGroup", "PodGroups"]

Predicate = Callable[[Identity], bool]
_MAX_GROUPS: Final = 1024


class PodGroup:
    """Pods that satisfy a predicate.

    Attributes:
        counts: (capacity,) int64, pods of the group on each row.
        total: pods of the group on all rows.
        includes_terminating: whether pods with a deletionTimestamp count.
    """

    __slots__ = ("_columns", "_domains", "counts", "includes_terminating", "predicate", "total")

    def __init__(self, predicate: Predicate, columns: NodeColumns, *, includes_terminating: bool) -> None:
        self.predicate = predicate
        self.includes_terminating = includes_terminating
        self.counts: IntVector = np.zeros(columns.capacity, dtype=np.int64)
        self.total = 0
        self._columns = columns
        self._domains: dict[str, FloatVector] = {}

    def move(self, row: int, n_pods: int) -> None:
        """Count pods in or out. A node's labels change only while its pods are counted out."""
        if row >= len(self.counts):
            self.counts = grown(self.counts, self._columns.capacity)
        self.counts[row] += n_pods
        self.total += n_pods
        for key, by_code in self._domains.items():
            code = self._columns.labels[key].codes[row]
            if code:
                if code >= len(by_code):
                    by_code = self._domains[key] = grown(by_code, len(self._columns.labels[key].values))
                by_code[code] += n_pods

    def count(self, rows: IntVector) -> None:
        """Begin with the pods on these rows, a row as often as it has pods."""
        self.counts = np.bincount(rows, minlength=self._columns.capacity)
        self.total = len(rows)

    def by_domain(self, topology_key: str) -> FloatVector:
        """Pods of the group in each domain of a label key.

        Returns: (values,) float64 by the number of the label's value; entry 0, nodes without the key, is 0. Read only.
        """
        by_code = self._domains.get(topology_key)
        label = self._columns.label(topology_key)
        if by_code is None:
            n_rows = min(len(self.counts), self._columns.n_rows)
            codes, counts = label.codes[:n_rows], self.counts[:n_rows]
            by_code = np.bincount(codes, weights=counts, minlength=len(label.values)).astype(np.float64)
            by_code[0] = 0
            self._domains[topology_key] = by_code
        elif len(by_code) < len(label.values):
            by_code = self._domains[topology_key] = grown(by_code, len(label.values))
        return by_code


class PodGroups:
    """All groups that have been asked for; the least recently used ones go when there are too many."""

    def __init__(self, columns: NodeColumns, max_groups: int = _MAX_GROUPS) -> None:
        self._columns = columns
        self._groups: OrderedDict[Hashable, PodGroup] = OrderedDict()
        self._max_groups = max_groups
        self._memberships: dict[Part[Identity], list[PodGroup]] = {}

    def group(self, key: Hashable, predicate: Predicate, *, includes_terminating: bool = True) -> PodGroup:
        """The group of a key, counted anew when it is not kept.

        Args:
            key: names the predicate; equal keys, equal predicates.
        """
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = self._counted(
                PodGroup(predicate, self._columns, includes_terminating=includes_terminating)
            )
            if len(self._groups) > self._max_groups:
                self._evict()
        else:
            self._groups.move_to_end(key)
        if len(group.counts) < self._columns.capacity:
            group.counts = grown(group.counts, self._columns.capacity)
        return group

    def move(self, row: int, info: PodInfo, sign: int) -> None:
        """A pod came to a row (+1) or left it (-1)."""
        if self._groups:
            terminating = info.pod.metadata.deletion_timestamp is not None
            for group in self._groups_of(info.identity):
                if group.includes_terminating or not terminating:
                    group.move(row, sign)

    def forget_all(self) -> None:
        """Drop every group; each is counted anew when it is asked for again."""
        self._groups.clear()
        self._memberships.clear()

    def _groups_of(self, identity: Part[Identity]) -> list[PodGroup]:
        found = self._memberships.get(identity)
        if found is None:
            found = [group for group in self._groups.values() if group.predicate(identity.value)]
            if len(self._memberships) > 65536:
                self._memberships.clear()
            self._memberships[identity] = found
        return found

    def _counted(self, group: PodGroup) -> PodGroup:
        for identity, memberships in self._memberships.items():
            if group.predicate(identity.value):
                memberships.append(group)
        columns = self._columns
        group.count(columns.pod_table.rows_of(group.predicate, includes_terminating=group.includes_terminating))
        return group

    def _evict(self) -> None:
        for _ in range(len(self._groups) - self._max_groups):
            self._groups.popitem(last=False)
        self._memberships.clear()
