"""Evicts the victims that PostFilter found, and keeps their preemptor out of the queue until the last one has left.

Rule: kube-scheduler v1.36 preemption executor. A victim that Permit holds back is rejected, and PreBind of a victim is
cancelled. Any other is deleted, the last one after all others: its deletion is the event that wakes the preemptor. When
a victim cannot be deleted, the last one stays, and the preemptor is activated, since no event would wake it. Upstream
deletes all victims but the last in parallel, this one after another.
"""

from collections.abc import Callable, Container, Coroutine, Mapping
from typing import Any

from kubesched.api import Pod
from kubesched.framework import Action, Decision, DeletePod, RecordEvent, WaitingPod
from kubesched.scheduler.placed_pod import PlacedPod
from kubesched.scheduler.suspension import begun, perform, suspend
from kubesched.scheduler.waits import Waits

__all__ = ["Eviction", "Evictions"]

Eviction = Coroutine[Any, Any, None]
"""Evicts the victims of one decision; yields requests (see `suspension`). Closing it activates the preemptor."""


class Evictions(Container[str]):
    """The pods whose victims are being evicted, by uid; not those whose last victim has gone or is terminating.

    Args:
        find_pod: the pod as the cluster has it now, None when it is gone.
        placed_pods: pods in a binding cycle, by uid.
        waiting_pods: those of them that Permit holds back.
        waits: what binding cycles wait for.
        emit: takes the events of victims that are not deleted.
        activate: tries a pod again now.
    """

    def __init__(
        self,
        find_pod: Callable[[Pod], Pod | None],
        placed_pods: Mapping[str, PlacedPod],
        waiting_pods: Mapping[str, WaitingPod],
        waits: Waits,
        emit: Callable[[Action], None],
        activate: Callable[[Pod], None],
    ) -> None:
        self._find_pod = find_pod
        self._placed_pods = placed_pods
        self._waiting_pods = waiting_pods
        self._waits = waits
        self._emit = emit
        self._activate = activate
        self._last_victims: dict[str, Pod] = {}  # by the uid of the preemptor

    def __contains__(self, uid: object) -> bool:
        last = self._last_victims.get(uid) if isinstance(uid, str) else None
        current = None if last is None else self._find_pod(last)
        return current is not None and not current.is_terminating

    def begin(self, decision: Decision) -> Eviction | None:
        """Note that the victims of a decision leave. Returns: what evicts them; None where no pod has to be evicted."""
        node_name = decision.nominated_node_name
        victims = [info.pod for info in decision.victims if not info.pod.is_terminating]
        if not node_name or not victims:
            return None
        self._last_victims[decision.pod.uid] = victims[-1]
        return begun(self._evict(decision.pod, node_name, victims))

    async def _evict(self, preemptor: Pod, node_name: str, victims: list[Pod]) -> None:
        is_done = False
        try:
            await suspend(None)
            is_done = await self._evict_all(preemptor, node_name, victims)
        finally:
            self._last_victims.pop(preemptor.uid, None)
            if not is_done:
                self._activate(preemptor)

    async def _evict_all(self, preemptor: Pod, node_name: str, victims: list[Pod]) -> bool:
        for victim in victims:
            if self._end_attempt(victim):
                note = f"Preempted by pod {preemptor.uid} on node {node_name} (in kube-scheduler memory)."
                self._emit(RecordEvent("Preempted", "Normal", "Preempting", victim, note, preemptor))
            elif (await perform(DeletePod(victim, preemptor, node_name))).error:
                return False
        return True

    def _end_attempt(self, victim: Pod) -> bool:
        """Have a victim leave that is not bound yet. Returns: whether that is enough."""
        waiting = self._waiting_pods.get(victim.uid)
        if waiting is not None and waiting.status is None:
            waiting.reject("DefaultPreemption", "preempted")
            return True
        placed = self._placed_pods.get(victim.uid)
        return placed is not None and placed.pre_bind.cancel("preempted by DefaultPreemption", self._waits)
