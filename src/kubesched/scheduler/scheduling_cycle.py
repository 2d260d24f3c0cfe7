"""Decides for one pod on one snapshot: the node, or why no node fits.

The cycle as a pipeline: PreFilter, Filter, PostFilter when nothing fits, PreScore, Score, selection. It changes
nothing: assuming the pod, Reserve and Permit are the Scheduler's. Extenders of the configuration are asked after
Filter, beside Score and in preemption; the cycle waits for their answers, and without extenders for nothing. Rule:
kube-scheduler v1.36 schedulePod, with percentageOfNodesToScore 0 meaning every node.
"""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Final

import numpy as np
from msgspec.structs import replace

from kubesched.engine import first_leaders
from kubesched.errors import ExtenderError
from kubesched.framework import (
    NO_NODES,
    CycleState,
    Decision,
    Diagnosis,
    FilterResult,
    Framework,
    NodeScore,
    NodeSearch,
    Outcome,
    PluginFault,
    PostFilterResult,
    QueuedPodInfo,
    Scores,
    Status,
)
from kubesched.scheduler.extender_scores import ExtenderScores
from kubesched.scheduler.extenders import EXTENDER, Extenders, PodExtenders
from kubesched.scheduler.selection import TieBreak, nodes_to_find, select_best, select_few
from kubesched.state import Nodes, PodInfo, Rows, Snapshot

RunnersUp = tuple[tuple[str, int], ...]
"""The next best nodes with their totals."""

_N_RUNNERS_UP: Final = 3
_SUCCESS: Final = Outcome(Status.SUCCESS)


