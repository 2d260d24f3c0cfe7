"""EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits: a node attaches so many in-tree volumes of one kind.

Rule: kube-scheduler v1.20 non-CSI volume limits, the predicates MaxEBSVolumeCount, MaxGCEPDVolumeCount,
MaxAzureDiskVolumeCount and MaxCinderVolumeCount; each plugin has both names. What the node reports as
`attachable-volumes-*` comes before the default; the argument `maxVolumes` replaces v1.20's environment variable
KUBE_MAX_PD_VOLS. Nodes whose CSINode names the in-tree plugin as migrated are left to NodeVolumeLimits, which is also
MaxCSIVolumeCountPred. Azure disks are distinguished by URI.
"""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

import numpy as np

from kubesched.api import (
    INSTANCE_TYPES,
    ActionType,
    CSINode,
    DiskSource,
    EventResource,
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from kubesched.engine import IntVector
from kubesched.framework import Codes, CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status
from kubesched.legacy.plugins.legacy_args import VolumeLimitsArgs
from kubesched.plugins import NodeVolumeLimits, by_claim, is_placed, nothing, queue_if, registration
from kubesched.state import Nodes, PodInfo, in_tree_source, migrated_plugins, pod_volumes, storage_class_of

_NITRO: Final = re.compile("^[cmr]5.*|t3|z1d")
_NITRO_LIMIT: Final = 25


class InTreeVolumeLimits(Plugin):
    """Base of the four: the in-tree plugin, its default limit, and the resource by which nodes report theirs."""

    in_tree: ClassVar[str] = ""
    default_limit: ClassVar[int] = 0
    reported: ClassVar[str] = ""

    Args = VolumeLimitsArgs
    args: VolumeLimitsArgs
    depends_on = DependsOn.CLUSTER
    reads = ("CSINode", "PersistentVolume", "PersistentVolumeClaim", "StorageClass")
    reasons = (Status.unschedulable("node(s) exceed max volume count"),)

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where the volumes of the pods there and those that the pod adds are too many."""
        verdicts = np.zeros(len(nodes), dtype=np.int8)
        wanted = self._volumes((state.pod,))
        if wanted:
            limits = self._limits(nodes)
            at_most = nodes.take(self.handle.cluster_state.volumes.attached.uses) + nodes.moved_volumes
            for position in np.flatnonzero(at_most + len(wanted) > limits).tolist():  # the others fit in any case
                volumes = wanted | self._volumes(nodes.pods(position))
                verdicts[position] = len(volumes) > limits[position] and not self._is_migrated(nodes.name(position))
        return verdicts

    def _limits(self, nodes: Nodes) -> IntVector:
        """(nodes,) int64."""
        configured = self.args.max_volumes
        limits = np.full(len(nodes), configured, dtype=np.int64) if configured else self._defaults(nodes)
        row = nodes.columns.resources.find(self.reported)
        return limits if row is None else np.where(nodes.allocatable[row] > 0, nodes.allocatable[row], limits)

    def _defaults(self, nodes: Nodes) -> IntVector:
        """(nodes,) int64: the limits of nodes that report none."""
        return np.full(len(nodes), self.default_limit, dtype=np.int64)

    def _is_migrated(self, node_name: str) -> bool:
        csi_node = self.handle.get("CSINode", "", node_name)
        return isinstance(csi_node, CSINode) and self.in_tree in migrated_plugins(csi_node)

    def _volumes(self, infos: Iterable[PodInfo]) -> set[str]:
        """The volumes of this kind that some pods use; a claim without a known volume is one by itself."""
        volumes: set[str] = set()
        for info in infos:
            if info.pod.spec.volumes:
                used = info.volumes
                volumes.update(_name_of(source) for kind, source in used.in_tree if kind.plugin == self.in_tree)
                volumes.update(self._of_claim(info.pod.namespace, claim.name) for claim in used.claims)
        return volumes - {""}

    def _of_claim(self, namespace: str, name: str) -> str:
        """The volume of a claim; empty where it is of another kind, or there is no claim."""
        claim = self.handle.get("PersistentVolumeClaim", namespace, name)
        if not isinstance(claim, PersistentVolumeClaim):
            return ""
        volume = self.handle.get("PersistentVolume", "", claim.spec.volume_name) if claim.spec.volume_name else None
        if isinstance(volume, PersistentVolume):
            source = in_tree_source(volume)
            return _name_of(source[1]) if source is not None and source[0].plugin == self.in_tree else ""
        storage_class = self.handle.get("StorageClass", "", storage_class_of(claim))
        is_mine = isinstance(storage_class, StorageClass) and storage_class.provisioner == self.in_tree
        return f"claim {claim.key}" if is_mine else ""

    def events_to_register(self) -> list[EventRegistration]:
        """Pods with volumes leave, nodes come or change, claims come, plugins are migrated."""
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE | ActionType.UPDATE_NODE_LABEL
        return [
            registration(EventResource.POD, ActionType.DELETE, _pod_deleted, nothing),
            registration(EventResource.NODE, nodes),
            by_claim(ActionType.ADD, ephemeral=True),
            registration(EventResource.CSI_NODE, ActionType.ADD | ActionType.UPDATE),
        ]


def _name_of(source: DiskSource) -> str:
    """What identifies a volume of its kind."""
    return source.volume_id or source.pd_name or source.disk_uri


def _pod_deleted(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return queue_if(isinstance(old, Pod) and is_placed(old) and pod_volumes(old).n_attachable > 0)


class EBSLimits(InTreeVolumeLimits):
    """39 AWS EBS volumes; 25 on instance types of the Nitro system that v1.20 recognises."""

    in_tree, default_limit, reported = "kubernetes.io/aws-ebs", 39, "attachable-volumes-aws-ebs"

    def _defaults(self, nodes: Nodes) -> IntVector:
        limits = super()._defaults(nodes)
        for key in INSTANCE_TYPES:
            is_nitro = np.array([bool(value and _NITRO.search(value)) for value in nodes.label(key).values.values])
            limits[is_nitro[nodes.codes(key)]] = _NITRO_LIMIT
        return limits


class GCEPDLimits(InTreeVolumeLimits):
    """16 GCE persistent disks."""

    in_tree, default_limit, reported = "kubernetes.io/gce-pd", 16, "attachable-volumes-gce-pd"


class AzureDiskLimits(InTreeVolumeLimits):
    """16 Azure disks."""

    in_tree, default_limit, reported = "kubernetes.io/azure-disk", 16, "attachable-volumes-azure-disk"


class CinderLimits(InTreeVolumeLimits):
    """256 Cinder volumes."""

    in_tree, default_limit, reported = "kubernetes.io/cinder", 256, "attachable-volumes-cinder"


class MaxEBSVolumeCount(EBSLimits):
    """EBSLimits under the name of its predicate."""


class MaxGCEPDVolumeCount(GCEPDLimits):
    """GCEPDLimits under the name of its predicate."""


class MaxAzureDiskVolumeCount(AzureDiskLimits):
    """AzureDiskLimits under the name of its predicate."""


class MaxCinderVolumeCount(CinderLimits):
    """CinderLimits under the name of its predicate."""


class MaxCSIVolumeCountPred(NodeVolumeLimits):
    """NodeVolumeLimits under the name of its predicate."""
