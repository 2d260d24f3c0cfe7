"""Finds why pods are left pending by a run, and what helps, on the cluster as the last decision on each pod finds it.

Pods that come later in the queue have taken no room then: with the fix, the pod is placed before them. A pod that was
tried repeatedly is explained on the cluster as the run leaves it. Every report says it in these words. Kube-scheduler's
message counts each node under the first filter that rejects it, which need not be what keeps the pod from the node that
is nearest to fitting.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

import msgspec

from kubesched.api import Node, Patch, Pod
from kubesched.explanation.effort import Effort
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.explainer import Explainer
from kubesched.explanation.fix import Fix
from kubesched.explanation.outcome import PodOutcome, State, diagnosis, outcome
from kubesched.explanation.pod_answer import MOST_TO_AVOID_EVICTIONS, Told
from kubesched.explanation.remedies import WAY_OUT, Case, holds_old_pods
from kubesched.explanation.trial import fates, take_back
from kubesched.session import Placement, PodState, Report, Session, waiting_words


class PendingReasons:
    """Explains pods that a run has left pending, each group of equal pods once.

    Args:
        session: at rest after the run, and not changed since.
        placements: those of the run.
        without: kinds of fixes that are not offered.

    Example:
        with Session(load_snapshot("cluster.json")) as session:
            report = session.schedule()
            reasons = PendingReasons(session, report.placements)
            print([reasons.of(one).fix for one in report.placements if one.is_left_pending])
    """

    def __init__(self, session: Session, placements: Iterable[Placement], without: Collection[str] = ()) -> None:
        self._session = session
        self._without = frozenset(without)
        self._explainer = Explainer(session)
        self._pods = {pod.key: pod for pod in session.pending}
        self._placements = list(placements)
        self._not_to_change = {
            ("Pod", placement.pod) for placement in self._placements if placement.node
        } | session.assumed
        self._leaving = set(_to_go(session))
        self._told: dict[Hashable, Told] = {}
        self._names_pod: dict[Hashable, bool] = {}
        self._advised: dict[str, str] = {}

    def of(self, placement: Placement) -> Told:
        """Why a pod is left pending, is not tried, or has to evict others, and the best fix."""
        if placement.is_not_created:
            return Told(PodOutcome(State.HELD_BACK, placement.why_not_created), advice=self._advice(placement))
        key = self._key(placement)
        if key not in self._told:
            self.find([placement.pod])
        told, pod = self._told[key], self._pods[placement.pod]
        if not self.names_pod(placement):
            return told
        return msgspec.structs.replace(told, fixes=tuple(fix.for_pod(pod) for fix in told.fixes))

    def _advice(self, placement: Placement) -> str:
        """What helps a pod that the API server refuses: of a rollout, another strategy."""
        if "quota: " not in placement.refused:
            return placement.fix
        if placement.workload not in self._advised:
            holds = holds_old_pods(Case(self.evaluated(placement)))
            self._advised[placement.workload] = "; or ".join(filter(None, (WAY_OUT if holds else "", placement.fix)))
        return self._advised[placement.workload]

    def names_pod(self, placement: Placement) -> bool:
        """Whether the best fix of a pod that was found has steps for each of the equal pods."""
        key = self._key(placement)
        if key not in self._names_pod:
            self._names_pod[key] = any(fix.names_pod for fix in self._told[key].fixes[:1])
        return self._names_pod[key]

    def find(self, pods: Collection[str]) -> None:
        """Find all at once, which is cheaper than one after another.

        Args:
            pods: `namespace/name`, of the placements.
        """
        first: dict[Hashable, int] = {}
        for i, placement in enumerate(self._placements):
            if placement.pod in pods and placement.pod in self._pods and not placement.is_not_created:
                first.setdefault(self._key(placement), i)
        places = {i: key for key, i in first.items() if key not in self._told}
        in_turn = {i for i in places if _is_at_its_turn(self._placements[i])}
        for i in places.keys() - in_turn:
            self._told[places[i]] = self._found(self._placements[i])
        if not in_turn:
            return
        with self._session.cluster_state.fork():
            for i in range(len(self._placements) - 1, min(in_turn) - 1, -1):
                self._take_back(self._placements[i])
                if i in in_turn:
                    self._told[places[i]] = self._found(self._placements[i])

    def _take_back(self, placement: Placement) -> None:
        """Undo what a decision did to nodes: the pod waits again, and the pods that it evicted are back."""
        pending = self._pods.get(placement.pod)
        if placement.node and not placement.names_node and pending is not None:
            known = self._session.cluster.evicted if placement.victims else ()
            evicted = [one.pod for one in known if one.preemptor.key == pending.key and one.pod.key not in self._pods]
            take_back(self._session.cluster_state, pending, evicted)

    def group_of(self, placement: Placement) -> Hashable:
        """What the pods have in common that get the same patches; a pod without a controller is alone."""
        has_controller = self._pods[placement.pod].metadata.controller is not None
        return self._key(placement) if has_controller and not placement.is_not_created else placement.pod

    def fates(self, placement: Placement, victims: Sequence[Pod]) -> dict[str, str]:
        """What becomes of the pods that left for a pod, once it is on its node; as in Preemption."""
        framework = self._session.frameworks[placement.profile]
        return fates(framework, self._pods[placement.pod], placement.node, victims)

    def evaluated(self, placement: Placement) -> Evaluation:
        """The evaluation of such a pod, which is valid until the next one is asked for."""
        return self._explainer.evaluate(self._pods[placement.pod], preempt=False)

    def _key(self, placement: Placement) -> Hashable:
        """What equal pods have in common: everything that rules read, and the outcome."""
        pod = self._pods[placement.pod]
        info = self._session.cluster_state.pod_info(pod)
        spec = (pod.namespace, placement.owner or info.identity, info.read_by_filters, tuple(pod.claim_names))
        said = (placement.profile, placement.state, placement.message, placement.nominated_node, placement.leaving)
        return (*spec, *said)

    def _found(self, placement: Placement) -> Told:
        evaluation = self.evaluated(placement)
        fixes = self._fixes(evaluation, MOST_TO_AVOID_EVICTIONS if placement.victims else max(Effort))
        fix = next(iter(fixes), None)
        found = outcome(evaluation, fix)
        if placement.state is PodState.UNSCHEDULABLE and not found.is_turned_down:
            is_other = evaluation.fits or evaluation.failure is not None  # a hook after the filters, or the queue
            why = (placement.diagnosis or placement.message) if is_other else diagnosis(evaluation, fix, self._leaving)
            found = PodOutcome(State.NOWHERE, waiting_words(placement) or why)
        return Told(found, len(evaluation.feasible), fixes)

    def _fixes(self, evaluation: Evaluation, limit: Effort) -> tuple[Fix, ...]:
        """Those that change neither what is assumed nor a pod which has its node only from the run.

        Args:
            limit: what they cost at most.
        """
        return tuple(
            fix
            for fix in self._explainer.fixes(evaluation)
            if fix.effort <= limit
            and self._without.isdisjoint(fix.kind.split("+"))
            and self._not_to_change.isdisjoint((edit.kind, edit.key) for edit in fix.change.edits)
        )


def with_reasons(
    session: Session, report: Report, *, only: Collection[str] | None = None, without: Collection[str] = ()
) -> Report:
    """A report in which each pod that is left pending has its cause as `diagnosis`, and its best fix as `fix`.

    The first of some equal pods of a workload has the `patches` of the fix, too, and the others those that are about
    the pod itself.

    Args:
        session: as for `PendingReasons`.
        only: `namespace/name` of the pods that are meant; None for all.
        without: kinds of fixes that are not offered, such as one that the caller tried and that did not help.

    Example:
        with Session(load_snapshot("cluster.json")) as session:
            report = with_reasons(session, session.schedule())
    """
    pods = {pod.key for pod in session.pending}
    left = {one.pod for one in report.placements if _has_reason(one)} & (pods if only is None else pods & {*only})
    if not left:
        return report
    aside = session.scheduler.aside
    try:
        reasons = PendingReasons(session, report.placements, without)
        reasons.find(left)
        steps: dict[Hashable, set[Hashable]] = {}
        placements = (
            _with_reason(placement, reasons, steps) if placement.pod in left else placement
            for placement in report.placements
        )
        return msgspec.structs.replace(report, placements=tuple(placements))
    finally:
        session.scheduler.aside = aside


def _to_go(session: Session) -> Iterator[str]:
    """The nodes that the question cordons, as a drain does."""
    for kind, key in session.assumed:
        node = session.get(kind, key)
        if isinstance(node, Node) and node.unschedulable:
            yield node.name


def _is_at_its_turn(placement: Placement) -> bool:
    """Whether the pods before it in the queue are all that was decided before the last decision on it."""
    return placement.attempts == 1 and (placement.state is PodState.UNSCHEDULABLE or bool(placement.victims))


def _has_reason(placement: Placement) -> bool:
    """Whether filters or the cluster keep a pod waiting: not an exception, another pod, or the API server."""
    is_gated = placement.state is PodState.NOT_TRIED and bool(placement.plugin)
    is_reported = placement.state is PodState.ERROR and not placement.diagnosis  # such as that a selector fails
    is_left = placement.state is PodState.UNSCHEDULABLE or is_gated or is_reported
    return bool(placement.profile) and is_left and not placement.names_node


def _with_reason(placement: Placement, reasons: PendingReasons, steps: dict[Hashable, set[Hashable]]) -> Placement:
    """The placement with its cause and fix.

    Args:
        steps: group -> the steps that pods before it have, which are not taken again; takes those of this one, too.
    """
    answer, group = reasons.of(placement), reasons.group_of(placement)
    taken = steps.setdefault(group, set())
    patches: tuple[Patch, ...] = ()
    if answer.fixes and (not taken or reasons.names_pod(placement)):
        patches = tuple(patch for patch in answer.fixes[0].patches if patch.key not in taken)
        taken.update(patch.key for patch in patches)
    if placement.state is PodState.ERROR:  # its message is the cause; a diagnosis is that of an exception
        return msgspec.structs.replace(placement, fix=answer.fix, patches=patches)
    return msgspec.structs.replace(placement, diagnosis=answer.outcome.why, fix=answer.fix, patches=patches)
