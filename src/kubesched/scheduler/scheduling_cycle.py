"""One pod, one snapshot: which node, or why none.

The cycle as a pipeline: PreFilter, Filter, PostFilter when nothing fits, PreScore, Score, selection. It changes
nothing: assuming the pod, Reserve and Permit are the Scheduler's. Rule: kube-scheduler v1.36 schedulePod, with
percentageOfNodesToScore 0 meaning every node.
"""

from functools import partial
from random import Random
from typing import Final

import numpy as np

from kubesched.framework import (
    CycleState,
    Decision,
    Diagnosis,
    FilterResult,
    Framework,
    NodeScore,
    Outcome,
    PluginFault,
    PreFiltered,
    Scores,
    Status,
)
from kubesched.scheduler.selection import TieBreak, nodes_to_find, select_best
from kubesched.state import Nodes, PodInfo, Rows, Snapshot

__all__ = ["NO_NODES", "SchedulingCycle", "find_feasible"]

NO_NODES: Final = "no nodes available to schedule pods"
_N_RUNNERS_UP: Final = 3
_LOWEST: Final = -(2**63)
_SUCCESS: Final = Outcome(Status.SUCCESS)


class Found:
    """What filtering found.

    Attributes:
        result: the verdicts on the nodes that were looked at; None when PreFilter ended it.
        diagnosis: why the others do not fit; filled in only as far as it was needed.
        failure: the fault that ends the cycle, if any.
        is_whole: whether the table is the whole snapshot.
        skip_scoring: whether the nominated node fits and is taken unseen.
    """

    __slots__ = ("diagnosis", "failure", "is_whole", "result", "skip_scoring")

    def __init__(self, diagnosis: Diagnosis) -> None:
        self.diagnosis = diagnosis
        self.result: FilterResult | None = None
        self.failure: Status | None = None
        self.is_whole = False
        self.skip_scoring = False


