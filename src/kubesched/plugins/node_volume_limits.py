"""NodeVolumeLimits: a node attaches at most as many volumes of a CSI driver as its CSINode says.

Rule: kube-scheduler v1.36 NodeVolumeLimits (CSI). The VolumeLimitScaling gate is off. In-tree volumes count as their
CSI driver's.
"""

from collections import Counter
from typing import Final

import numpy as np

from kubesched.api import ActionType, ClusterEvent, CSINode, EventResource, KubeObject, Pod, VolumeAttachment
from kubesched.engine import BoolVector, IntVector
from kubesched.framework import (
    CycleState,
    DependsOn,
    EventRegistration,
    Plugin,
    QueueingHint,
    Status,
    Verdicts,
)
from kubesched.plugins.hints import claim_hint, is_placed
from kubesched.state import (
    AttachedVolumes,
    CSIVolume,
    Has,
    Nodes,
    PodVolumes,
    driver_limits,
    pod_volumes,
)

__all__ = ["NodeVolumeLimits"]

_EXCEEDED: Final = Status.unschedulable("node(s) exceed max volume count")


class NodeVolumeLimits(Plugin):
    """The volumes that the pod brings must not exceed a limit; drivers of which it brings nothing new do not matter."""

    depends_on = DependsOn.CLUSTER
    reads = ("CSINode", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "VolumeAttachment")
    reasons = (_EXCEEDED,)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Only claims and volumes of migrated plugins count."""
        volumes = state.pod.volumes
        return Status.SUCCESS if volumes.claims or volumes.in_tree else Status.SKIP

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """1 where a limit would be exceeded; the higher ones are faults of claims."""
        attached = self.handle.state.volumes.attached
        wanted, rejection = self._wanted(attached, pod, state.pod.volumes)
        if rejection is not None:
            return Verdicts(np.ones(len(nodes), dtype=np.int16), (rejection,))
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        if not wanted:
            return Verdicts(verdicts, self.reasons)
        csi_nodes = self.handle.state.volumes.csi_nodes
        on_nodes = _OnNodes(attached, nodes)
        for driver, volumes in _by_driver(wanted).items():
            if driver in csi_nodes.limits:
                new = on_nodes.count_new(volumes)
                room = nodes.take(csi_nodes.limits[driver]) - on_nodes.held(driver)
                verdicts[(new > 0) & (new > room)] = 1
        numbers = {_EXCEEDED: 1}
        for position, fault in on_nodes.faults.items():
            if csi_nodes.has_limits[nodes.row(position)]:
                verdicts[position] = numbers.setdefault(Status.error(fault), len(numbers) + 1)
        return Verdicts(verdicts, list(numbers))

    def _wanted(
        self, attached: AttachedVolumes, pod: Pod, volumes: PodVolumes
    ) -> tuple[frozenset[CSIVolume], Status | None]:
        """The volumes that the pod brings, or what stands in its way on every node."""
        for i, (name, _) in enumerate(volumes.claims):
            if name and self.handle.get("PersistentVolumeClaim", pod.namespace, name) is None:
                earlier = attached.of_pod(pod, PodVolumes(volumes.claims[:i], (), ()))
                if earlier.fault:
                    return earlier.volumes, Status.error(earlier.fault)
                text = f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found'
                return earlier.volumes, Status.unresolvable(text)
        found = attached.of_pod(pod, volumes)
        return found.volumes, Status.error(found.fault) if found.fault else None

    def events_to_register(self) -> list[EventRegistration]:
        """Limits that come or grow; pods, attachments that go; claims that come."""
        return [
            EventRegistration(ClusterEvent(EventResource.CSI_NODE, ActionType.ADD)),
            EventRegistration(ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE), _csi_node_updated),
            EventRegistration(ClusterEvent(EventResource.POD, ActionType.DELETE), _pod_deleted),
            EventRegistration(
                ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD), claim_hint(ephemeral=True)
            ),
            EventRegistration(ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE), _attachment_deleted),
        ]


class _OnNodes:
    """What is attached to the nodes of a table, pods that it moved taken into account.

    Attributes:
        faults: position -> why the volumes there cannot be told.
    """

    def __init__(self, attached: AttachedVolumes, nodes: Nodes) -> None:
        self._attached = attached
        self._nodes = nodes
        self._by_pods: dict[int, frozenset[CSIVolume]] = {}  # of moved positions
        self._held: dict[int, Counter[str]] = {}  # of moved positions
        faulty = np.zeros(nodes.columns.capacity, dtype=np.bool_)
        faulty[list(attached.faults)] = True
        positions = np.flatnonzero(nodes.take(faulty)).tolist() if attached.faults else []
        self.faults = {position: attached.faults[nodes.row(position)] for position in positions}
        for position in nodes.moved(Has.VOLUMES):
            self._look_at(position)

    def _look_at(self, position: int) -> None:
        found = self._attached.of_pods(self._nodes.pods(position))
        every = found.volumes | self._attached.attached_without_pod(self._nodes.name(position))
        self._by_pods[position] = found.volumes
        self._held[position] = Counter(volume[0] for volume in every)
        self.faults.pop(position, None)
        if found.fault:
            self.faults[position] = found.fault

    def held(self, driver: str) -> IntVector:
        """(n,) int64: volumes of a driver on each node."""
        column = self._attached.held.get(driver)
        if column is None:
            held = np.zeros(len(self._nodes), dtype=np.int64)
        else:
            held = self._nodes.take(column)
            held = held.copy() if self._held else held
        for position, counts in self._held.items():
            held[position] = counts[driver]
        return held

    def count_new(self, volumes: list[CSIVolume]) -> IntVector:
        """(n,) int64: how many of these volumes no pod on the node uses."""
        new = np.full(len(self._nodes), len(volumes), dtype=np.int64)
        for volume in volumes:
            rows = self._attached.pod_rows.get(volume)
            if rows:
                new -= self._nodes.take(self._mask(rows))
        for position, present in self._by_pods.items():
            new[position] = sum(volume not in present for volume in volumes)
        return new

    def _mask(self, rows: set[int]) -> BoolVector:
        mask = np.zeros(self._nodes.columns.capacity, dtype=np.bool_)
        mask[list(rows)] = True
        return mask


def _by_driver(volumes: frozenset[CSIVolume]) -> dict[str, list[CSIVolume]]:
    found: dict[str, list[CSIVolume]] = {}
    for volume in volumes:
        found.setdefault(volume[0], []).append(volume)
    return found


# --- hints ---


def _csi_node_updated(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Worth a try when some limit grew; one that was not set counts as 0."""
    before = driver_limits(old) if isinstance(old, CSINode) else {}
    after = driver_limits(new) if isinstance(new, CSINode) else {}
    grew = any(limit > before.get(driver, 0) for driver, limit in after.items())
    return QueueingHint.QUEUE if grew else QueueingHint.SKIP


def _pod_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Worth a try when a pod with volumes that count left a node, or a nomination to one."""
    if not isinstance(old, Pod) or not is_placed(old):
        return QueueingHint.SKIP
    volumes = pod_volumes(old)
    return QueueingHint.QUEUE if volumes.claims or volumes.in_tree else QueueingHint.SKIP


def _attachment_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Worth a try for a pod with claims, or with a volume of the driver that let go."""
    attacher = old.spec.attacher if isinstance(old, VolumeAttachment) else ""
    volumes = pod_volumes(pod)
    helps = bool(volumes.direct_claims) or any(kind.driver == attacher for kind, _ in volumes.in_tree)
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
