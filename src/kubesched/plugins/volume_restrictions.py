"""VolumeRestrictions: a disk named in the pod itself cannot be shared on a node, a ReadWriteOncePod claim not at all.

Rule: kube-scheduler v1.36 VolumeRestrictions. What-if moves are judged by claim name alone, as upstream does:
evicting a pod of another namespace with an equally named claim "solves" the conflict there.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, PersistentVolumeClaim, Pod
from kubesched.engine import BoolVector, IntVector
from kubesched.framework import (
    CycleState,
    DependsOn,
    EventRegistration,
    Plugin,
    PodChanges,
    QueueingHint,
    Status,
    Verdicts,
)
from kubesched.plugins.rejection_words import pods_words
from kubesched.plugins.shared_hints import by_claim, by_volume, queue_if, registration
from kubesched.state import NO_VOLUMES, ClusterState, Disk, Has, NodeInfo, Nodes, PodInfo, disks_conflict, pod_volumes

_NO_DISK: Final = 1
_CLAIM_IN_USE: Final = 2


class ExclusiveClaims(msgspec.Struct):
    """The pod's ReadWriteOncePod claims.

    Attributes:
        names: of the claims.
        n_conflicts: how many of them placed pods use.
        delta: (positions,) int64, what a what-if table adds to that for each of its nodes; None in the cycle itself.
    """

    names: frozenset[str]
    n_conflicts: int
    delta: IntVector | None = None


class VolumeRestrictions(Plugin):
    """No two writers of one disk on a node; no second pod with a ReadWriteOncePod claim anywhere."""

    depends_on = DependsOn.CLUSTER
    equal_by = ("own_claims",)
    reads = ("PersistentVolumeClaim",)
    reasons = (
        Status.unschedulable("node(s) had no available disk"),
        Status.unschedulable(
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
            "already in-use by another pod"
        ),
    )

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Find the claims that allow one pod only, and whether another pod has them."""
        volumes = state.pod.volumes
        if volumes is NO_VOLUMES:
            return Status.SKIP
        exclusive = set()
        for name in volumes.direct_claims:
            claim = self.handle.get("PersistentVolumeClaim", pod.namespace, name)
            if not isinstance(claim, PersistentVolumeClaim):
                return Status.unresolvable(f'persistentvolumeclaim "{name}" not found')
            if "ReadWriteOncePod" in (claim.spec.access_modes or ()):
                exclusive.add(name)
        used = self.handle.cluster_state.volumes.use.direct_uses
        n_conflicts = sum(f"{pod.namespace}/{name}" in used for name in exclusive)
        if not volumes.disks and not n_conflicts:
            return Status.SKIP
        state.write(ExclusiveClaims(frozenset(exclusive), n_conflicts))
        return Status.SUCCESS

    def add_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        _move(state, changes, 1)

    def remove_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        _move(state, changes, -1)

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """Disks first, then claims."""
        exclusive = state.read(ExclusiveClaims, 'cannot read "PreFilterVolumeRestrictions" from cycleState')
        verdicts = np.zeros(len(nodes), dtype=np.int16)
        if exclusive.delta is not None:
            verdicts[exclusive.n_conflicts + exclusive.delta > 0] = _CLAIM_IN_USE
        elif exclusive.n_conflicts > 0:
            verdicts[:] = _CLAIM_IN_USE
        disks = state.pod.volumes.disks
        if disks:
            verdicts[has_no_disk(disks, nodes, self.handle.cluster_state)] = _NO_DISK
        return Verdicts(verdicts, self.reasons)

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """The pods that use the claim, anywhere, or the disk, on the node."""
        if self.reasons[0].message in status.reasons:
            disks = state.pod.volumes.disks
            users = [info for info in node.pods if info.volumes.disks and disks_conflict(disks, info.volumes.disks)]
            if users:
                yield f"{pods_words(users)} the same disk"
            return
        nodes, exclusive = self.handle.snapshot().nodes, state.find(ExclusiveClaims)
        claim_rows = self.handle.cluster_state.volumes.use.claim_rows
        for name in sorted(exclusive.names) if exclusive is not None else ():
            rows = set(claim_rows.get(f"{pod.namespace}/{name}", ()))
            users = [
                info
                for position in np.flatnonzero(np.isin(nodes.all_rows, list(rows))).tolist()
                for info in nodes.pods(position)
                if info.pod.namespace == pod.namespace and name in info.volumes.direct_claims
            ]
            if users:
                yield f"{pods_words(users)} claim {name}, which is ReadWriteOncePod"

    def events_to_register(self) -> list[EventRegistration]:
        """A pod with the disk or the claim goes; a node comes; the claim comes."""
        return [
            by_volume(_pod_deleted),
            registration(EventResource.NODE, ActionType.ADD),
            by_claim(ActionType.ADD, ephemeral=False),
        ]


class EarlierVolumeRestrictions(VolumeRestrictions):
    """The same before v1.34, when the text on a ReadWriteOncePod claim was another one."""

    name = "VolumeRestrictions"
    reasons = (
        VolumeRestrictions.reasons[0],
        Status.unschedulable(
            "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
        ),
    )


def _move(state: CycleState, changes: PodChanges, sign: int) -> None:
    exclusive = state.read(ExclusiveClaims)
    if not exclusive.names:
        return
    delta = np.zeros(len(changes.nodes), dtype=np.int64) if exclusive.delta is None else exclusive.delta.copy()
    with_volumes = changes.batch.having(Has.VOLUMES)
    positions = changes.positions[with_volumes].tolist()
    for position, info in zip(positions, changes.batch.chosen(with_volumes).infos, strict=True):
        delta[position] += sign * sum(name in exclusive.names for name in info.volumes.direct_claims)
    state.write(ExclusiveClaims(exclusive.names, exclusive.n_conflicts, delta))


def has_no_disk(disks: tuple[Disk, ...], nodes: Nodes, cluster_state: ClusterState) -> BoolVector:
    """(nodes,) bool: nodes where a pod has one of these disks, and they cannot share it."""
    conflicts = cluster_state.volumes.use.rows_with_conflicts(disks, nodes.columns.capacity)
    taken = nodes.take(conflicts).copy()
    for position, infos in nodes.in_doubt(Has.VOLUMES, taken).items():
        taken[position] = _is_taken(disks, infos)
    return taken


def _is_taken(disks: tuple[Disk, ...], infos: Sequence[PodInfo]) -> bool:
    return any(info.volumes.disks and disks_conflict(disks, info.volumes.disks) for info in infos)


def _pod_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Worth a try when the pod that went had a disk or a claim that this one wants."""
    if not isinstance(old, Pod) or old.namespace != pod.namespace:
        return QueueingHint.SKIP
    mine, theirs = pod_volumes(pod), pod_volumes(old)
    shares_claim = not set(mine.direct_claims).isdisjoint(theirs.direct_claims)
    return queue_if(shares_claim or disks_conflict(mine.disks, theirs.disks))
