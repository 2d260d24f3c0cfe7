"""Compares the node that another scheduler chose with ours, on one state of the cluster.

Classes, the first that applies:

* agreed: both chose the same node.
* tie: the nodes have the same score.
* sampled: the other scheduler may not have examined our node. kube-scheduler stops after numFeasibleNodesToFind
  feasible nodes, and in a large cluster this is less than all. Nothing shows which nodes these were. If at least so
  many feasible nodes, its own included, score no higher than its node, there is a sample of which its node is the best.
  Scores are normalized over the sample, so otherwise a few samples of adjacent nodes are scored by themselves.
* undecided: kubesched cannot decide about the pod, so there is nothing to compare; it is not counted.
* disagreed: none of these samples has its node as the best, or its node is not feasible for us.
"""

import enum
from typing import Final

import msgspec
import numpy as np

from kubesched.framework import CycleState, Framework, PluginFault, QueuedPodInfo, Scores, find_feasible
from kubesched.scheduler import SchedulingCycle, default_sample, nodes_to_find, straight
from kubesched.state import Nodes, PodInfo, Snapshot

_N_SAMPLES: Final = 16


class Agreement(enum.Enum):
    """How the decision of another scheduler compares with ours."""

    AGREED = "agreed"
    TIE = "tie"
    SAMPLED = "sampled"
    ORDER = "order"
    """Agreed, a tie or sampled on a state that the other scheduler may have seen; see `shadow`."""
    DISAGREED = "disagreed"
    UNSEEN = "unseen"
    """Not judged: the watch showed the pod only with a node."""
    UNDECIDED = "undecided"
    """Not judged: kubesched cannot decide about the pod."""


class Verdict(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One judged binding.

    Attributes:
        agreement: the class.
        pod, uid: which pod.
        profile: the scheduler name that serves it.
        node: where the other scheduler put it.
        ours: where we would have; "" for nowhere.
        points: our node's total minus the other's; 0 where one of them has no score.
        plugin: the one that made the difference: whose scores lie most points apart, or that rejects the other's node.
        reason: why the other's node is not feasible for us, or why none is, or why the pod is not decided.
        scores, our_scores: plugin -> weighted score of the two nodes.
        n_nodes, n_feasible: nodes there are, nodes that fit.
    """

    agreement: Agreement
    pod: str
    uid: str
    profile: str
    node: str
    ours: str
    points: int = 0
    plugin: str = ""
    reason: str = ""
    scores: dict[str, int] = {}
    our_scores: dict[str, int] = {}
    n_nodes: int = 0
    n_feasible: int = 0


class Judge:
    """Judges the bindings of one profile.

    Args:
        framework: decides; it examines every node.
        percentage: percentageOfNodesToScore of the other scheduler; 0 for its adaptive default.
        cycle: of all profiles.
    """

    def __init__(self, framework: Framework, percentage: int, cycle: SchedulingCycle) -> None:
        self._framework = framework
        self._percentage = percentage
        self._cycle = cycle

    def judge(self, info: PodInfo, node_name: str) -> Verdict:
        """Decide for a pod that is not counted on a node. Only a pod on which we do not agree is evaluated twice."""
        framework, pod = self._framework, info.pod
        snapshot = framework.handle.snapshot()
        self._cycle.next_start = 0
        decision, _ = straight(self._cycle.decide(framework, info, snapshot, QueuedPodInfo(pod, pod.key, 0.0)))
        verdict = Verdict(
            Agreement.AGREED,
            pod.key,
            pod.uid,
            framework.profile.scheduler_name,
            node_name,
            decision.node_name,
            n_nodes=decision.n_nodes,
            n_feasible=decision.n_feasible,
        )
        if decision.node_name == node_name:
            return verdict
        if decision.outcome.status.is_undecided:
            reason = decision.outcome.status.message
            return msgspec.structs.replace(verdict, agreement=Agreement.UNDECIDED, reason=reason)
        if not decision.node_name:
            reason = decision.outcome.located
            rejecting = next(iter(sorted(decision.unschedulable_plugins)), "")
            verdict = msgspec.structs.replace(verdict, reason=reason, plugin=rejecting)
        return self._compared(verdict, info, snapshot)

    def _compared(self, verdict: Verdict, info: PodInfo, snapshot: Snapshot) -> Verdict:
        """What separates the two nodes."""
        framework, state = self._framework, CycleState(info)
        disagreed = msgspec.structs.replace(verdict, agreement=Agreement.DISAGREED)
        if snapshot.nodes.position_of(verdict.node) is None:
            return msgspec.structs.replace(disagreed, reason="the node is not known", plugin="")
        diagnosis = find_feasible(framework, state, snapshot.nodes)
        status = diagnosis.status_of(verdict.node)
        if not status.is_success:
            return msgspec.structs.replace(disagreed, reason=status.located, plugin=status.plugin)
        result = diagnosis.result
        assert result is not None
        try:
            is_whole = result.nodes is snapshot.nodes
            scores = framework.run_score(state.clone(), info.pod, result.feasible, is_whole=is_whole)
            return self._scored(disagreed, state, scores, snapshot)
        except PluginFault as fault:
            return msgspec.structs.replace(disagreed, reason=fault.status.located, plugin=fault.status.plugin)

    def _scored(self, disagreed: Verdict, state: CycleState, scores: Scores, snapshot: Snapshot) -> Verdict:
        ours, theirs = scores.nodes.position_of(disagreed.ours), scores.nodes.position_of(disagreed.node)
        if ours is None or theirs is None:
            return disagreed
        total, mine, others = scores.total, scores.at(ours), scores.at(theirs)
        points = int(total[ours] - total[theirs])
        leads = {name: score - others[name] for name, score in mine.items()}
        agreement, n_sampled = Agreement.DISAGREED, self._n_sampled(disagreed.n_nodes)
        if points == 0:
            agreement = Agreement.TIE
        elif n_sampled < len(total) and (
            int(np.count_nonzero(total <= total[theirs])) >= n_sampled
            or self._is_best_of_some(state, scores.nodes, theirs, n_sampled, snapshot)
        ):
            agreement = Agreement.SAMPLED
        return msgspec.structs.replace(
            disagreed,
            agreement=agreement,
            points=points,
            plugin=max(leads, key=lambda name: leads[name]) if points > 0 else "",
            scores=others,
            our_scores=mine,
        )

    def _is_best_of_some(
        self, state: CycleState, feasible: Nodes, theirs: int, n_sampled: int, snapshot: Snapshot
    ) -> bool:
        """Whether a node is the best of some sample of adjacent nodes, in the order in which kube-scheduler looks."""
        rank = np.empty(snapshot.columns.n_rows, dtype=np.intp)
        rank[snapshot.order()] = np.arange(snapshot.n_nodes)
        order = rank[feasible.all_rows].argsort()
        place = int(np.flatnonzero(order == theirs)[0])
        for first in np.linspace(place - n_sampled + 1, place, _N_SAMPLES, dtype=np.intp):
            sample = feasible.select(np.sort(order.take(np.arange(first, first + n_sampled), mode="wrap")))
            total = self._framework.run_score(state.clone(), state.pod.pod, sample, is_whole=False).total
            position = sample.position_of(feasible.name(theirs))
            if total[position] == total.max():
                return True
        return False

    def _n_sampled(self, n_nodes: int) -> int:
        """After how many feasible nodes the other scheduler stops."""
        return nodes_to_find(n_nodes, self._percentage) if self._percentage else default_sample(n_nodes)
