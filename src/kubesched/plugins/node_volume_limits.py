"""NodeVolumeLimits: a node attaches at most as many volumes of a CSI driver as its CSINode says.

Rule: kube-scheduler NodeVolumeLimits (CSI). In-tree volumes count as their CSI driver's; before v1.36, those of
Portworx only on nodes whose CSINode lists the plugin as migrated. With the gate VolumeLimitScaling, which is on since
v1.37, a node must have the drivers of all volumes whose CSIDriver says preventPodSchedulingIfMissing; in v1.35 whatever
it says.
"""

from collections.abc import Collection, Iterator
from typing import Final

import numpy as np

from kubesched.api import ActionType, CSIDriver, CSINode, EventResource, KubeObject, Pod, VolumeAttachment
from kubesched.engine import BoolVector, IntVector
from kubesched.framework import CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status, Verdicts
from kubesched.plugins.rules_of_versions import RuleOfVersion
from kubesched.plugins.shared_hints import by_claim, is_placed, nothing, registration, volumes_part
from kubesched.state import (
    PORTWORX,
    AttachedVolumes,
    CSIVolume,
    Has,
    NodeInfo,
    Nodes,
    PodVolumes,
    driver_limits,
    pod_volumes,
    where_migrated,
    where_not_migrated,
)

_EXCEEDED: Final = Status.unschedulable("node(s) exceed max volume count")


