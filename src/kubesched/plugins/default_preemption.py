"""DefaultPreemption: when no node fits, find the node where evicting pods of lower priority helps most.

Rule: kube-scheduler v1.36 DefaultPreemption and its preemption Evaluator. Upstream starts its search at a random node
and examines nodes in parallel until it has enough candidates; this starts where `handle.rng` says and walks in order.
"""

from typing import Any, Final

import numpy as np

from kubesched.api import ActionType, EventResource, Pod
from kubesched.engine import runs
from kubesched.framework import (
    CalledExtenders,
    Code,
    CycleState,
    Diagnosis,
    EventRegistration,
    Handle,
    Plugin,
    PluginFault,
    PostFilterAnswer,
    PostFiltered,
    PostFilterResult,
    QueueingHint,
    Status,
    VictimsOf,
    fit_error,
    strike_nodes,
)
from kubesched.plugins.args import DefaultPreemptionArgs
from kubesched.plugins.shared_hints import nothing, registration
from kubesched.plugins.victims import PreemptionCandidates, find_victims
from kubesched.state import Nodes, PodInfo, Rows

_NO_VICTIMS: Final = Status.unresolvable("No preemption victims found for incoming pod")
_NOT_HELPFUL: Final = Status.unresolvable("Preemption is not helpful for scheduling")
_VICTIMS_LEAVE: Final = Status.unresolvable("waiting for the preemption for this pod to be finished")
_CHUNK: Final = 128


