"""An API server and its controllers in memory: carries out the scheduler's actions and says what happened.

What is simplified, on purpose: victims leave at once and are not recreated; a claim that is to be provisioned keeps the node that was
selected for it, so that other pods with the claim fit only there, but no volume is made up; a volume that was reserved for a claim is
bound to it at once.
"""

from collections.abc import Callable

import msgspec

from kubesched.api import (
    EventType,
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    WatchEvent,
)
from kubesched.framework import Action, ActionDone, Bind, DeletePod, PatchPodStatus, RecordEvent, WriteObject
from kubesched.state import ClusterState

__all__ = ["MemoryCluster"]

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"


class MemoryCluster:
    """Carries out actions against a cluster state.

    Args:
        state: what objects are read from.
        tell: takes each event that an action causes.

    Attributes:
        evicted: victims in the order in which they left, with the preemptor and the node.
        events: events recorded on pods, in order.
        n_changes: how often something changed that other pods could notice; nominations and events are not counted.
    """

    def __init__(self, state: ClusterState, tell: Callable[[WatchEvent], None]) -> None:
        self.evicted: list[DeletePod] = []
        self.events: list[RecordEvent] = []
        self.n_changes = 0
        self._state = state
        self._tell = tell
        self._version = 0

    def perform(self, action: Action) -> ActionDone:
        """Carry out one action."""
        if isinstance(action, Bind | DeletePod | WriteObject):
            self.n_changes += 1
        match action:
            case Bind():
                return self._bind(action)
            case RecordEvent():
                self.events.append(action)
            case PatchPodStatus():
                self._patch(action)
            case DeletePod():
                self.evicted.append(action)
                self._tell(WatchEvent(EventType.DELETED, "Pod", action.pod))
            case WriteObject():
                self._write(action.kind, action.object)
            case _:
                return ActionDone(action, error=f"a simulated cluster cannot do {type(action).__name__}")
        return ActionDone(action)

    def _bind(self, action: Bind) -> ActionDone:
        placed = self._state.placed(action.pod.uid)
        pod = action.pod if placed is None else placed.pod
        if action.annotations:
            metadata = pod.metadata
            merged = {**(metadata.annotations or {}), **action.annotations}
            pod = msgspec.structs.replace(pod, metadata=msgspec.structs.replace(metadata, annotations=merged))
        self._tell(WatchEvent(EventType.MODIFIED, "Pod", pod))
        return ActionDone(action)

    def _patch(self, action: PatchPodStatus) -> None:
        """Set the nomination; conditions are read by nobody here."""
        nominated = action.nominated_node_name
        current = self._state.objects.get("Pod", action.pod.key)
        if nominated is None or not isinstance(current, Pod) or current.node_name:
            return
        if current.status.nominated_node_name != nominated:
            status = msgspec.structs.replace(current.status, nominated_node_name=nominated)
            self._tell(WatchEvent(EventType.MODIFIED, "Pod", self._updated(current, status)))

    def _updated(self, pod: Pod, status: object) -> Pod:
        self._version += 1
        metadata = msgspec.structs.replace(pod.metadata, resource_version=f"simulated-{self._version}")
        return msgspec.structs.replace(pod, metadata=metadata, status=status)

    def _write(self, kind: str, obj: KubeObject) -> None:
        self._tell(WatchEvent(EventType.MODIFIED, kind, obj))
        if isinstance(obj, PersistentVolume) and obj.spec.claim_ref is not None:
            self._complete_binding(obj)

    def _complete_binding(self, volume: PersistentVolume) -> None:
        """The volume controller's part: the claim that a volume was reserved for becomes bound to it."""
        reference = volume.spec.claim_ref
        assert reference is not None
        claim = self._state.objects.get("PersistentVolumeClaim", f"{reference.namespace}/{reference.name}")
        bound = msgspec.structs.replace(volume, status=msgspec.structs.replace(volume.status, phase="Bound"))
        self._tell(WatchEvent(EventType.MODIFIED, "PersistentVolume", bound))
        if isinstance(claim, PersistentVolumeClaim) and not claim.spec.volume_name:
            annotations = {**claim.annotations, _BIND_COMPLETED: "yes"}
            bound_claim = msgspec.structs.replace(
                claim,
                metadata=msgspec.structs.replace(claim.metadata, annotations=annotations),
                spec=msgspec.structs.replace(claim.spec, volume_name=volume.name),
                status=msgspec.structs.replace(claim.status, phase="Bound"),
            )
            self._tell(WatchEvent(EventType.MODIFIED, "PersistentVolumeClaim", bound_claim))
