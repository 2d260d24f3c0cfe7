"""NoDiskConflict: a disk that is named in the pod itself cannot be shared on a node, unless all pods only read it.

Rule: kube-scheduler v1.20 VolumeRestrictions, the predicate NoDiskConflict: the part of v1.36's VolumeRestrictions that
looks at disks. Claims do not matter, not even with the access mode ReadWriteOncePod.
"""

from kubesched.api import ActionType, EventResource, KubeObject, Pod
from kubesched.engine import BoolVector
from kubesched.framework import Codes, CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status
from kubesched.plugins import by_volume, has_no_disk, queue_if, registration
from kubesched.state import Nodes, disks_conflict, pod_volumes


class NoDiskConflict(Plugin):
    """No two writers of one disk on a node."""

    depends_on = DependsOn.CLUSTER
    reasons = (Status.unschedulable("node(s) had no available disk"),)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips pods that name no disk."""
        return Status.SUCCESS if state.pod.volumes.disks else Status.SKIP

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where a pod has one of the disks."""
        taken: BoolVector = has_no_disk(state.pod.volumes.disks, nodes, self.handle.cluster_state)
        return taken.astype("int8")

    def events_to_register(self) -> list[EventRegistration]:
        """A pod with the disk goes, or a node comes."""
        return [by_volume(_pod_deleted), registration(EventResource.NODE, ActionType.ADD)]


def _pod_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return queue_if(isinstance(old, Pod) and disks_conflict(pod_volumes(pod).disks, pod_volumes(old).disks))