class SchedulingCycle:
    """Decides for one pod at a time.

    Args:
        extenders: those to ask; None for none.
    Attributes:
        tie_break: which of equally good nodes is taken.
        next_start: where the next search begins, in node-tree order.
    """

    def __init__(self, tie_break: TieBreak, rng: Random, extenders: Extenders | None = None) -> None:
        self.tie_break = tie_break
        self._extenders = extenders
        self._has_extenders = extenders is not None and (extenders.may_filter or extenders.may_score)
        self.next_start = 0
        self._rng = rng

    async def decide(
        self, framework: Framework, info: PodInfo, snapshot: Snapshot, queued: QueuedPodInfo
    ) -> tuple[Decision, CycleState]:
        """Find the node for a pod.

        Args:
            info: the pod with its parts.
            queued: what the queue knows of it, for the record.
        Returns: the decision, not carried out, and what the plugins remember for Reserve and later.
        """
        state = CycleState(info)
        extenders = None if self._extenders is None else self._extenders.of(info)
        nominated, passed = info.pod.status.nominated_node_name, None
        may_be_equal = not nominated and not extenders
        if may_be_equal:
            scores = framework.scores_as_before(state, snapshot)
            if scores is not None:
                return self._as_before(framework, info, queued, scores, snapshot), state
        decision = Decision(
            info.pod,
            framework.profile.scheduler_name,
            queued.attempts,
            snapshot.n_nodes,
            _SUCCESS,
            initial_attempt_timestamp=queued.initial_attempt_timestamp,
            was_flushed=queued.was_flushed,
        )
        if not snapshot.n_nodes:
            outcome = Outcome(Status.unresolvable(NO_NODES), NO_NODES)
            return replace(decision, outcome=outcome, nominated_node_name=""), state
        search = NodeSearch(framework, state, snapshot.nodes)
        if not search.status.is_success:
            if search.failure is not None:
                return replace(decision, outcome=_fault_outcome(search.failure)), state
            return await self._explain(framework, state, search.diagnosis, decision), state
        if search.diagnosis.n_left_out:
            decision = replace(decision, left_out=search.diagnosis.left_out)
        if nominated:
            passed = await self._nominated(search, nominated, snapshot.nodes, extenders)
        if passed is not None:
            result = FilterResult(passed, [])
        else:
            start = self.next_start
            result = self._filter(framework, search, snapshot)
            if result.failure is not None:
                return replace(decision, outcome=_fault_outcome(result.failure)), state
            if result.undecided is not None:
                search.give_up(result.undecided)
                return await self._explain(framework, state, search.diagnosis, decision), state
            passed = result.feasible
            if extenders and passed.n:
                try:
                    passed = await self._extend(extenders, passed, snapshot.places(start), search.diagnosis)
                except ExtenderError as error:
                    return replace(decision, outcome=_fault_outcome(Status.error(str(error)))), state
                if not passed.n:
                    result = result.restricted(np.flatnonzero(~result.fits))
        n_passed = passed.n
        if n_passed:
            n_evaluated = result.nodes.n
            if extenders:
                n_evaluated += n_passed - result.feasible.n
            extended = await extenders.prioritize(passed) if extenders and n_passed > 1 else None
            is_whole = result.nodes is snapshot.nodes
            try:
                chosen, runners_up = self._choose(framework, state, passed, snapshot, extended, is_whole=is_whole)
            except PluginFault as fault:
                outcome = _fault_outcome(fault.status)
                return replace(decision, outcome=outcome, n_evaluated=n_evaluated, n_feasible=n_passed), state
            if may_be_equal and n_passed > 1:  # with one, no plugin was asked whether it skips the score
                framework.note_decided(state, snapshot)
            decision = replace(
                decision, n_evaluated=n_evaluated, n_feasible=n_passed, chosen=chosen, runners_up=runners_up
            )
            return decision, state
        search.take_in(result)
        return await self._explain(framework, state, search.diagnosis, decision), state

    # --- filtering ---

    async def _nominated(
        self, search: NodeSearch, name: str, nodes: Nodes, extenders: PodExtenders | None
    ) -> Nodes | None:
        """Look at the nominated node alone, and at no other if the pod fits there.

        Returns: this node, as often as the last extender named it; None if there is none, or the pod does not fit.
        """
        position = nodes.position_of(name)
        if position is None:
            return None
        alone = nodes.select(np.array([position], dtype=np.intp))
        result = search.filter(alone)
        if result.all_fit:
            if not extenders:
                return alone
            try:
                return await self._extend(extenders, alone, None, search.diagnosis) or None
            except ExtenderError as error:
                extenders.note(f"nominated node {name}", error)
                return None
        status = result.statuses()[0]
        if status.is_rejected:
            search.diagnosis.explicit[name] = status
            search.diagnosis.add_plugin(status)
        return None

    def _filter(self, framework: Framework, search: NodeSearch, snapshot: Snapshot) -> FilterResult:
        """The verdicts on the nodes that a search in kube-scheduler's order would look at."""
        result = search.filter()
        n_nodes = result.nodes.n
        wanted = self._n_wanted(framework, n_nodes)
        if wanted < n_nodes:
            result = self._sampled(result, snapshot, wanted)
        self._move_start(result, search.diagnosis, snapshot.n_nodes)
        return result

    async def _extend(self, extenders: PodExtenders, passed: Nodes, places: Rows | None, diagnosis: Diagnosis) -> Nodes:
        """What the extenders leave of the nodes that passed the filters, in the order of the last answer.

        Args:
            places: the places of rows in kube-scheduler's list, in which they are asked; None for any order.
        """
        if places is not None and self.tie_break is TieBreak.UPSTREAM:
            passed = passed.select(np.argsort(passed.take(places)))
        left = await extenders.filter(passed, diagnosis.explicit)
        if len(left) != len(passed):
            diagnosis.unschedulable_plugins.add(EXTENDER)
        return left

    def _n_wanted(self, framework: Framework, n_nodes: int) -> int:
        """After how many feasible nodes the search ends; without scores kube-scheduler takes the first it meets."""
        if not framework.has_scores and not self._has_extenders and self.tie_break is TieBreak.UPSTREAM:
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
        n_seen = result.nodes.n
        if diagnosis.explicit:
            at = (result.nodes.position_of(name) for name in diagnosis.explicit)
            n_seen += sum(position is None or bool(result.fits[position]) for position in at)
        self.next_start = (self.next_start + n_seen) % n_nodes

    # --- when nothing fits ---

    @staticmethod
    async def _explain(framework: Framework, state: CycleState, diagnosis: Diagnosis, decision: Decision) -> Decision:
        """Why no node fits; PostFilter plugins try to make room.

        Args:
            decision: as far as it is known before.
        """
        if diagnosis.failure is not None:
            return replace(decision, outcome=_fault_outcome(diagnosis.failure))
        made_room: PostFilterResult | None = None
        before = ""
        if framework.profile.points["postFilter"]:
            made_room, status = await framework.run_post_filter(state, state.pod.pod, diagnosis)
            before = diagnosis.message if made_room is not None and made_room.writes else ""
            diagnosis.post_filter_message = status.message
        rejections = tuple(diagnosis.counts())
        explained = replace(
            decision,
            outcome=Outcome(diagnosis.undecided or Status.unschedulable(), diagnosis.message),
            n_evaluated=sum(n for _, n in rejections),
            rejections=rejections,
            unschedulable_plugins=frozenset(diagnosis.unschedulable_plugins),
            pending_plugins=frozenset(diagnosis.pending_plugins),
        )
        if made_room is None:
            return explained
        return replace(
            explained,
            nominated_node_name=made_room.nominated_node_name,
            victims=made_room.victims,
            n_pdb_violations=made_room.n_pdb_violations,
            writes=made_room.writes,
            unwritten_message=before,
        )

    # --- when something fits ---

    def _choose(
        self,
        framework: Framework,
        state: CycleState,
        passed: Nodes,
        snapshot: Snapshot,
        extended: Sequence[ExtenderScores] | None,
        *,
        is_whole: bool,
    ) -> tuple[NodeScore, RunnersUp]:
        """The best of the nodes that passed the filters and the extenders, and the next best.

        Args:
            extended: the scores of extenders; None where none is asked.
            is_whole: whether all nodes were looked at.
        Raises:
            PluginFault: a plugin failed.
        """
        if passed.n == 1:
            return NodeScore(passed.name(0), 0, {}), ()
        scores = framework.run_score(state, state.pod.pod, passed, is_whole=is_whole and passed.is_known)
        if extended is None:
            return self._best(scores, snapshot if is_whole else None)
        best = self._best_with(scores, extended)
        few = [position for position in first_leaders(scores.varying, 1 + _N_RUNNERS_UP) if position != best]
        return _described(scores, [best, *few[:_N_RUNNERS_UP]])

    def _as_before(
        self, framework: Framework, info: PodInfo, queued: QueuedPodInfo, scores: Scores, snapshot: Snapshot
    ) -> Decision:
        """The decision on a pod that is equal to one before. All nodes were looked at."""
        chosen, runners_up = self._best(scores, snapshot)
        n_nodes = snapshot.n_nodes
        return Decision(
            info.pod,
            framework.profile.scheduler_name,
            queued.attempts,
            n_nodes,
            _SUCCESS,
            n_evaluated=n_nodes,
            n_feasible=scores.nodes.n,
            chosen=chosen,
            runners_up=runners_up,
            initial_attempt_timestamp=queued.initial_attempt_timestamp,
            was_flushed=queued.was_flushed,
        )

    def _best(self, scores: Scores, snapshot: Snapshot | None) -> tuple[NodeScore, RunnersUp]:
        """The best node, and the next best.

        Args:
            snapshot: what all nodes were looked at of; None where only some were, in the order of the search.
        """
        places = None if snapshot is None else partial(_places, scores.nodes, snapshot, self.next_start)
        return _described(scores, select_few(scores, 1 + _N_RUNNERS_UP, self.tie_break, places, self._rng))

    def _best_with(self, scores: Scores, extended: Sequence[ExtenderScores]) -> int:
        """Add the scores of extenders, and select; kube-scheduler breaks ties between nodes that got any at random."""
        for one in extended:
            scores.add(one.name, one.scores)
        if self.tie_break is TieBreak.UPSTREAM:
            given = np.zeros(len(scores.nodes), dtype=np.bool_)
            for one in extended:
                given |= one.given
            drawn = np.flatnonzero(given & (scores.varying == scores.varying.max()))
            if len(drawn):
                return int(drawn[self._rng.randrange(len(drawn)) if len(drawn) > 1 else 0])
        return select_best(scores.varying, self.tie_break, None, self._rng)


def _fault_outcome(status: Status) -> Outcome:
    """A fault ended the cycle."""
    return Outcome(status, status.message)


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


def _described(scores: Scores, positions: Sequence[int]) -> tuple[NodeScore, RunnersUp]:
    """The first of some nodes with its scores, and the others with their totals."""
    name_of, total, shared = scores.nodes.name, scores.varying, scores.shared
    best, *others = positions
    runners_up = tuple([(name_of(position), total.item(position) + shared) for position in others])
    return NodeScore(name_of(best), total.item(best) + shared, scores.at(best)), runners_up
