"""Which pods would have to leave a node so that another fits, and which of several nodes to take.

Rule: kube-scheduler v1.36 preemption: SelectVictimsOnNode, MoreImportantPod, pickOneNodeForPreemption. All nodes of a table are
asked at once: every pod of lower priority is taken off, then the most important victim of every node is put back, then the second,
and so on, with the filters asked once per round.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Final

import numpy as np

from kubesched.api import Pod, PodDisruptionBudget, Selector, parse_selector
from kubesched.errors import SelectorError
from kubesched.framework import Code, Status, WhatIf
from kubesched.state import Nodes, PodInfo

__all__ = ["Budget", "Candidate", "by_importance", "find_victims", "pick_candidate"]

NO_VICTIMS: Final = Status.unresolvable("No preemption victims found for incoming pod")
_STABLE_SORT: Final = 12  # up to here Go's sort.Slice is an insertion sort
_OFFSET: Final = 2**31  # makes every priority positive


class Candidate:
    """A node that would do.

    Attributes:
        node_name: its name.
        victims: the pods that would have to go, most important first.
        n_violations: how many of them a disruption budget protects.
    """

    __slots__ = ("n_violations", "node_name", "victims")

    def __init__(self, node_name: str, victims: list[PodInfo], n_violations: int) -> None:
        self.node_name = node_name
        self.victims = victims
        self.n_violations = n_violations

    def cost(self) -> tuple[int, int, int, int, float]:
        """Smaller is better; each number counts only among candidates that those before it do not tell apart."""
        priorities = [victim.priority for victim in self.victims]
        highest = max(priorities)
        first_start = min(victim.start for victim in self.victims if victim.priority == highest)
        total = sum(priority + _OFFSET for priority in priorities)
        return self.n_violations, priorities[0], total, len(priorities), -first_start


class Budget:
    """A PodDisruptionBudget with its selector parsed.

    Attributes:
        allowed: evictions that it still allows.
    """

    __slots__ = ("_disrupted", "_namespace", "_selector", "allowed")

    def __init__(self, budget: PodDisruptionBudget) -> None:
        self.allowed = budget.status.disruptions_allowed
        self._namespace = budget.namespace
        self._disrupted = budget.status.disrupted_pods or {}
        try:
            self._selector = parse_selector(budget.spec.selector)
        except SelectorError:
            self._selector = Selector(nothing=True)

    def protects(self, pod: Pod) -> bool:
        """Whether evicting the pod counts against the budget; an empty selector and a pod without labels never match."""
        return (
            pod.namespace == self._namespace
            and bool(pod.labels)
            and not self._selector.is_empty
            and self._selector.matches(pod.labels)
            and pod.name not in self._disrupted
        )


class _Trial:
    """One node while its victims are found."""

    __slots__ = ("both_groups", "n_violating", "n_violations", "position", "queue", "victims")

    def __init__(self, position: int, pods: list[PodInfo], budgets: Sequence[Budget]) -> None:
        violating, others = split_by_budgets(by_importance(pods), budgets)
        self.position = position
        self.queue = violating + others
        self.n_violating = len(violating)
        self.both_groups = bool(violating) and bool(others)
        self.victims: list[PodInfo] = []
        self.n_violations = 0

    def keep_out(self, turn: int) -> None:
        """The pod of this turn does not fit beside the preemptor: it is a victim."""
        self.victims.append(self.queue[turn])
        self.n_violations += turn < self.n_violating


def find_victims(what_if: WhatIf, pods: list[list[PodInfo]], budgets: Sequence[Budget]) -> list[Candidate | Status]:
    """Dry-run preemption on every node of a what-if table.

    Args:
        what_if: the table, nothing moved yet.
        pods: per node, the pods of lower priority; none of the lists empty.
    Returns: per node a candidate, or why it is none.
    """
    positions = [position for position, lower in enumerate(pods) for _ in lower]
    what_if.remove(positions, [pod for lower in pods for pod in lower])
    first = what_if.filter()
    outcome: list[Candidate | Status | None] = [None] * len(pods)
    if not first.all_fit:
        statuses = first.statuses()
        for position in np.flatnonzero(~first.fits).tolist():
            outcome[position] = statuses[position]
    trials = [_Trial(i, lower, budgets) for i, lower in enumerate(pods) if outcome[i] is None]
    for turn in range(max((len(trial.queue) for trial in trials), default=0)):
        _put_back(what_if, [trial for trial in trials if turn < len(trial.queue)], turn)
    names = what_if.nodes.names
    for trial in trials:
        outcome[trial.position] = _candidate(names[trial.position], trial)
    return [found for found in outcome if found is not None]


def _put_back(what_if: WhatIf, trials: list[_Trial], turn: int) -> None:
    """Give every node its next pod back where it fits beside the preemptor."""
    what_if.add([trial.position for trial in trials], [trial.queue[turn] for trial in trials])
    fits = what_if.filter().fits
    failed = [trial for trial in trials if not fits[trial.position]]
    if failed:
        what_if.remove([trial.position for trial in failed], [trial.queue[turn] for trial in failed])
        for trial in failed:
            trial.keep_out(turn)


def _candidate(node_name: str, trial: _Trial) -> Candidate | Status:
    if not trial.victims:
        return Status.error(f'expected at least one victim pod on node "{node_name}"')
    victims = by_importance(trial.victims) if trial.both_groups else trial.victims
    return Candidate(node_name, victims, trial.n_violations)


def by_importance(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Sort pods, the most important first: higher priority, then the earlier start.

    Rule: kube-scheduler v1.36 MoreImportantPod with sort.Slice. A pod without start time has "now", asked for the left one first, so
    that of two such pods each precedes the other: up to 12 pods they come out in reverse order.
    """
    if len(pods) > _STABLE_SORT or all(pod.start != inf for pod in pods):
        return sorted(pods, key=lambda pod: (-pod.priority, pod.start))
    ordered: list[PodInfo] = []
    for pod in pods:
        place = len(ordered)
        while place and _precedes(pod, ordered[place - 1]):
            place -= 1
        ordered.insert(place, pod)
    return ordered


def _precedes(a: PodInfo, b: PodInfo) -> bool:
    if a.priority != b.priority:
        return a.priority > b.priority
    return a.start < b.start or a.start == b.start == inf


def split_by_budgets(pods: Iterable[PodInfo], budgets: Sequence[Budget]) -> tuple[list[PodInfo], list[PodInfo]]:
    """(pods whose eviction would break a budget, the others), each in the given order.

    Every budget that a pod counts against loses one, also when another is broken already.
    """
    allowed = [budget.allowed for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for info in pods:
        is_violating = False
        for i, budget in enumerate(budgets):
            if budget.protects(info.pod):
                allowed[i] -= 1
                is_violating = is_violating or allowed[i] < 0
        (violating if is_violating else others).append(info)
    return violating, others


def pick_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """The node that preemption costs least; the first of equals."""
    return min(candidates, key=Candidate.cost)


def lower_priority_pods(nodes: Nodes, position: int, priority: int) -> list[PodInfo]:
    """The pods on a node that a pod of this priority may evict, in NodeInfo order."""
    return [info for info in nodes.pods(position) if info.priority < priority]
