"""Turns the last decision on each pod into its placement."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubesched.api import Pod
from kubesched.framework import Decision, DeletePod
from kubesched.queue import QueuedPod
from kubesched.scheduler import Scheduler, no_profile
from kubesched.session.creation import Creation
from kubesched.session.freed_room import leaving_for
from kubesched.session.pending_diagnosis import diagnosis_of
from kubesched.session.report import Placement, PodState

_SCHEDULED: Final = PodState.SCHEDULED  # for each pod; in Python 3.11 ten times as quick as the member of its class


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
            pod = None if decision.node_name else self._current(decision.pod)
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
            placement, uid = self._of(pod, gated), pod.metadata.uid
            if owner := owner_of(pod):
                placement = msgspec.structs.replace(placement, owner=owner)
            if uid in victims or uid in preemptors:
                lost, preemptor = tuple(victims.get(uid, ())), preemptors.get(uid, "")
                placement = msgspec.structs.replace(placement, victims=lost, evicted_by=preemptor)
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
        node_name = decision.node_name
        if not node_name or decision.chosen is None:
            return self._left(pod, name, decision)
        return Placement(
            pod.key,
            name,
            _SCHEDULED,
            node_name,
            decision.attempt,
            total=decision.chosen.total if decision.chosen.scores else None,
            scores=decision.chosen.scores,
            runners_up=decision.runners_up,
        )

    def _not_tried(self, pod: Pod, gate: QueuedPod | None) -> Placement:
        placement = not_created(pod, self._creation)
        if gate is None or placement.is_not_created:
            return placement
        diagnosis = diagnosis_of((), (), gate.message, gate.gated_by)
        return msgspec.structs.replace(placement, message=gate.message, plugin=gate.gated_by, diagnosis=diagnosis)

    def _left(self, pod: Pod, profile: str, decision: Decision) -> Placement:
        """The placement of a pod that got no node."""
        state = _state_of(decision)
        plugin, diagnosis = self._why(profile, state, decision)
        current = self._current(decision.pod)
        is_decided = state is not PodState.NOT_DECIDED  # else kube-scheduler's words would say that no node fits
        return Placement(
            pod.key,
            profile,
            state,
            attempts=decision.attempt,
            reason=decision.reason if is_decided else "",
            message=decision.outcome.message if is_decided else diagnosis,
            nominated_node="" if current is None else current.status.nominated_node_name,
            diagnosis=diagnosis,
            leaving=self._leaving.get(decision.pod.uid, ()) if state is PodState.UNSCHEDULABLE else (),
            plugin=plugin,
        )

    def _why(self, profile: str, state: PodState, decision: Decision) -> tuple[str, str]:
        """The plugin that rejects a pod by itself, and the nearest obstacle."""
        outcome = decision.outcome
        if state is PodState.ERROR:
            return "", outcome.status.located if outcome.status.place else ""
        filters = [plugin.name for plugin in self._frameworks[profile].profile.points["filter"]]
        said, plugin = outcome.status.message or outcome.message, decision.rejected_by
        return plugin, diagnosis_of(decision.rejections, filters, said, plugin, decision.left_out)


def not_created(pod: Pod, creation: Creation) -> Placement:
    """The placement of a pod that no scheduler sees, with the reason if it does not exist."""
    return Placement(
        pod.key,
        pod.scheduler_name,
        PodState.NOT_TRIED,
        message=creation.why_not(pod),
        awaits=creation.awaits(pod),
        refused=creation.refusal(pod),
        fix=creation.help(pod),
    )


def _state_of(decision: Decision) -> PodState:
    """The state of a pod that got no node."""
    if decision.reason == "SchedulerError":
        return PodState.ERROR
    return PodState.NOT_DECIDED if decision.outcome.status.is_undecided else PodState.UNSCHEDULABLE
