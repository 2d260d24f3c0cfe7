"""Counts the pods that topology spread constraints select, per domain of their topology keys.

A pod may have a thousand constraints: what several of them share is computed once, and where no node counts, nothing
is counted.
"""

from typing import Final

import msgspec
import numpy as np

from kubesched.engine import BoolVector, FloatVector
from kubesched.plugins.spread_constraints import Constraint, Policies, both
from kubesched.state import Nodes, PodInfo, Rows, Snapshot

_NO_DOMAIN: Final = 2.0**31 - 1


class Domains(msgspec.Struct, eq=False):
    """Matching pods per domain of one hard constraint, and what a what-if table adds to that.

    Attributes:
        constraint: the constraint.
        counts: (values,) float64 by the number of the label's value.
        present: (values,) bool: whether some node that counts has the value.
        eligible: (slots,) bool per row: nodes that count and have all keys; None for all rows that have this key.
        delta: (positions,) float64, pods moved as seen from each node of a what-if table; None in the cycle itself.
    """

    constraint: Constraint
    counts: FloatVector
    present: BoolVector
    eligible: BoolVector | None
    delta: FloatVector | None = None

    def skew(self, nodes: Nodes) -> FloatVector:
        """(nodes,) what the skew of each node's domain becomes with the pod there."""
        codes = nodes.codes(self.constraint.topology_key)
        if self.delta is None:
            return self.skews().take(codes)
        here = self.counts.take(codes) + self.delta
        least = np.where(self.delta != 0, np.minimum(self._least_of_others()[codes], here), self._least())
        if not self._is_enough:
            least[:] = 0
        return here + self.constraint.selects_pod - least

    def skews(self) -> FloatVector:
        """(values,) what the skew of each domain becomes with the pod there, before any move."""
        return self.counts + self.constraint.selects_pod - (self._least() if self._is_enough else 0.0)

    @property
    def _is_enough(self) -> bool:
        """Whether there are as many domains as wanted; with fewer the least number is 0."""
        return int(np.count_nonzero(self.present)) >= self.constraint.min_domains

    def _least(self) -> float:
        return float(self.counts[self.present].min(initial=_NO_DOMAIN))

    def _least_of_others(self) -> FloatVector:
        """(values,) the smallest count among the domains other than each."""
        codes = np.flatnonzero(self.present)
        counts = self.counts[codes]
        others = np.full(len(self.counts), counts.min(initial=_NO_DOMAIN))
        if len(codes):
            lowest = int(counts.argmin())
            others[codes[lowest]] = np.delete(counts, lowest).min(initial=_NO_DOMAIN)
        return others

    def counted(self, nodes: Nodes) -> BoolVector:
        """(nodes,) whether pods on a node count."""
        if self.eligible is None:
            return nodes.codes(self.constraint.topology_key) > 0
        return self.eligible[nodes.all_rows]

    def moved(self, positions: Rows, sign: int, n_nodes: int) -> "Domains":
        """These domains after pods were moved, each as seen from its own node."""
        delta = np.zeros(n_nodes) if self.delta is None else self.delta.copy()
        np.add.at(delta, positions, sign)
        return Domains(self.constraint, self.counts, self.present, self.eligible, delta)


class Counts:
    """Counts matching pods per domain for the constraints of one pod; what constraints share is found once.

    Args:
        has_keys: (nodes,) bool: nodes that have all keys that a node must have to count; None for all.
    """

    def __init__(self, nodes: Nodes, pod: PodInfo, has_keys: BoolVector | None, snapshot: Snapshot) -> None:
        self._nodes = nodes
        self._pod = pod
        self._has_keys = has_keys
        self._snapshot = snapshot
        self._eligible: dict[Policies, _Eligible] = {}
        self._present: dict[tuple[str, Policies], BoolVector] = {}

    def domains(self, constraint: Constraint) -> Domains:
        """The domains of a hard constraint."""
        key, eligible = constraint.topology_key, self._eligible_of(constraint)
        present = self._present.get((key, constraint.policies))
        if present is None:
            present = self._present[key, constraint.policies] = self._nodes.values_present(key, eligible.mask)
            present[0] = False
        return Domains(constraint, self.of(constraint), present, eligible.by_row)

    def of(self, constraint: Constraint) -> FloatVector:
        """(values,) matching pods, not terminating, on nodes that count, per domain."""
        key, eligible = constraint.topology_key, self._eligible_of(constraint)
        n_values = len(self._nodes.label(key).values)
        if constraint.selector.is_empty or eligible.is_nowhere:
            return np.zeros(n_values)
        group = constraint.group(self._snapshot)
        if eligible.mask is None:
            return group.by_domain(key)
        counts = np.where(eligible.mask, self._nodes.take(group.counts), 0)
        by_code: FloatVector = np.bincount(self._nodes.codes(key), weights=counts, minlength=n_values).astype(
            np.float64
        )
        by_code[0] = 0
        return by_code

    def with_lacking(self, constraint: Constraint, needed: tuple[Constraint, ...]) -> FloatVector:
        """The same for a soft constraint: where no key is needed, nodes without it are in the domain of value ""."""
        counts, empty = self.of(constraint), self._nodes.label(constraint.topology_key).code("")
        if not needed and empty > 0 and not constraint.selector.is_empty:
            lacking = both(self._nodes.codes(constraint.topology_key) == 0, self._eligible_of(constraint).mask)
            counts = counts.copy()
            counts[empty] += self._nodes.take(constraint.group(self._snapshot).counts)[lacking].sum()
        return counts

    def _eligible_of(self, constraint: Constraint) -> "_Eligible":
        known = self._eligible.get(constraint.policies)
        if known is None:
            mask = both(self._has_keys, constraint.counting(self._nodes, self._pod))
            known = self._eligible[constraint.policies] = _Eligible(mask, self._nodes)
        return known


class _Eligible:
    """The nodes that count for the constraints with the same inclusion policies.

    Attributes:
        mask: (nodes,) bool; None for all nodes that have the key.
        by_row: the same per row of the columns, so that a what-if table can look it up.
        is_nowhere: whether there is none.
    """

    __slots__ = ("by_row", "is_nowhere", "mask")

    def __init__(self, mask: BoolVector | None, nodes: Nodes) -> None:
        self.mask = mask
        self.by_row = _by_row(nodes, mask)
        self.is_nowhere = mask is not None and not np.count_nonzero(mask)


def _by_row(nodes: Nodes, eligible: BoolVector | None) -> BoolVector | None:
    """The same per row of the columns, so that a what-if table can look it up."""
    if eligible is None or nodes.rows is None:
        return eligible
    slots = np.zeros(nodes.columns.n_rows, dtype=np.bool_)
    slots[nodes.rows] = eligible
    return slots