class NodeVolumeLimits(Plugin):
    """The volumes that the pod brings must not exceed a limit; drivers of which it brings nothing new do not matter."""

    depends_on = DependsOn.CLUSTER
    equal_by = ("own_claims",)
    reads = ("CSIDriver", "CSINode", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "VolumeAttachment")
    reasons = (_EXCEEDED,)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Only claims and volumes of migrated plugins count."""
        volumes = state.pod.volumes
        return Status.SUCCESS if volumes.n_attachable else Status.SKIP

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """1 where a limit would be exceeded; the higher ones are faults of claims."""
        attached = self.handle.cluster_state.volumes.attached
        wanted, rejection = self._wanted(attached, pod, state.pod.volumes)
        if rejection is not None:
            return Verdicts(np.ones(len(nodes), dtype=np.int16), (rejection,))
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        if not wanted:
            return Verdicts(verdicts, self.reasons)
        exceeded, faults = self._exceeded(attached, where_not_migrated(wanted), nodes)
        if where_migrated(wanted) != wanted:
            flags = self.handle.cluster_state.volumes.csi_nodes.migrated.get(PORTWORX)
            is_migrated = np.zeros(len(nodes), dtype=np.bool_) if flags is None else nodes.take(flags)
            exceeded_there, faults_there = self._exceeded(attached, where_migrated(wanted), nodes)
            exceeded = np.where(is_migrated, exceeded_there, exceeded)
            faults = {at: fault for at, fault in faults_there.items() if is_migrated[at] or at in faults}
        verdicts[exceeded] = 1
        numbers = {_EXCEEDED: 1}
        for position, fault in faults.items():
            if self.handle.cluster_state.volumes.csi_nodes.has_limits[nodes.row(position)]:
                verdicts[position] = numbers.setdefault(Status.error(fault), len(numbers) + 1)
        for text, is_missing in self._missing_drivers(pod, state.pod.volumes, nodes).items():
            verdicts[is_missing] = numbers.setdefault(Status.unschedulable(text), len(numbers) + 1)
        return Verdicts(verdicts, list(numbers))

    def _exceeded(
        self, attached: AttachedVolumes, wanted: frozenset[CSIVolume], nodes: Nodes
    ) -> tuple[BoolVector, dict[int, str]]:
        """Where a limit would be exceeded, and position -> why the volumes of the pods there cannot be determined."""
        exceeded, may_worsen = np.zeros(len(nodes), dtype=np.bool_), np.zeros(len(nodes), dtype=np.bool_)
        if not wanted:
            return exceeded, {}
        limits = self.handle.cluster_state.volumes.csi_nodes.limits
        wanted_of = {driver: volumes for driver, volumes in _by_driver(wanted).items() if driver in limits}
        faults = _faults(attached, nodes)
        may_worsen[list(faults)] = True
        at_most = nodes.take(attached.uses) + nodes.moved_volumes
        for driver, volumes in wanted_of.items():
            new = _count_new(attached, nodes, volumes)
            limit = nodes.take(limits[driver])
            in_doubt = len(volumes) > limit - at_most  # else they fit, whatever volumes the pods share
            exceeded |= in_doubt & (new > 0) & (new > limit - _held(attached, nodes, driver))
            may_worsen |= in_doubt & (new < len(volumes))  # who leaves may be the one who has a wanted volume
        for position, infos in nodes.in_doubt(Has.VOLUMES, exceeded | may_worsen).items():
            name = nodes.name(position)
            there = attached.of_pods(infos, name)
            every = there.volumes | attached.attached_without_pod(name)
            row = nodes.row(position)
            drivers = [driver for driver, *_ in every]
            exceeded[position] = any(
                0 < len(mine - there.volumes) > limits[driver].item(row) - drivers.count(driver)
                for driver, mine in wanted_of.items()
            )
            faults.pop(position, None)
            if there.fault:
                faults[position] = there.fault
        return exceeded, faults

    def _missing_drivers(self, pod: Pod, volumes: PodVolumes, nodes: Nodes) -> dict[str, BoolVector]:
        """By text, the nodes that lack a driver: of several, that of the first claim; kube-scheduler takes any."""
        missing: dict[str, BoolVector] = {}
        is_open = np.ones(len(nodes), dtype=np.bool_)
        for driver, lacking in self.lacking_drivers(pod, volumes, nodes):
            lacks = is_open & lacking
            text = f"{driver} CSI driver is not installed on the node"
            missing[text] = missing[text] | lacks if text in missing else lacks
            is_open = is_open & ~lacks
        return missing

    def lacking_drivers(self, pod: Pod, volumes: PodVolumes, nodes: Nodes) -> Iterator[tuple[str, BoolVector]]:
        """Each driver that the pod needs, in the order of its claims, with the nodes that lack it."""
        if not self.release.has("VolumeLimitScaling"):
            return
        parts = [PodVolumes((claim,), (), ()) for claim in volumes.claims]
        cluster = self.handle.cluster_state.volumes
        for part in (*parts, PodVolumes((), (), volumes.in_tree)):
            for driver in sorted({name for name, *_ in cluster.attached.of_pod(pod, part).volumes}):
                if self._is_needed(driver):
                    has_driver = cluster.csi_nodes.installed.get(driver)
                    yield driver, np.ones(len(nodes), dtype=np.bool_) if has_driver is None else ~nodes.take(has_driver)

    def _is_needed(self, driver: str) -> bool:
        """Whether the pod needs a node that has the driver."""
        known = self.handle.get("CSIDriver", "", driver)
        prevents = isinstance(known, CSIDriver) and known.spec.prevent_pod_scheduling_if_missing
        return bool(prevents) or self.release.before(36)

    def _wanted(
        self, attached: AttachedVolumes, pod: Pod, volumes: PodVolumes
    ) -> tuple[frozenset[CSIVolume], Status | None]:
        """The volumes that the pod brings, or why every node rejects it."""
        for i, (name, _) in enumerate(volumes.claims):
            if name and self.handle.get("PersistentVolumeClaim", pod.namespace, name) is None:
                earlier = attached.of_pod(pod, PodVolumes(volumes.claims[:i], (), ()))
                if earlier.fault:
                    return earlier.volumes, Status.error(earlier.fault)
                text = f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found'
                return earlier.volumes, Status.unresolvable(text)
        mine = attached.of_pod(pod, volumes)
        return mine.volumes, Status.error(mine.fault) if mine.fault else None

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """Each driver of which the node has no place left for the pod's volumes."""
        volumes = self.handle.cluster_state.volumes
        nodes = self.handle.snapshot().nodes
        position = nodes.position_of(node.name)
        if status.reasons != _EXCEEDED.reasons or position is None:
            return
        one, limits = nodes.select(np.array([position])), volumes.csi_nodes.limits
        wanted, _ = self._wanted(volumes.attached, pod, state.pod.volumes)
        for driver, mine in sorted(_by_driver(volumes.attached.on_node(wanted, node.name)).items()):
            new = int(_count_new(volumes.attached, one, mine)[0])
            held = int(_held(volumes.attached, one, driver)[0])
            if driver in limits and 0 < new > (limit := int(one.take(limits[driver])[0])) - held:
                yield f"{held} of {limit} places for volumes of {driver} are in use; the pod brings {new} more"

    def version_rules(self, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
        """Nodes without a CSI driver are rejected by some versions."""
        nodes, attached = self.handle.snapshot().nodes, self.handle.cluster_state.volumes.attached
        volumes = state.pod.volumes
        if self._wanted(attached, pod, volumes)[1] is not None:
            return
        missing = self._missing_drivers(pod, volumes, nodes)
        if any(lacks.any() for lacks in missing.values()):
            text = "v1.37 rejects nodes without the CSI driver of a volume if its CSIDriver has"
            yield RuleOfVersion(f"{text} preventPodSchedulingIfMissing; v1.36 does not")

    def events_to_register(self) -> list[EventRegistration]:
        """Limits that come or grow; pods, attachments that go; claims that come."""
        return [
            registration(EventResource.CSI_NODE, ActionType.ADD),
            registration(EventResource.CSI_NODE, ActionType.UPDATE, _csi_node_updated, nothing),
            registration(EventResource.POD, ActionType.DELETE, _pod_deleted, nothing),
            by_claim(ActionType.ADD, ephemeral=True),
            registration(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE, _attachment_deleted, volumes_part),
        ]


def _by_driver(volumes: frozenset[CSIVolume]) -> dict[str, set[CSIVolume]]:
    by_driver: dict[str, set[CSIVolume]] = {}
    for volume in volumes:
        by_driver.setdefault(volume[0], set()).add(volume)
    return by_driver


def _faults(attached: AttachedVolumes, nodes: Nodes) -> dict[int, str]:
    """Position -> why the volumes of the pods there cannot be determined, before any move."""
    if not attached.faults:
        return {}
    positions = np.flatnonzero(_has_row(attached.faults, nodes)).tolist()
    return {position: attached.faults[nodes.row(position)] for position in positions}


def _held(attached: AttachedVolumes, nodes: Nodes, driver: str) -> IntVector:
    """(n,) int64: volumes of a driver on each node, before any move."""
    column = attached.held.get(driver)
    return np.zeros(len(nodes), dtype=np.int64) if column is None else nodes.take(column)


def _count_new(attached: AttachedVolumes, nodes: Nodes, volumes: Collection[CSIVolume]) -> IntVector:
    """(n,) int64: how many of these volumes no pod on the node uses, before any move."""
    new = np.full(len(nodes), len(volumes), dtype=np.int64)
    for volume in volumes:
        rows = attached.pod_rows.get(volume)
        if rows:
            new -= _has_row(rows, nodes)
    return new


def _has_row(rows: Collection[int], nodes: Nodes) -> BoolVector:
    """(n,) whether the row of each entry is among these."""
    mask = np.zeros(nodes.columns.capacity, dtype=np.bool_)
    mask[list(rows)] = True
    return nodes.take(mask)


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
    return QueueingHint.QUEUE if volumes.n_attachable else QueueingHint.SKIP


def _attachment_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Worth a try for a pod with claims, or with a volume of the driver that let go."""
    attacher = old.spec.attacher if isinstance(old, VolumeAttachment) else ""
    volumes = pod_volumes(pod)
    helps = bool(volumes.direct_claims) or any(kind.driver == attacher for kind, _ in volumes.in_tree)
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