class DefaultPreemption(Plugin):
    """Make room by eviction."""

    Args = DefaultPreemptionArgs
    args: DefaultPreemptionArgs
    reads = ("PodDisruptionBudget",)

    def pre_enqueue(self, pod: Pod) -> Status:
        """A pod whose victims are still being evicted waits for that to end."""
        if pod.uid in self.handle.preempting:
            return _VICTIMS_LEAVE
        return Status.SUCCESS

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> PostFilterAnswer:
        """Nominate the node that preemption costs least, with the pods to evict there."""
        candidates = self._candidates(state, pod, diagnosis)
        if isinstance(candidates, tuple):
            return _in_words(*candidates)
        if self.handle.extenders is not None:
            return self._nominate_later(self.handle.extenders, state.pod, candidates)
        return self._nominate(candidates)

    def _candidates(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> "PreemptionCandidates | PostFiltered":
        """The nodes that would do, or why there are none."""
        nodes = self.handle.snapshot().nodes
        refusal = self._why_not_eligible(pod, diagnosis, nodes)
        if refusal:
            return None, Status.unschedulable(refusal)
        kept = _kept(diagnosis)
        potential = kept.get("potential")
        if potential is None:
            potential = kept["potential"] = nodes.select(_potential(diagnosis, nodes))
        begin = self._begin(len(potential))  # drawn in any case: what is drawn later does not depend on what is kept
        failed: PostFiltered | None = kept.get((self, state.pod.priority))
        if failed is not None:
            return failed
        search = self._search(state, pod, potential, begin)
        candidates = search.candidates()
        if candidates is None:
            failed = _no_candidates(search.failures, len(nodes))
            if failed[0] is not None:  # else a plugin failed
                kept[self, state.pod.priority] = failed
            return failed
        if self.handle.preempt_plugins:
            return self._asked_others(state, pod, candidates)
        return candidates

    async def _nominate_later(
        self, extenders: CalledExtenders, pod: PodInfo, candidates: PreemptionCandidates
    ) -> PostFiltered:
        """Ask the extenders first; they may leave out and add nodes, and name other victims."""
        victims = {
            name: VictimsOf(tuple(candidates.victims_of(i)), int(candidates.n_violations[i]))
            for i, name in enumerate(candidates.node_names)
        }
        try:
            kept = await extenders.preempt(pod, self.handle.snapshot(), victims)
        except PluginFault as fault:
            return _in_words(None, fault.status)
        return self._nominate(candidates if kept is victims else PreemptionCandidates.of(kept))

    def _nominate(self, candidates: PreemptionCandidates) -> PostFiltered:
        """The candidate that costs least; since v1.37 with a text."""
        if not len(candidates):
            return _in_words(None, Status.unschedulable("no candidate node for preemption"))
        best = candidates.best()
        name, victims = candidates.node_names[best], tuple(candidates.victims_of(best))
        result = PostFilterResult(name, victims, int(candidates.n_violations[best]))
        if self.release.before(37):
            return result, Status.SUCCESS
        text = f"found a potential placement for pod on node {name}, preempting {len(victims)} victims"
        return _in_words(result, Status(Code.SUCCESS, (text,)))

    def _why_not_eligible(self, pod: Pod, diagnosis: Diagnosis, nodes: Nodes) -> str:
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = pod.status.nominated_node_name
        if not nominated or diagnosis.status_of(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        position = nodes.position_of(nominated)
        there = () if position is None else nodes.pods(position)
        if any(info.priority < pod.priority and _is_being_preempted(info.pod) for info in there):
            return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _wanted(self, n_nodes: int) -> int:
        """After how many candidates a search of some nodes may end."""
        share = n_nodes * self.args.min_candidate_nodes_percentage // 100
        return min(max(share, self.args.min_candidate_nodes_absolute), n_nodes)

    def _begin(self, n_nodes: int) -> int:
        """Where the search begins: anywhere, unless it will look at all."""
        return self.handle.rng.randrange(n_nodes) if n_nodes > self._wanted(n_nodes) else 0

    def _search(self, state: CycleState, pod: Pod, nodes: Nodes, begin: int) -> "_Search":
        """Dry runs from one node on, until there are enough candidates, one of which breaks no budget."""
        wanted = self._wanted(len(nodes))
        order = np.roll(np.arange(len(nodes)), -begin)
        search = _Search(self.handle, state, pod)
        start, size = 0, max(wanted + wanted // 4, _CHUNK)  # some nodes will not do
        while start < len(nodes) and not (search.n_clean and search.n_found >= wanted):
            search.look_at(nodes.select(order[start : start + size]))
            start += size
            if not search.n_found:  # eviction may help nowhere: what is left costs less at once
                size = len(nodes)
        return search

    def _asked_others(self, state: CycleState, pod: Pod, candidates: PreemptionCandidates) -> PreemptionCandidates:
        """Let the other plugins strike nodes from the plan."""
        names = candidates.node_names
        plan = {name: tuple(candidates.victims_of(i)) for i, name in enumerate(names)}
        kept = strike_nodes(self.handle.preempt_plugins, state, pod, plan)
        return candidates.only([i for i, name in enumerate(names) if name in kept])

    def events_to_register(self) -> list[EventRegistration]:
        """A pod that leaves; never enough by itself, because the plugins that rejected the pod decide."""
        return [registration(EventResource.POD, ActionType.DELETE, lambda pod, old, new: QueueingHint.SKIP, nothing)]


def _in_words(result: PostFilterResult | None, status: Status) -> PostFiltered:
    if status.reasons:
        status = Status(status.code, (f"preemption: {status.message}",))
    return result, status


class _Search:
    """The nodes looked at so far: those that would do, and why the others would not."""

    def __init__(self, handle: Handle, state: CycleState, pod: Pod) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._budgets = handle.cluster_state.disruption_budgets
        self._found: list[PreemptionCandidates] = []
        self.failures: list[tuple[Status, int]] = []
        self.n_clean = 0
        self.n_found = 0

    def look_at(self, nodes: Nodes) -> None:
        """Dry-run preemption on some nodes.

        Rule: since kube-scheduler v1.37, pods of one priority that have not started keep their order.
        """
        lower, positions = self._handle.cluster_state.columns.pod_table.below(
            self._state.pod.priority,
            nodes.all_rows,
            nodes.columns.n_rows,
            keeps_unstarted=not self._handle.cluster_state.release.before(37),
        )
        occupied, where = runs(positions)
        if len(occupied) < len(nodes):
            self.failures.append((_NO_VICTIMS, len(nodes) - len(occupied)))
        if not len(occupied):
            return
        what_if = self._handle.what_if(self._state, self._pod, nodes.select(occupied))
        candidates, emptied = find_victims(what_if, lower, where, self._budgets)
        self.failures += emptied.statuses().counts()
        if not len(candidates):  # failures count only then; a node that needs no victim is an error, as upstream
            texts = [f'expected at least one victim pod on node "{name}"' for name in emptied.feasible.names]
            self.failures += [(Status.error(text), 1) for text in texts]
        self._found.append(candidates)
        self.n_found += len(candidates)
        self.n_clean += int(np.count_nonzero(candidates.n_violations == 0))

    def candidates(self) -> PreemptionCandidates | None:
        """All nodes that would do; None when there are none."""
        helpful = [candidates for candidates in self._found if len(candidates)]
        if not helpful:
            return None
        return helpful[0] if len(helpful) == 1 else PreemptionCandidates.joined(helpful)


def _kept(diagnosis: Diagnosis) -> dict[object, Any]:
    """What was found out about equal pods on the same nodes; a new table where the diagnosis is not theirs."""
    result = diagnosis.result
    return {} if result is None or result.compiled is None or diagnosis.explicit else result.compiled


def _potential(diagnosis: Diagnosis, nodes: Nodes) -> Rows:
    """Positions of nodes where removing pods may help: those whose status is exactly Unschedulable."""
    if diagnosis.result is None:
        helpful = diagnosis.absent.code is Code.UNSCHEDULABLE
        positions = set(range(len(nodes))) if helpful else set()
    else:
        rows = diagnosis.result.nodes.all_rows[diagnosis.statuses().with_code(Code.UNSCHEDULABLE)]
        if not diagnosis.explicit:
            return rows if nodes.rows is None else np.searchsorted(nodes.rows, rows)
        place = {row: position for position, row in enumerate(nodes.all_rows.tolist())}
        positions = {place[row] for row in rows.tolist()}
    for position, name in enumerate(nodes.names) if diagnosis.explicit else ():
        status = diagnosis.explicit.get(name)
        if status is not None:
            (positions.add if status.code is Code.UNSCHEDULABLE else positions.discard)(position)
    return np.array(sorted(positions), dtype=np.intp)


def _is_being_preempted(pod: Pod) -> bool:
    if not pod.is_terminating:
        return False
    for condition in pod.status.conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _no_candidates(failures: list[tuple[Status, int]], n_nodes: int) -> PostFiltered:
    """Clear the nomination and say why no node helps; an error of a dry run is an error of the whole."""
    errors = list(dict.fromkeys(status.message for status, _ in failures if status.code is Code.ERROR))
    if errors:
        return None, Status.error(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return PostFilterResult(""), Status.unschedulable(fit_error(n_nodes, failures, _NOT_HELPFUL))
