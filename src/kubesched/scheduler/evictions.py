"""Evicts the victims that PostFilter found, and keeps their preemptor out of the queue until the last one has left.

Rule: kube-scheduler v1.36 preemption executor. A victim that Permit holds back is rejected, and PreBind of a victim is
cancelled. Any other is deleted, the last one after all others: its deletion is the event that wakes the preemptor. When
a victim cannot be deleted, the last one stays, and the preemptor is activated, since no event would wake it. The
preemptor's status is written before. Upstream deletes all victims but the last in parallel, this one after another.
"""

from collections.abc import Callable, Container, Coroutine, Iterable, Mapping
from typing import Any

from kubesched.api import KubeObject, Pod
from kubesched.framework import Action, Decision, DeletePod, PatchPodStatus, RecordEvent, WaitingPod, pods_to_evict
from kubesched.queue import Nominator
from kubesched.release import Release
from kubesched.scheduler.placed_pod import PlacedPod
from kubesched.scheduler.suspension import begun, perform, suspend
from kubesched.scheduler.waits import Waits
from kubesched.state import ObjectStore

Eviction = Coroutine[Any, Any, None]
"""Evicts the victims of one decision; yields requests (see `suspension`). Closing it activates the preemptor."""


class Evictions(Container[str]):
    """The pods whose victims are being evicted, by uid; not those whose last victim has gone or is terminating.

    Args:
        objects: the pods as the cluster has them.
        placed_pods: pods in a binding cycle, by uid.
        waiting_pods: those of them that Permit holds back.
        waits: what binding cycles wait for.
        nominator: who is nominated where.
        emit: takes the events of victims that are not deleted, and nominations that end.
        activate: tries pods again now.
        release: the version of Kubernetes that decides.
    """

    def __init__(
        self,
        objects: ObjectStore,
        placed_pods: Mapping[str, PlacedPod],
        waiting_pods: Mapping[str, WaitingPod],
        waits: Waits,
        nominator: Nominator,
        emit: Callable[[Action], None],
        activate: Callable[[Iterable[Pod]], None],
        release: Release,
    ) -> None:
        self._release = release
        self._placed_pods = placed_pods
        self._waiting_pods = waiting_pods
        self._waits = waits
        self._nominator = nominator
        self._emit = emit
        self._activate = activate
        # An event may ask about each of a thousand preemptors, so their victims are not looked up then.
        self._last_victims: dict[str, str] = {}  # the uid of the preemptor -> that of a victim which is still there
        self._preemptors: dict[str, set[str]] = {}  # the same from victim to preemptors
        self._objects = objects
        self._listens = False  # to each pod that changes; from the first victim on

    def __contains__(self, uid: object) -> bool:
        return uid in self._last_victims

    def _victim_changed(self, before: KubeObject | None, after: KubeObject | None) -> None:
        if before is None or before.uid not in self._preemptors:
            return
        if after is None or after.uid != before.uid or after.is_terminating:
            for preemptor in self._preemptors.pop(before.uid):
                del self._last_victims[preemptor]

    def _end(self, preemptor: Pod) -> None:
        victim = self._last_victims.pop(preemptor.uid, None)
        if victim is not None:
            waiting = self._preemptors[victim]
            waiting.remove(preemptor.uid)
            if not waiting:
                del self._preemptors[victim]

    def begin(self, decision: Decision) -> Eviction | None:
        """Note that the victims of a decision leave. Returns: what evicts them; None where no pod has to be evicted."""
        node_name = decision.nominated_node_name
        if node_name and decision.victims:
            self._end_lower_nominations(node_name, decision.pod.priority)
        victims = pods_to_evict(decision.victims, self._release)
        if not node_name or not victims:
            return None
        self._end(decision.pod)
        if not self._listens:
            self._listens = True
            self._objects.listen("Pod", self._victim_changed)
        preemptor, last = decision.pod.uid, victims[-1].uid
        self._last_victims[preemptor] = last
        self._preemptors.setdefault(last, set()).add(preemptor)
        return begun(self._evict(decision.pod, node_name, victims))

    def _end_lower_nominations(self, node_name: str, priority: int) -> None:
        """Pods of lower priority may no longer fit on the node that a preemptor is nominated to."""
        for other in self._nominator.pods_on(node_name):
            if other.pod.priority < priority:
                self._nominator.delete(other.pod)
                if other.pod.status.nominated_node_name:
                    self._emit(PatchPodStatus(other.pod, nominated_node_name=""))

    async def _evict(self, preemptor: Pod, node_name: str, victims: list[Pod]) -> None:
        is_done = False
        try:
            await suspend(None)
            # After the status that the attempt has emitted: what that wakes finds the preemptor still gated.
            await perform(PatchPodStatus(preemptor, nominated_node_name=node_name))
            is_done = await self._evict_all(preemptor, node_name, victims)
        finally:
            self._end(preemptor)
            if not is_done:
                self._activate([preemptor])

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