class SchedulingCycle:
    """Decides for one pod at a time.

    Attributes:
        tie_break: which of equally good nodes is taken.
        next_start: where the next search begins, in node-tree order.
    """

    def __init__(self, tie_break: TieBreak, rng: Random) -> None:
        self.tie_break = tie_break
        self.next_start = 0
        self._rng = rng

    def decide(
        self, framework: Framework, info: PodInfo, snapshot: Snapshot, attempt: int
    ) -> tuple[Decision, CycleState]:
        """Find the node for a pod.

        Returns: the decision, not carried out, and what the plugins remember for Reserve and later.
        """
        state = CycleState(info)
        decision = Decision(info.pod, framework.profile.scheduler_name, attempt, snapshot.n_nodes, _SUCCESS)
        if not snapshot.n_nodes:
            decision.outcome = Outcome(Status.unresolvable(NO_NODES), NO_NODES)
            decision.nominated_node_name = ""
            return decision, state
        found = self._find(framework, state, info, snapshot)
        if found.failure is not None:
            decision.outcome = Outcome(found.failure, found.failure.message)
        elif found.result is None or not len(found.result.feasible):
            self._explain(framework, state, decision, found)
        else:
            self._choose(framework, state, decision, found, snapshot)
        return decision, state

    # --- filtering ---

    def _find(self, framework: Framework, state: CycleState, info: PodInfo, snapshot: Snapshot) -> Found:
        nodes = snapshot.nodes
        diagnosis = Diagnosis(snapshot.n_nodes)
        found = Found(diagnosis)
        before = framework.run_pre_filter(state, info.pod, nodes)
        if before.status is not Status.SUCCESS:
            _turned_down(found, before)
            return found
        if before.narrowed_by:
            diagnosis.unschedulable_plugins.update(before.narrowed_by)
        if info.pod.status.nominated_node_name and self._try_nominated(framework, state, info, nodes, found):
            return found
        table = nodes
        if before.node_names is not None:
            table = _named(nodes, before.node_names)
            listed = " ".join(sorted(before.narrowed_by))
            diagnosis.absent = Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{listed}]")
        found.is_whole = table is nodes
        result = framework.run_filter_with_nominated(state, info.pod, table, is_whole=found.is_whole)
        wanted = self._n_wanted(framework, len(table))
        if wanted < len(table):
            result = self._sampled(result, snapshot, wanted)
            found.is_whole = False
        self._move_start(result, diagnosis, snapshot.n_nodes)
        found.failure = result.failure
        found.result = result
        return found

    @staticmethod
    def _try_nominated(framework: Framework, state: CycleState, info: PodInfo, nodes: Nodes, found: Found) -> bool:
        """Look at the nominated node alone; true when it fits, and then no other node is looked at."""
        name = info.pod.status.nominated_node_name
        position = nodes.position_of(name)
        if position is None:
            return False
        table = nodes.select(np.array([position], dtype=np.intp))
        result = framework.run_filter_with_nominated(state, info.pod, table, is_whole=False)
        if result.all_fit:
            found.result = result
            found.skip_scoring = True
            return True
        status = result.statuses()[0]
        if status.is_rejected:
            found.diagnosis.explicit[name] = status
            found.diagnosis.add_plugin(status)
        return False

    def _n_wanted(self, framework: Framework, n_nodes: int) -> int:
        """After how many feasible nodes the search ends; without scores kube-scheduler takes the first it meets."""
        if self.tie_break is TieBreak.UPSTREAM and not framework.has_scores:
            return 1
        return nodes_to_find(n_nodes, framework.profile.percentage_of_nodes_to_score)

    def _sampled(self, result: FilterResult, snapshot: Snapshot, wanted: int) -> FilterResult:
        """The verdicts on the nodes that a search for `wanted` feasible ones looks at, in the order of the search."""
        order = np.roll(_positions_in_order(result.nodes, snapshot), -self.next_start)
        feasible = np.flatnonzero(result.fits[order])
        examined = order if len(feasible) <= wanted else order[: feasible[wanted]]
        return result.restricted(examined)

    def _move_start(self, result: FilterResult, diagnosis: Diagnosis, n_nodes: int) -> None:
        """Begin the next search behind the nodes that this one looked at.

        Rule: kube-scheduler v1.36: on by the number of feasible nodes and stored rejections, modulo all nodes; so a
            look at all of them changes nothing, and one at the few that PreFilter left does.
        """
        n_seen = len(result.nodes)
        if diagnosis.explicit:
            n_seen += sum(result.nodes.position_of(name) is None for name in diagnosis.explicit)
        self.next_start = (self.next_start + n_seen) % n_nodes

    # --- when nothing fits ---

    @staticmethod
    def _explain(framework: Framework, state: CycleState, decision: Decision, found: Found) -> None:
        """Note why, and let PostFilter plugins try to make room."""
        diagnosis = found.diagnosis
        if found.result is not None:
            diagnosis.take_in(found.result)
            failure = diagnosis.statuses().failure()
            if failure is not None:
                decision.outcome = Outcome(failure, failure.message)
                return
        if framework.profile.points["postFilter"]:
            result, status = framework.run_post_filter(state, decision.pod, diagnosis)
            diagnosis.post_filter_message = status.message
            if result is not None:
                decision.nominated_node_name = result.nominated_node_name
                decision.victims = result.victims
                decision.n_pdb_violations = result.n_pdb_violations
        decision.outcome = Outcome(Status.unschedulable(), diagnosis.message)
        decision.rejections = tuple(diagnosis.counts())
        decision.unschedulable_plugins = frozenset(diagnosis.unschedulable_plugins)
        decision.pending_plugins = frozenset(diagnosis.pending_plugins)
        decision.n_evaluated = sum(n for _, n in decision.rejections)

    # --- when something fits ---

    def _choose(
        self, framework: Framework, state: CycleState, decision: Decision, found: Found, snapshot: Snapshot
    ) -> None:
        result = found.result
        assert result is not None
        decision.n_evaluated = len(result.nodes)
        decision.n_feasible = len(result.feasible)
        if found.skip_scoring or decision.n_feasible == 1:
            decision.chosen = NodeScore(result.feasible.name(0), 0, {})
            return
        try:
            scores = framework.run_score(state, decision.pod, result, is_whole=found.is_whole)
        except PluginFault as fault:
            decision.outcome = Outcome(fault.status, fault.status.message)
            return
        self._select(decision, scores, snapshot, found.is_whole)

    def _select(self, decision: Decision, scores: Scores, snapshot: Snapshot, is_whole: bool) -> None:
        places = partial(_places, scores.nodes, snapshot, self.next_start) if is_whole else None
        best = select_best(scores.varying, self.tie_break, places, self._rng)
        decision.chosen = _node_score(scores, best)
        decision.runners_up = _runners_up(scores, best)


