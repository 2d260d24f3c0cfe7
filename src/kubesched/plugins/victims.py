"""Finds the pods to evict from each of some nodes so that another pod fits, and the node that costs least.

Rule: kube-scheduler v1.36 preemption: SelectVictimsOnNode and pickOneNodeForPreemption. All nodes of a table are asked
at once: every pod of lower priority is taken off, then the most important victim of every node is put back, then the
second, and so on, with the filters asked once per round. Pods and nodes are arrays throughout; names appear for the
node that is chosen.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.engine import BoolVector, IntVector, runs
from kubesched.framework import FilterResult, MovedPods, VictimsOf
from kubesched.state import Budgets, PodBatch, PodInfo, Rows

_OFFSET: Final = 2**31  # makes every priority positive


class PreemptionCandidates:
    """Nodes that would do, with the pods that would have to go.

    Attributes:
        node_names: one per candidate.
        n_violations: (candidates,) how many victims a disruption budget protects.
    """

    __slots__ = ("_of", "_priority", "_start", "n_violations", "node_names", "victims")

    def __init__(self, node_names: list[str], victims: PodBatch, of: Rows, n_violations: IntVector) -> None:
        """Take the candidates as arrays.

        Args:
            victims: of all candidates, candidate by candidate, the most important first.
            of: (victims,) which candidate each belongs to, ascending; each has one at least.
        """
        self.node_names = node_names
        self.victims = victims
        self.n_violations = n_violations
        self._of = of
        self._priority = victims.priorities
        self._start = victims.starts

    def __len__(self) -> int:
        return len(self.node_names)

    def best(self) -> int:
        """The candidate that costs least; the first of equals.

        Rule: kube-scheduler v1.36 pickOneNodeForPreemption: fewest violations, lowest highest priority, lowest sum of
        priorities, fewest victims, latest start among the victims of highest priority.
        """
        n = len(self.node_names)
        first = np.searchsorted(self._of, np.arange(n))
        highest = self._priority[first]
        total = np.zeros(n, dtype=np.int64)
        np.add.at(total, self._of, self._priority + _OFFSET)
        count = np.bincount(self._of, minlength=n)
        among_highest = self._priority == np.maximum.reduceat(self._priority, first)[self._of]
        earliest = np.minimum.reduceat(np.where(among_highest, self._start, np.inf), first)
        return int(np.lexsort((-earliest, count, total, highest, self.n_violations))[0])

    def victims_of(self, candidate: int) -> list[PodInfo]:
        """The pods that would have to leave one node, the most important first."""
        low, high = np.searchsorted(self._of, (candidate, candidate + 1))
        return list(self.victims.chosen(np.arange(low, high)).infos)

    @classmethod
    def of(cls, victims: Mapping[str, VictimsOf]) -> "PreemptionCandidates":
        """The candidates by name; each has one victim at least."""
        infos = [info for one in victims.values() for info in one.pods]
        of = np.repeat(np.arange(len(victims)), [len(one.pods) for one in victims.values()])
        n_violations = np.array([one.n_pdb_violations for one in victims.values()], dtype=np.int64)
        return cls(list(victims), PodBatch(infos), of, n_violations)

    @classmethod
    def joined(cls, parts: Sequence["PreemptionCandidates"]) -> "PreemptionCandidates":
        """The candidates of several tables, one after another."""
        names = [name for part in parts for name in part.node_names]
        starts = np.cumsum([0, *[len(part) for part in parts]])
        of = np.concatenate([part._of + start for part, start in zip(parts, starts, strict=False)])
        victims = PodBatch.joined([part.victims for part in parts])
        return cls(names, victims, of, np.concatenate([part.n_violations for part in parts]))

    def only(self, keep: Sequence[int]) -> "PreemptionCandidates":
        """Some of the candidates, in the order given."""
        chosen = [np.flatnonzero(self._of == candidate) for candidate in keep]
        of = np.repeat(np.arange(len(keep)), [len(which) for which in chosen])
        which = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.intp)
        names = [self.node_names[candidate] for candidate in keep]
        return PreemptionCandidates(names, self.victims.chosen(which), of, self.n_violations[list(keep)])


def find_victims(
    what_if: MovedPods, lower: PodBatch, positions: Rows, budgets: Budgets
) -> tuple[PreemptionCandidates, FilterResult]:
    """Dry-run preemption on every node of a what-if table.

    Args:
        what_if: the table, nothing moved yet.
        lower: the pods of lower priority, node by node, the most important first.
        positions: (pods,) the node of each, ascending; every node has one at least.
    Returns: the candidates, and the verdicts of the filters without all those pods. A node that fits then and is not
        a candidate needs no victim.
    """
    nodes = what_if.nodes
    what_if.remove(positions, lower)
    emptied = what_if.filter()
    violating = _violating(lower, positions, budgets)
    is_victim = _reprieve(what_if, lower, positions, violating, emptied.fits)
    chosen = np.flatnonzero(is_victim)
    with_victims, of = runs(positions[chosen])
    n_violations = np.bincount(positions, weights=violating & is_victim, minlength=len(nodes)).astype(np.int64)
    candidates = PreemptionCandidates(
        [nodes.name(position) for position in with_victims.tolist()],
        lower.chosen(chosen),
        of,
        n_violations[with_victims],
    )
    return candidates, emptied


def _reprieve(
    what_if: MovedPods, lower: PodBatch, positions: Rows, violating: BoolVector, fits: BoolVector
) -> BoolVector:
    """(pods,) which pods cannot be put back: round by round, on every node the next in turn, budget breakers first."""
    is_victim = np.zeros(len(lower), dtype=np.bool_)
    open_pods = fits[positions]
    if not open_pods.any():
        return is_victim
    order = np.lexsort((~violating, positions))  # stable: importance is kept within both groups
    first = np.searchsorted(positions[order], positions[order])
    turn = np.empty(len(lower), dtype=np.intp)
    turn[order] = np.arange(len(lower)) - first
    for now in range(int(turn[open_pods].max(initial=-1)) + 1):
        back = np.flatnonzero(open_pods & (turn == now))
        what_if.add(positions[back], lower.chosen(back))
        fails = ~what_if.fits()[positions[back]]
        if fails.any():
            stay_out = back[fails]
            what_if.remove(positions[stay_out], lower.chosen(stay_out))
            is_victim[stay_out] = True
    return is_victim


def _violating(lower: PodBatch, positions: Rows, budgets: Budgets) -> BoolVector:
    """(pods,) whether evicting a pod, after the more important ones of its node, would break a budget.

    Every budget that a pod counts against loses one, also when another is broken already.
    """
    violating = np.zeros(len(lower), dtype=np.bool_)
    identities, which = lower.identities() if budgets else ([], np.zeros(0, dtype=np.intp))
    for budget in [budget for namespace in {pod.namespace for pod in identities} for budget in budgets.of(namespace)]:
        protects = np.array([budget.protects(identity) for identity in identities], dtype=np.bool_)
        if not protects.any():
            continue
        counted = protects[which]
        if budget.disrupted:
            counted &= np.array([info.pod.name not in budget.disrupted for info in lower.infos])
        violating |= counted & (_rank(counted, positions) > budget.allowed)
    return violating


def _rank(counted: BoolVector, positions: Rows) -> IntVector:
    """(pods,) how many pods up to this one, of the same node, are counted."""
    running: npt.NDArray[np.int64] = np.cumsum(counted)
    before = running - counted
    first = np.searchsorted(positions, positions)
    return running - before[first]
