"""Binds and provisions volumes in a simulated cluster, at once.

A volume that was reserved for a claim is bound to it. For a claim that is to be provisioned a volume is made that can
be reached from where its node can: the values of the topology keys that the CSINode names for the class's provisioner,
as CSI drivers do; from anywhere where it names none.
"""

from collections.abc import Callable

import msgspec

from kubesched.api import (
    BIND_COMPLETED,
    SELECTED_NODE,
    CSINode,
    DiskSource,
    EventType,
    KubeObject,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    SelectorRequirement,
    StorageClass,
    VolumeNodeAffinity,
    VolumeSpec,
    VolumeStatus,
    WatchEvent,
    edited,
)
from kubesched.state import ObjectStore, storage_class_of


class VolumeControllers:
    """Finishes what the scheduler began with volumes and claims.

    Args:
        objects: what is in the cluster.
        tell: takes each event that follows.
    """

    def __init__(self, objects: ObjectStore, tell: Callable[[WatchEvent], None]) -> None:
        self._objects = objects
        self._tell = tell

    def written(self, obj: KubeObject) -> None:
        """The scheduler wrote a volume or a claim."""
        if isinstance(obj, PersistentVolume) and obj.spec.claim_ref is not None:
            reference = obj.spec.claim_ref
            claim = self._objects.get("PersistentVolumeClaim", f"{reference.namespace}/{reference.name}")
            if isinstance(claim, PersistentVolumeClaim):
                self._bind(obj, claim)
        elif isinstance(obj, PersistentVolumeClaim) and not obj.spec.volume_name and SELECTED_NODE in obj.annotations:
            self._bind(self._provisioned(obj), obj)

    def _bind(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        bound = edited(volume, status=msgspec.structs.replace(volume.status, phase="Bound"))
        self._tell(WatchEvent(EventType.MODIFIED, "PersistentVolume", bound))
        annotations = {**claim.annotations, BIND_COMPLETED: "yes"}
        bound_claim = edited(
            claim,
            metadata=msgspec.structs.replace(claim.metadata, annotations=annotations),
            spec=msgspec.structs.replace(claim.spec, volume_name=volume.name),
            status=msgspec.structs.replace(claim.status, phase="Bound"),
        )
        self._tell(WatchEvent(EventType.MODIFIED, "PersistentVolumeClaim", bound_claim))

    def _provisioned(self, claim: PersistentVolumeClaim) -> PersistentVolume:
        class_name = storage_class_of(claim)
        storage_class = self._objects.get("StorageClass", class_name)
        driver = storage_class.provisioner if isinstance(storage_class, StorageClass) else ""
        name = f"pvc-{claim.uid or f'{claim.namespace}-{claim.name}'}"
        spec = VolumeSpec(
            capacity=claim.spec.resources.requests if claim.spec.resources else None,
            access_modes=claim.spec.access_modes,
            claim_ref=ObjectReference(claim.namespace, claim.name, claim.uid),
            storage_class_name=class_name,
            volume_mode=claim.spec.volume_mode,
            volume_attributes_class_name=claim.spec.volume_attributes_class_name,
            node_affinity=self._reach(driver, claim.annotations[SELECTED_NODE]),
            csi=DiskSource(driver=driver, volume_handle=name),
        )
        return PersistentVolume(ObjectMeta(name=name), spec, VolumeStatus("Available"))

    def _reach(self, driver: str, node_name: str) -> VolumeNodeAffinity | None:
        """From which nodes a volume made for this node can be reached."""
        csi_node, node = self._objects.get("CSINode", node_name), self._objects.get("Node", node_name)
        if not isinstance(csi_node, CSINode) or not isinstance(node, Node):
            return None
        keys = [
            key for entry in csi_node.spec.drivers or () if entry.name == driver for key in entry.topology_keys or ()
        ]
        same = tuple(SelectorRequirement(key, "In", (node.labels[key],)) for key in keys if key in node.labels)
        return VolumeNodeAffinity(NodeSelector((NodeSelectorTerm(same),))) if same else None
