"""Turns the last decision on each pod into its placement."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from kubesched.api import Pod
from kubesched.framework import Decision, DeletePod
from kubesched.queue import QueuedPod
from kubesched.scheduler import Scheduler, no_profile
from kubesched.session.creation import Creation
from kubesched.session.freed_room import leaving_for
from kubesched.session.pending_diagnosis import diagnosis_of
from kubesched.session.report import Placement, PodState


class Placements:
    """Placements of pods at the end of a run.

    Args:
        outcomes: the last decision on each pod, by uid.
    """

    def __init__(self, scheduler: Scheduler, creation: Creation, outcomes: Mapping[str, Decision]) -> None:
        self._queue = scheduler.queue
        self._cluster_state = scheduler.cluster_state
        self._frameworks = scheduler.frameworks
        self._creation = creation
        self._outcomes = outcomes
        self._leaving = dict(self._rooms_being_freed())

    def _rooms_being_freed(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The uid of each pod that waits on its nominated node for pods that are being deleted, and these."""
        for uid, decision in self._outcomes.items():
            pod = self._current(decision.pod)
            if pod is not None and pod.uid == uid and not pod.node_name and pod.status.nominated_node_name:
                yield uid, leaving_for(self._frameworks[decision.profile], pod)

    def _current(self, pod: Pod) -> Pod | None:
        current = self._cluster_state.objects.get("Pod", pod.key)
        return current if isinstance(current, Pod) else None

    def all(
        self, pods: Iterable[Pod], evicted: Iterable[DeletePod], owner_of: Callable[[Pod], str]
    ) -> Iterator[Placement]:
        """The placements of some pods.

        Args:
            evicted: the evictions of the run.
        """
        preemptors: dict[str, str] = {}  # by the uid of the victim
        victims: dict[str, list[str]] = {}  # by the uid of the preemptor
        for action in evicted:
            preemptors[action.pod.uid] = action.preemptor.key
            victims.setdefault(action.preemptor.uid, []).append(action.pod.key)
        gated = {one.key: one for one in self._queue.pending().pods if one.gated_by}
        for pod in pods:
            placement = self._of(pod, gated)
            placement.owner = owner_of(pod)
            placement.victims = tuple(victims.get(pod.uid, ()))
            placement.evicted_by = preemptors.get(pod.uid, "")
            yield placement

    def _of(self, pod: Pod, gated: Mapping[str, QueuedPod]) -> Placement:
        name = pod.scheduler_name
        if name not in self._frameworks:
            return Placement(pod.key, "", PodState.NOT_TRIED, message=no_profile(name, self._frameworks))
        if pod.is_terminating:
            return Placement(pod.key, name, PodState.NOT_TRIED, message="the pod is being deleted")
        decision = self._outcomes.get(pod.uid)
        if decision is None:
            return self._not_tried(pod, gated.get(pod.key))
        placement = Placement(pod.key, name, PodState.SCHEDULED, attempts=decision.attempt)
        if decision.node_name and decision.chosen is not None:
            placement.node = decision.node_name
            placement.total = decision.chosen.total if decision.chosen.scores else None
            placement.scores = decision.chosen.scores
            placement.runners_up = decision.runners_up
        else:
            self._explain(placement, decision)
        return placement

    def _not_tried(self, pod: Pod, gate: QueuedPod | None) -> Placement:
        creation = self._creation
        placement = Placement(pod.key, pod.scheduler_name, PodState.NOT_TRIED, message=creation.why_not(pod))
        placement.awaits, placement.refused = creation.awaits(pod), creation.refusal(pod)
        if gate is not None and not placement.is_not_created:
            placement.message, placement.plugin = gate.message, gate.gated_by
            placement.diagnosis = diagnosis_of((), (), gate.message, gate.gated_by)
        return placement

    def _explain(self, placement: Placement, decision: Decision) -> None:
        """Note why a pod got no node."""
        placement.state = _state_of(decision)
        placement.reason = decision.reason
        placement.message = decision.outcome.message
        if placement.state is not PodState.ERROR:
            filters = [plugin.name for plugin in self._frameworks[placement.profile].profile.points["filter"]]
            placement.plugin = decision.rejected_by
            said = decision.outcome.status.message or placement.message
            placement.diagnosis = diagnosis_of(decision.rejections, filters, said, placement.plugin, decision.left_out)
        elif decision.outcome.status.place:
            placement.diagnosis = decision.outcome.status.located
        current = self._current(decision.pod)
        if current is not None:
            placement.nominated_node = current.status.nominated_node_name
        if placement.state is PodState.NOT_DECIDED:  # kube-scheduler's words would say that no node fits
            placement.reason, placement.message = "", placement.diagnosis
        if placement.state is PodState.UNSCHEDULABLE:
            placement.leaving = self._leaving.get(decision.pod.uid, ())


def _state_of(decision: Decision) -> PodState:
    """The state of a pod that got no node."""
    if decision.reason == "SchedulerError":
        return PodState.ERROR
    return PodState.NOT_DECIDED if decision.outcome.status.is_undecided else PodState.UNSCHEDULABLE
