"""An API server and its controllers in memory: carries out the scheduler's actions and returns the resulting events.

What is simplified, on purpose: victims leave at once and are not recreated; volumes are bound and provisioned at once
(see `volume_controllers`), and devices are attached as soon as they are allocated.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from kubesched.api import EventType, KubeObject, Pod, ResourceClaim, WatchEvent, decode_object, edited
from kubesched.controllers import VolumeControllers, attached
from kubesched.framework import (
    Action,
    ActionDone,
    Bind,
    CreateObject,
    DeleteObject,
    DeletePod,
    PatchPodStatus,
    ReadObject,
    RecordEvent,
    WriteObject,
)
from kubesched.session.claim_refusals import is_user_twice, refusal_of
from kubesched.state import ClusterState

_MODIFIED: Final = EventType.MODIFIED  # for each pod; in Python 3.11 ten times as quick as the member of its class


class MemoryCluster:
    """Carries out actions against a cluster state.

    Args:
        cluster_state: what objects are read from.
        tell: takes each event that an action causes.

    Attributes:
        evicted: victims in the order in which they left, with the preemptor and the node.
        events: events recorded on pods, in order.
        n_changes: how often something changed that other pods could notice; nominations and events are not counted.
        checks_claims: whether claims are refused that an API server refuses.
    """

    def __init__(self, cluster_state: ClusterState, tell: Callable[[WatchEvent], None]) -> None:
        self.evicted: list[DeletePod] = []
        self.events: list[RecordEvent] = []
        self.n_changes = 0
        self.checks_claims = True
        self._cluster_state = cluster_state
        self._tell = tell
        self._version = 0
        self._writes_pods = False  # whether PreBind ever wrote a pod
        self._controllers = VolumeControllers(cluster_state.objects, tell)

    def perform(self, action: Action) -> ActionDone:
        """Carry out one action."""
        match action:
            case Bind():
                return ActionDone(action, error=self._bind(action))
            case RecordEvent():
                self.events.append(action)
            case PatchPodStatus():
                self._patch(action)
            case DeletePod():
                self.n_changes += 1
                self.evicted.append(action)
                self._tell(WatchEvent(EventType.DELETED, "Pod", action.pod))
            case WriteObject():
                self.n_changes += 1
                refused = self._refused(action)
                return refused or ActionDone(action, answer=self._write(action.kind, action.object))
            case ReadObject():
                key = f"{action.namespace}/{action.name}" if action.namespace else action.name
                return ActionDone(action, answer=self._cluster_state.objects.get(action.kind, key))
            case CreateObject():
                self.n_changes += 1
                return ActionDone(action, answer=self._create(action))
            case DeleteObject():
                self.n_changes += 1
                self._tell(WatchEvent(EventType.DELETED, action.kind, action.object))
            case _:
                return ActionDone(action, error=f"a simulated cluster cannot do {type(action).__name__}")
        return ActionDone(action)

    def _bind(self, action: Bind) -> str:
        """Bind a pod that still exists; else return the error, in the API server's words."""
        placed = self._cluster_state.placed(action.pod.uid)
        pod = action.pod if placed is None else placed.pod
        if placed is None:
            current = self._cluster_state.objects.get("Pod", pod.key)
            if not isinstance(current, Pod) or current.uid != pod.uid:
                return f'pods "{pod.name}" not found'
        if self._writes_pods:
            pod = self._as_written(pod)
        if action.annotations:
            metadata = pod.metadata
            merged = {**(metadata.annotations or {}), **action.annotations}
            pod = edited(pod, metadata=msgspec.structs.replace(metadata, annotations=merged))
        self.n_changes += 1
        self._tell(WatchEvent(_MODIFIED, "Pod", pod))
        return ""

    def _as_written(self, pod: Pod) -> Pod:
        """A pod on its node with the claim that PreBind wrote for its extended resources."""
        current = self._cluster_state.objects.get("Pod", pod.key)
        served = current.status.extended_resource_claim_status if isinstance(current, Pod) else None
        if served is None or served == pod.status.extended_resource_claim_status:
            return pod
        return edited(pod, status=msgspec.structs.replace(pod.status, extended_resource_claim_status=served))

    def _patch(self, action: PatchPodStatus) -> None:
        """Set the nomination; conditions are not read here."""
        nominated = action.nominated_node_name
        current = self._cluster_state.objects.get("Pod", action.pod.key)
        if nominated is None or not isinstance(current, Pod) or current.node_name:
            return
        if current.status.nominated_node_name != nominated:
            status = msgspec.structs.replace(current.status, nominated_node_name=nominated)
            self._tell(WatchEvent(EventType.MODIFIED, "Pod", self._updated(current, status)))

    def _updated(self, pod: Pod, status: object) -> Pod:
        self._version += 1
        metadata = msgspec.structs.replace(pod.metadata, resource_version=f"simulated-{self._version}")
        return edited(pod, metadata=metadata, status=status)

    def _refused(self, action: WriteObject) -> ActionDone | None:
        """What comes of a write of a claim that an API server refuses; None for any other."""
        claim = action.object
        if not isinstance(claim, ResourceClaim) or action.subresource != "status" or action.patch is not None:
            return None
        current = self._cluster_state.objects.get(action.kind, claim.key)
        refusal = refusal_of(claim, current)
        if refusal is not None and self.checks_claims:
            reason, text = refusal
            return ActionDone(action, text, reason=reason)
        if refusal is not None and refusal[0] == "Invalid" and is_user_twice(claim):  # the second write is the first
            return ActionDone(action, answer=current)
        return None

    def _write(self, kind: str, obj: KubeObject) -> KubeObject:
        if isinstance(obj, ResourceClaim):
            obj = attached(obj)
        self._writes_pods |= isinstance(obj, Pod)
        self._tell(WatchEvent(EventType.MODIFIED, kind, obj))
        self._controllers.written(obj)
        return obj

    def _create(self, action: CreateObject) -> KubeObject:
        """Create an object, under a made-up name where it has none."""
        self._version += 1
        metadata = {"uid": f"simulated-{self._version}", **action.document["metadata"]}
        metadata.setdefault("name", f"{metadata.get('generateName', '')}{self._version:05d}")
        created = decode_object(action.kind, msgspec.json.encode({**action.document, "metadata": metadata}))
        self._tell(WatchEvent(EventType.ADDED, action.kind, created))
        return created