def find_feasible(
    framework: Framework, state: CycleState, info: PodInfo, snapshot: Snapshot
) -> tuple[FilterResult | None, Diagnosis]:
    """PreFilter and Filter over every node, faults counted as rejections of the node: what explanations are made from.

    Returns: the verdicts, None when PreFilter turned the pod down; and the diagnosis, with the verdicts taken in.
    """
    diagnosis = Diagnosis(snapshot.n_nodes)
    before = framework.run_pre_filter(state, info.pod, snapshot.nodes)
    if not before.status.is_success:
        found = Found(diagnosis)
        _turned_down(found, before)
        if found.failure is not None:
            diagnosis.absent = found.failure
            diagnosis.pre_filter_message = found.failure.message
        return None, diagnosis
    table = snapshot.nodes
    if before.node_names is not None:
        table = _named(table, before.node_names)
        listed = " ".join(sorted(before.narrowed_by))
        diagnosis.absent = Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{listed}]")
    result = framework.run_filter_with_nominated(state, info.pod, table, is_whole=table is snapshot.nodes)
    diagnosis.take_in(result)
    return result, diagnosis


def _turned_down(found: Found, before: PreFiltered) -> None:
    """PreFilter ended the cycle: a rejection stands for every node, a fault ends the attempt."""
    status = before.status
    if not status.is_rejected:
        found.failure = status
        return
    diagnosis = found.diagnosis
    diagnosis.absent = status
    diagnosis.pre_filter_message = status.message
    if status.plugin:
        diagnosis.add_plugin(status)
    else:
        diagnosis.unschedulable_plugins.update(before.narrowed_by)


def _named(nodes: Nodes, names: frozenset[str]) -> Nodes:
    """The rows of these nodes, as far as they exist, in the table's order."""
    positions = sorted(position for name in names if (position := nodes.position_of(name)) is not None)
    return nodes.select(np.array(positions, dtype=np.intp))


def _positions_in_order(nodes: Nodes, snapshot: Snapshot) -> Rows:
    """The positions of a table in the order in which kube-scheduler looks at nodes."""
    position_of = np.full(snapshot.columns.n_rows, -1, dtype=np.intp)
    position_of[nodes.all_rows] = np.arange(len(nodes))
    positions = position_of[snapshot.order()]
    return positions[positions >= 0]


def _places(nodes: Nodes, snapshot: Snapshot, start: int, positions: Rows) -> Rows:
    """The places that some positions of a table have in kube-scheduler's list of its nodes.

    Args:
        start: where the search began, in node-tree order.
    """
    places = nodes.take(snapshot.places(start))
    if len(nodes) == snapshot.n_nodes:
        return places[positions]
    is_listed = np.zeros(snapshot.n_nodes, dtype=np.bool_)
    is_listed[places] = True
    return is_listed.cumsum()[places[positions]] - 1


def _node_score(scores: Scores, position: int) -> NodeScore:
    return NodeScore(scores.nodes.name(position), scores.varying.item(position) + scores.shared, scores.at(position))


def _runners_up(scores: Scores, best: int) -> tuple[tuple[str, int], ...]:
    """The next best nodes with their totals; of equal ones the first."""
    total = scores.varying.copy()
    name_of, shared = scores.nodes.name, scores.shared
    found = []
    total[best] = _LOWEST
    for _ in range(min(_N_RUNNERS_UP, len(total) - 1)):
        position = int(total.argmax())
        found.append((name_of(position), total.item(position) + shared))
        total[position] = _LOWEST
    return tuple(found)
