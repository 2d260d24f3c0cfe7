"""Claims, volumes, classes and the objects of CSI drivers, with the fields that the volume plugins read."""

from typing import Any, Final

from kubesched.api.meta import KubeObject, Value
from kubesched.api.pod_fields import DiskSource, Quantities, Resources
from kubesched.api.selectors import LabelSelector, NodeSelector

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""The old way to name the storage class of a claim or a volume; it wins over `storageClassName`."""


class ClaimSpec(Value, frozen=True, gc=False):
    """spec of a claim."""

    access_modes: tuple[str, ...] | None = None
    selector: LabelSelector | None = None
    resources: Resources | None = None
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class ClaimStatus(Value, frozen=True, gc=False):
    """status of a claim."""

    phase: str = ""


class PersistentVolumeClaim(KubeObject, frozen=True):
    """A request for storage, in a namespace."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()

    @property
    def document(self) -> dict[str, Any]:
        """As KubeObject.document, with a spec even where the source has none."""
        return {"spec": {}, **super().document}


class ObjectReference(Value, frozen=True, gc=False):
    """claimRef: the claim that a volume belongs to or is reserved for; the version that it had then."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class VolumeNodeAffinity(Value, frozen=True, gc=False):
    """nodeAffinity of a volume: from which nodes it can be reached."""

    required: NodeSelector | None = None


class VolumeSpec(Value, frozen=True, gc=False):
    """spec of a PersistentVolume; at most one of the sources is set."""

    capacity: Quantities | None = None
    access_modes: tuple[str, ...] | None = None
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: DiskSource | None = None
    gce_persistent_disk: DiskSource | None = None
    aws_elastic_block_store: DiskSource | None = None
    cinder: DiskSource | None = None
    azure_disk: DiskSource | None = None
    azure_file: DiskSource | None = None
    vsphere_volume: DiskSource | None = None
    portworx_volume: DiskSource | None = None


class VolumeStatus(Value, frozen=True, gc=False):
    """status of a PersistentVolume."""

    phase: str = ""


class PersistentVolume(KubeObject, frozen=True):
    """A piece of storage in the cluster."""

    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class TopologyRequirement(Value, frozen=True, gc=False):
    """One requirement of allowedTopologies: the label must have one of the values."""

    key: str = ""
    values: tuple[str, ...] | None = None


class TopologySelectorTerm(Value, frozen=True, gc=False):
    """One term of allowedTopologies: its requirements are ANDed."""

    match_label_expressions: tuple[TopologyRequirement, ...] | None = None


class StorageClass(KubeObject, frozen=True):
    """How claims of a class are bound and provisioned."""

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] | None = None


class CSINodeAllocatable(Value, frozen=True, gc=False):
    """How many volumes of a driver a node takes."""

    count: int | None = None


class CSINodeDriver(Value, frozen=True, gc=False):
    """One driver on a node."""

    name: str = ""
    allocatable: CSINodeAllocatable | None = None
    topology_keys: tuple[str, ...] | None = None


class CSINodeSpec(Value, frozen=True, gc=False):
    """spec of a CSINode."""

    drivers: tuple[CSINodeDriver, ...] | None = None


class CSINode(KubeObject, frozen=True):
    """What CSI drivers report for the node of the same name."""

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Value, frozen=True, gc=False):
    """spec of a CSIDriver."""

    storage_capacity: bool | None = None
    attach_required: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(KubeObject, frozen=True):
    """A CSI driver; with `storage_capacity` it publishes CSIStorageCapacity objects."""

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubeObject, frozen=True):
    """How much storage of a class can be had in a part of the cluster."""

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: str | int | float | None = None
    maximum_volume_size: str | int | float | None = None


class VolumeAttachmentSource(Value, frozen=True, gc=False):
    """spec.source of an attachment."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Value, frozen=True, gc=False):
    """spec of an attachment."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(KubeObject, frozen=True):
    """A volume that is attached to a node, or is to be."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
