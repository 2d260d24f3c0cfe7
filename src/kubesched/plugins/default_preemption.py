"""DefaultPreemption: when no node fits, find the node where evicting pods of lower priority helps most.

Rule: kube-scheduler v1.36 DefaultPreemption and its preemption Evaluator. Upstream starts its search at a random node and examines
nodes in parallel until it has enough candidates; this starts where `handle.rng` says and walks in order.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Pod, PodDisruptionBudget
from kubesched.framework import (
    Code,
    CycleState,
    Diagnosis,
    EventRegistration,
    Plugin,
    PostFilterResult,
    QueueingHint,
    Status,
    fit_error,
)
from kubesched.plugins.args import DefaultPreemptionArgs
from kubesched.plugins.victims import (
    NO_VICTIMS,
    Budget,
    Candidate,
    find_victims,
    lower_priority_pods,
    pick_candidate,
)
from kubesched.state import Nodes, PodInfo, Rows

__all__ = ["DefaultPreemption"]

_NOT_HELPFUL: Final = Status.unresolvable("Preemption is not helpful for scheduling")
_CHUNK: Final = 128


class DefaultPreemption(Plugin):
    """Make room by eviction."""

    Args = DefaultPreemptionArgs
    args: DefaultPreemptionArgs
    reads = ("PodDisruptionBudget",)

    def pre_enqueue(self, pod: Pod) -> Status:
        """A pod whose victims are still being evicted waits for that to end."""
        if pod.uid in self.handle.preempting:
            return Status.unresolvable("waiting for the preemption for this pod to be finished")
        return Status.SUCCESS

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[PostFilterResult | None, Status]:
        """Nominate the node that preemption costs least, with the pods to evict there."""
        result, status = self._preempt(state, pod, diagnosis)
        if status.reasons:
            status = Status(status.code, (f"preemption: {status.message}",))
        return result, status

    def _preempt(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[PostFilterResult | None, Status]:
        nodes = self.handle.snapshot().nodes
        refusal = self._why_not_eligible(pod, diagnosis, nodes)
        if refusal:
            return None, Status.unschedulable(refusal)
        positions = _potential(diagnosis, nodes)
        candidates, failures = self._candidates(state, pod, nodes, positions)
        if not candidates:
            return _no_candidates(failures, len(nodes))
        kept = self._asked_others(state, pod, candidates)
        if not kept:
            return None, Status.unschedulable("no candidate node for preemption")
        best = pick_candidate(kept)
        return PostFilterResult(best.node_name, tuple(best.victims), best.n_violations), Status.SUCCESS

    def _why_not_eligible(self, pod: Pod, diagnosis: Diagnosis, nodes: Nodes) -> str:
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = pod.status.nominated_node_name
        if not nominated or diagnosis.status_of(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        position = nodes.position_of(nominated)
        leaving = [] if position is None else lower_priority_pods(nodes, position, pod.priority)
        if any(_is_being_preempted(info.pod) for info in leaving):
            return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _candidates(
        self, state: CycleState, pod: Pod, nodes: Nodes, positions: Rows
    ) -> tuple[list[Candidate], list[Status]]:
        """Dry runs from a random node on, until there are enough candidates, one of which breaks no budget."""
        n_nodes = len(positions)
        share = n_nodes * self.args.min_candidate_nodes_percentage // 100
        wanted = min(max(share, self.args.min_candidate_nodes_absolute), n_nodes)
        offset = self.handle.rng.randrange(n_nodes) if n_nodes > wanted else 0
        order = np.roll(positions, -offset)
        budgets = [Budget(budget) for budget in self.handle.list("PodDisruptionBudget")]
        clean: list[Candidate] = []
        violating: list[Candidate] = []
        failures: list[Status] = []
        for start in range(0, n_nodes, max(wanted, _CHUNK)):
            chunk = order[start : start + max(wanted, _CHUNK)]
            for found in self._dry_run(state, pod, nodes.select(chunk), budgets):
                if isinstance(found, Status):
                    failures.append(found)
                elif len(kind := violating if found.n_violations else clean) < wanted:
                    kind.append(found)
            if clean and len(clean) + len(violating) >= wanted:
                break
        return clean + violating, failures

    def _dry_run(
        self, state: CycleState, pod: Pod, nodes: Nodes, budgets: Sequence[Budget]
    ) -> list[Candidate | Status]:
        lower = [lower_priority_pods(nodes, position, state.pod.priority) for position in range(len(nodes))]
        occupied = np.array([i for i, pods in enumerate(lower) if pods], dtype=np.intp)
        outcome: list[Candidate | Status] = [NO_VICTIMS] * (len(nodes) - len(occupied))
        if len(occupied):
            what_if = self.handle.what_if(state, pod, nodes.select(occupied))
            outcome += find_victims(what_if, [lower[i] for i in occupied.tolist()], budgets)
        return outcome

    def _asked_others(self, state: CycleState, pod: Pod, candidates: list[Candidate]) -> list[Candidate]:
        """Let the other plugins strike nodes or victims from the plan."""
        for plugin in self.handle.preempt_plugins:
            plan = {candidate.node_name: tuple(candidate.victims) for candidate in candidates}
            kept = plugin.preempt(state, pod, plan)
            n_violations = {candidate.node_name: candidate.n_violations for candidate in candidates}
            candidates = [
                Candidate(name, list(victims), n_violations[name]) for name, victims in kept.items() if victims
            ]
        return candidates

    def events_to_register(self) -> list[EventRegistration]:
        """A pod that leaves; never enough by itself, because the plugins that rejected the pod decide."""
        return [EventRegistration(ClusterEvent(EventResource.POD, ActionType.DELETE), _never)]


def _never(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return QueueingHint.SKIP


def _potential(diagnosis: Diagnosis, nodes: Nodes) -> Rows:
    """Positions of nodes where removing pods may help: those whose status is exactly Unschedulable."""
    names = nodes.names
    if diagnosis.result is None:
        helpful = diagnosis.absent.code is Code.UNSCHEDULABLE
        found = set(range(len(nodes))) if helpful else set()
    else:
        rows = diagnosis.result.nodes.all_rows[diagnosis.statuses().with_code(Code.UNSCHEDULABLE)]
        if not diagnosis.explicit:
            return rows if nodes.rows is None else np.searchsorted(nodes.rows, rows)
        place = {row: position for position, row in enumerate(nodes.all_rows.tolist())}
        found = {place[row] for row in rows.tolist()}
    for position, name in enumerate(names) if diagnosis.explicit else ():
        status = diagnosis.explicit.get(name)
        if status is not None:
            (found.add if status.code is Code.UNSCHEDULABLE else found.discard)(position)
    return np.array(sorted(found), dtype=np.intp)


def _is_being_preempted(pod: Pod) -> bool:
    if not pod.is_terminating:
        return False
    for condition in pod.status.conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _no_candidates(failures: list[Status], n_nodes: int) -> tuple[PostFilterResult | None, Status]:
    """Clear the nomination and say why no node helps; an error of a dry run is an error of the whole."""
    errors = list(dict.fromkeys(status.message for status in failures if status.code is Code.ERROR))
    if errors:
        return None, Status.error(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    counted = [(status, 1) for status in failures]
    return PostFilterResult(""), Status.unschedulable(fit_error(n_nodes, counted, _NOT_HELPFUL))


def as_victims(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """The pods that have to be deleted: one that is on its way out already is not deleted again."""
    return [info for info in pods if not info.pod.is_terminating]
