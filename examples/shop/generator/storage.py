"""Volumes: storage classes and drivers, and for each claim its volume and its attachment to a node."""

from generator.identity import digest, hex_id, metadata, uid
from generator.nodes import NodeDraft

EBS, EFS = "ebs.csi.aws.com", "efs.csi.aws.com"
PROVISIONER = {"gp3": EBS, "gp3-immediate": EBS, "io2-database": EBS, "efs": EFS}
ZONE = "topology.kubernetes.io/zone"


def storage_classes() -> list[dict]:
    return [_storage_class(name) for name in sorted(PROVISIONER)]


def csi_drivers() -> list[dict]:
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": metadata("CSIDriver", name),
            "spec": {
                "attachRequired": name == EBS,
                "fsGroupPolicy": "ReadWriteOnceWithFSType",
                "podInfoOnMount": False,
                "requiresRepublish": False,
                "seLinuxMount": False,
                "storageCapacity": False,
                "volumeLifecycleModes": ["Persistent"],
            },
        }
        for name in (EBS, EFS)
    ]


def csi_node(node: NodeDraft) -> dict:
    """The drivers of a node, and how many EBS volumes it takes."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": uid("Node", "", node.name)}
    instance = f"i-0{hex_id('instance', node.name)[:16]}"
    ebs = {
        "allocatable": {"count": node.machine.volumes},
        "name": EBS,
        "nodeID": instance,
        "topologyKeys": ["kubernetes.io/os", "topology.ebs.csi.aws.com/zone", ZONE],
    }
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": metadata("CSINode", node.name, ownerReferences=[owner]),
        "spec": {"drivers": [ebs, {"name": EFS, "nodeID": instance, "topologyKeys": None}]},
    }


def claim_object(namespace: str, name: str, size: str, storage_class: str, *, bound: bool, node: str = "") -> dict:
    """A PersistentVolumeClaim; a bound one names the volume that `volume_object` makes."""
    mode = "ReadWriteMany" if storage_class == "efs" else "ReadWriteOnce"
    annotations = {"volume.kubernetes.io/storage-provisioner": PROVISIONER[storage_class]} if bound else {}
    if bound:
        annotations |= {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    if node:
        annotations["volume.kubernetes.io/selected-node"] = node
    meta = metadata("PersistentVolumeClaim", name, namespace, annotations=annotations)
    meta["finalizers"] = ["kubernetes.io/pvc-protection"]
    spec = {
        "accessModes": [mode],
        "resources": {"requests": {"storage": size}},
        "storageClassName": storage_class,
        "volumeMode": "Filesystem",
    }
    status: dict = {"phase": "Pending"}
    if bound:
        spec["volumeName"] = volume_name(namespace, name)
        status = {"accessModes": [mode], "capacity": {"storage": size}, "phase": "Bound"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": status}


def volume_name(namespace: str, claim: str) -> str:
    return f"pvc-{uid('PersistentVolumeClaim', namespace, claim)}"


def volume_handle(namespace: str, claim: str) -> str:
    return f"vol-0{digest('volume', namespace, claim).hex()[:16]}"


def volume_object(claim: dict, zone: str, *, labelled: bool = False) -> dict:
    """The PersistentVolume behind a bound claim; an EBS volume stays in its zone.

    Args:
        claim: the bound PersistentVolumeClaim.
        zone: the zone of the volume; "" for one that every zone reaches.
        labelled: say the zone by a label, as volumes from before node affinity do.
    """
    meta = claim["metadata"]
    namespace, name = meta["namespace"], meta["name"]
    driver = PROVISIONER[claim["spec"]["storageClassName"]]
    source = {"driver": driver, "volumeHandle": volume_handle(namespace, name)}
    spec = {
        "accessModes": claim["spec"]["accessModes"],
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "name": name,
            "namespace": namespace,
            "resourceVersion": meta["resourceVersion"],
            "uid": meta["uid"],
        },
        "csi": source | ({"fsType": "ext4"} if driver == EBS else {}),
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": claim["spec"]["storageClassName"],
        "volumeMode": "Filesystem",
    }
    if zone and not labelled:
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    pv_meta = metadata(
        "PersistentVolume",
        volume_name(namespace, name),
        annotations={"pv.kubernetes.io/provisioned-by": driver},
        labels={ZONE: zone, "topology.kubernetes.io/region": zone[:-1]} if labelled else {},
    )
    pv_meta["finalizers"] = ["kubernetes.io/pv-protection", "external-attacher/ebs-csi-aws-com"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": pv_meta,
        "spec": spec,
        "status": {"phase": "Bound"},
    }


def attachment_object(volume: dict, node: NodeDraft) -> dict:
    """The VolumeAttachment that holds an EBS volume on its node; its handle is noted there."""
    handle = volume["spec"]["csi"]["volumeHandle"]
    node.volumes.append(handle)
    name = f"csi-{digest('attachment', handle, node.name).hex()}"
    source = {"persistentVolumeName": volume["metadata"]["name"]}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": metadata("VolumeAttachment", name),
        "spec": {"attacher": EBS, "nodeName": node.name, "source": source},
        "status": {"attached": True},
    }


def _storage_class(name: str) -> dict:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if name == "gp3" else {}
    parameters = {"type": name.split("-")[0]} if PROVISIONER[name] == EBS else {"provisioningMode": "efs-ap"}
    return {
        "allowVolumeExpansion": True,
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": metadata("StorageClass", name, annotations=annotations),
        "parameters": parameters,
        "provisioner": PROVISIONER[name],
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate" if name in ("efs", "gp3-immediate") else "WaitForFirstConsumer",
    }
