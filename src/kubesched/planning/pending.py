"""Explains the pending pods as a simulation places them, so that both give the same answer for each pod.

The pods are tried one after another in the order of the queue, and each takes its room. A pod that is left pending is
explained on the cluster as the run leaves it: there is what keeps it waiting, and what would help.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import ExitStack
from typing import Final, Self

import msgspec

from kubesched.api import KubeObject, Pod
from kubesched.documents import listed
from kubesched.explanation import (
    ClaimInUse,
    Evaluation,
    PendingReasons,
    PodAnswer,
    PodOutcome,
    State,
    Told,
    claims_in_use,
    evaluate,
    eviction_sentence,
    fits_outcome,
    recorded_of,
)
from kubesched.framework import CycleState, Decision, Framework, QueuedPodInfo
from kubesched.planning.difference import new_pods
from kubesched.planning.gangs_that_fit import gangs_of_run
from kubesched.planning.storage_caveats import storage_caveats
from kubesched.scheduler import SchedulingCycle
from kubesched.session import (
    UNSEEN,
    GangFit,
    PendingCounts,
    Placement,
    PodState,
    Preempt,
    Progress,
    Report,
    Session,
    pending_counts,
    without_post_filter,
)
from kubesched.setup import Setup
from kubesched.snapshot import as_read
from kubesched.state import PodInfo, Snapshot

_EXPLAINED: Final = (State.NOWHERE, State.HELD_BACK, State.PREEMPTS)
_MAX_NAMED: Final = 3


class PendingPods:
    """What a simulation makes of the pending pods, and why. Close it, or use it in a `with` statement.

    Args:
        cluster, setup: the cluster, and what decides.
        workload_of: what a pod belongs to, such as `Deployment shop/web`.
        progress: of both looks at the pending pods, each alone and then one after another.
        repeats: whether `each_attempt` will be called.

    Attributes:
        report: of the simulation.
        foreign: the pods that no profile serves.
        fit_alone: `namespace/name` of the pods that no node is left for, and that would fit as the first of the queue.
        stuck: pods that have a node and do not start there: by `namespace/name`, why.

    Example:
        with PendingPods(load_snapshot("cluster.json"), set_up(), str) as pending:
            print(overview_page(pending.answers()).verdict.text)
    """

    def __init__(
        self,
        cluster: Iterable[KubeObject],
        setup: Setup,
        workload_of: Callable[[Pod], str],
        progress: Progress | None = None,
        *,
        repeats: bool = False,
    ) -> None:
        known = list(cluster)
        self._session = session = Session(as_read(cluster), setup, new=new_pods(known))
        self._open = ExitStack()
        self._fork = self._open.enter_context(session.fork()) if repeats else None
        self._decided: dict[str, Decision] = {}
        self._fitting = frozenset(_fitting(session, progress))
        self._in_use = dict(_claims_in_use(session))
        session.decisions = self._note
        self.report: Report = session.schedule(progress and (lambda done, n: progress(n + done, 2 * n)))
        session.decisions = None
        self._known = known
        self._evicted = {action.pod.key: action.pod for action in session.cluster.evicted}
        self._workload_of = workload_of
        self._pods = {pod.key: pod for pod in session.pending}
        self.foreign = [pod for pod in session.pending if pod.scheduler_name not in session.frameworks]
        unseen = (one for one in (*self.report.placements, *self.report.stuck) if one.names_node)
        self.stuck = {one.pod: one.message.removeprefix(f"{UNSEEN}; ") for one in unseen if one.is_left_pending}
        self._reasons = PendingReasons(session, self.report.placements)
        self._nodes = session.cluster_state.snapshot().nodes
        left = {one.pod for one in self.report.placements if _state(one) is State.NOWHERE}
        self.fit_alone = self._fitting & left

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the plugins. Afterwards there are no more answers."""
        self._open.close()
        self._session.close()

    def _note(self, decision: Decision) -> None:
        self._decided[decision.pod.uid] = decision

    def answers(self, keys: Collection[str] | None = None) -> Iterator[PodAnswer]:
        """The answer for each pod that a profile serves, the highest priority first.

        Args:
            keys: `namespace/name` of the pods that are meant; None for all.
        """
        names = self._nodes.names
        asked = [one for one in self.report.placements if one.profile and (keys is None or one.pod in keys)]
        self._reasons.find({one.pod for one in asked if _state(one) in _EXPLAINED})
        for placement in asked:
            yield self._answer(placement, names)

    def not_tried(self, keys: Collection[str]) -> Iterator[Evaluation]:
        """Explain those of some pods that the simulation does not try, on the cluster as it leaves it."""
        for placement in self.report.placements:
            is_seen = placement.profile and placement.state is PodState.NOT_TRIED
            if is_seen and placement.pod in keys:
                yield self._reasons.evaluated(placement)

    def each_attempt(self, keys: Collection[str], explained: Callable[[Evaluation], None]) -> None:
        """Repeat the simulation, and explain some pods on the cluster as the decision on each of them finds it.

        Evaluations from before are not valid afterwards, and neither are further answers.

        Args:
            explained: called in the order of the decisions with an evaluation that is valid until it returns.
        """
        last = {uid: decision.attempt for uid, decision in self._decided.items() if decision.pod.key in keys}
        assert self._fork is not None, "repeats is given"
        self._fork.revert()
        scheduler = self._session.scheduler
        scheduler.cycle = _ExplainedCycle(self._session, last, explained)
        self._session.schedule()

    def _answer(self, placement: Placement, names: list[str]) -> PodAnswer:
        pod = self._pods[placement.pod]
        state = _state(placement)
        if state is State.FITS and self._needs_evictions(placement):
            state = State.PREEMPTS
        decision = self._decided.get(pod.uid)
        n_fit = None if decision is None else decision.n_feasible
        cause = "" if state is State.FITS else placement.why_not_created or without_post_filter(placement.message)
        return PodAnswer(
            pod.key,
            self._workload_of(pod),
            state,
            placement.evicted_by or cause,
            lambda: self._told(placement, pod, state, n_fit or 0),
            placement.node,
            n_fit,
            names,
            tells_each=True,
        )

    def _told(self, placement: Placement, pod: Pod, state: State, n_fit: int) -> Told:
        match state:
            case State.FITS:
                decision = self._decided.get(pod.uid)
                left_out = None if decision is None else decision.left_out
                recorded = recorded_of(pod, "", self._nodes, placement.node)
                elsewhere = tuple(one for one in self._in_use.get(pod.key, ()) if one.node != placement.node)
                fits = fits_outcome(n_fit, len(self._nodes), left_out)
                return Told(fits, n_fit, recorded=recorded, claims_in_use=elsewhere)
            case State.PREEMPTS:
                why = self._eviction(placement) if placement.victims else self._eviction_for_others(placement)
                fixes = self._reasons.of(placement).fixes if placement.victims else ()
                return Told(PodOutcome(state, why), n_fit, fixes)
            case State.EVICTED:
                return Told(PodOutcome(state, f"evicted for {placement.evicted_by}"), n_fit)
            case State.FAILED | State.NOT_DECIDED:
                is_reported = state is State.FAILED and not placement.diagnosis  # a change may prevent it
                fixes = self._reasons.of(placement).fixes if is_reported else ()
                return Told(PodOutcome(state, placement.diagnosis or placement.message), n_fit, fixes)
        told = self._reasons.of(placement)
        recorded = recorded_of(pod, placement.message, self._nodes, "") if state is State.NOWHERE else None
        return msgspec.structs.replace(told, recorded=recorded)

    def _needs_evictions(self, placement: Placement) -> bool:
        """Whether a pod fits only because pods were evicted, for whatever pod."""
        node, decision = placement.node, self._decided.get(self._pods[placement.pod].uid)
        fits = {node, *(name for name, _ in placement.runners_up)}
        if decision is None or decision.n_feasible > len(fits) or not fits <= {one.node for one in self.report.removed}:
            return bool(placement.victims)
        offered, held = self.report.before.allocatable(node), self.report.before.held(node)  # the victims among it
        wanted = {**self._pods[placement.pod].requests, "pods": 1}
        return any(held.get(name, 0) + amount > offered.get(name, 0) for name, amount in wanted.items() if amount)

    def _eviction_for_others(self, placement: Placement) -> str:
        left = [victim for victim in self.report.removed if victim.node == placement.node]
        whom = ", ".join(dict.fromkeys(one.preemptor for one in left))
        victims = listed(one.pod for one in left)
        return f"takes room on {placement.node} that preemption makes for {whom} by evicting {victims}"

    def caveats(self, keys: Collection[str]) -> tuple[str, ...]:
        """Why some of the pending pods that are placed would not start, as in a simulation.

        Args:
            keys: `namespace/name` of these pods.
        """
        placed = (one for one in self.report.placements if one.pod in keys)
        return storage_caveats(self._session, placed, self._known)

    def gangs(self, keys: Collection[str]) -> tuple[GangFit, ...]:
        """What becomes of the gangs that have some of the pending pods, and of Jobs with several pods.

        Args:
            keys: `namespace/name` of these pods.
        """
        return gangs_of_run(self._known, self.report, keys)

    def counts(self, namespace: str = "") -> PendingCounts:
        """How many pods wait for a node, as in a simulation.

        Args:
            namespace: the only one that counts; empty for all.
        """
        known = (*self.report.placements, *self.report.stuck)
        return pending_counts(one for one in known if namespace in ("", one.pod.partition("/")[0]))

    def _eviction(self, placement: Placement) -> str:
        """Where preemption makes room, and by whose eviction."""
        left = [victim for victim in self.report.victims if victim.preemptor == placement.pod]
        victims = [(one.pod, self._evicted[one.pod].priority) for one in left]
        broken = tuple(dict.fromkeys(budget for one in left for budget in one.broken))
        then = self._reasons.fates(placement, [self._evicted[one.pod] for one in left])
        return eviction_sentence(left[-1].node, victims, broken, then)


def _claims_in_use(session: Session) -> Iterator[tuple[str, tuple[ClaimInUse, ...]]]:
    """The pending pods with claims whose disks are attached before the run, with these claims."""
    snapshot = session.cluster_state.snapshot()
    for pod in session.pending:
        if found := claims_in_use(session.cluster_state.pod_info(pod), snapshot):
            yield pod.key, found


def _fitting(session: Session, progress: Progress | None) -> Iterator[str]:
    """The pending pods that fit on some node while no other one takes room; pods with equal parts are tried once.

    Extenders are not asked: there are none where the session has extenders.

    Args:
        progress: the first half of it.
    """
    known: dict[Hashable, bool] = {}
    waiting = session.waiting()
    for i, pod in enumerate(waiting):
        if progress is not None:
            progress(i, 2 * len(waiting))
        framework = session.frameworks.get(pod.scheduler_name)
        if framework is None or session.extenders is not None or pod.is_terminating:
            continue
        info = session.cluster_state.pod_info(pod)
        key = (framework, info.identity, info.read_by_filters, tuple(pod.claim_names))
        if key not in known:
            known[key] = session.attempt(pod, Preempt.NEVER).fits
        if known[key]:
            yield pod.key


def _state(placement: Placement) -> State:
    if placement.state is PodState.ERROR:
        return State.FAILED
    if placement.state is PodState.UNSCHEDULABLE:
        return State.NOWHERE
    if placement.state is PodState.NOT_DECIDED:
        return State.NOT_DECIDED
    if placement.state is PodState.NOT_TRIED:
        return State.HELD_BACK
    if placement.evicted_by:
        return State.EVICTED
    return State.PREEMPTS if placement.victims else State.FITS


# --- each attempt ---


class _ExplainedCycle(SchedulingCycle):
    """Explains some pods right before the last decision on each of them."""

    def __init__(self, session: Session, last: dict[str, int], explained: Callable[[Evaluation], None]) -> None:
        """Take the place of the session's own cycle.

        Args:
            last: uid -> the number of the attempt to explain.
        """
        self._asked = session.extenders
        super().__init__(session.scheduler.cycle.tie_break, session.rng, self._asked)
        self._last = last
        self._explained = explained

    async def decide(
        self, framework: Framework, info: PodInfo, snapshot: Snapshot, queued: QueuedPodInfo
    ) -> tuple[Decision, CycleState]:
        if self._last.get(info.pod.uid) == queued.attempts:
            self._explained(await evaluate(framework, info, extenders=self._asked))
        return await super().decide(framework, info, snapshot, queued)
