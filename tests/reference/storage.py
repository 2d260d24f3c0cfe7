"""Claims, classes, volumes: the rules that the volume plugins share (kube-scheduler v1.36)."""

import copy
import re
from collections.abc import Iterator
from fractions import Fraction
from urllib.parse import urlsplit

from tests.reference import objects
from tests.reference.cluster import Node
from tests.reference.framework import Code, Plugin, PluginError, Status

ZONE, ZONE_BETA = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, REGION_BETA = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"

# Field of the volume source -> (in-tree plugin, CSI driver that took it over).
IN_TREE = {
    "gcePersistentDisk": ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    "cinder": ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    "azureDisk": ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    "azureFile": ("kubernetes.io/azure-file", "file.csi.azure.com"),
    "vsphereVolume": ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
    "portworxVolume": ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
}
DRIVER_OF_PLUGIN = dict(IN_TREE.values())
MIGRATED = {
    "kubernetes.io/gce-pd",
    "kubernetes.io/aws-ebs",
    "kubernetes.io/azure-disk",
    "kubernetes.io/cinder",
    "kubernetes.io/portworx-volume",
}


def failed(plugin: Plugin, call: str, error: PluginError) -> Status:
    """The status Error of a call (pre_filter or filter) in upstream's words."""
    text = f'PreFilter plugin "{plugin.name}"' if call == "pre_filter" else f'"{plugin.name}" filter plugin'
    return Status(Code.ERROR, (f"running {text}: {error}",), plugin.name)


def volumes_of(pod: dict) -> list[dict]:
    return pod["spec"].get("volumes") or []


def claim_of(pod: dict, volume: dict) -> str | None:
    """The name of the claim behind a volume, or None. An ephemeral volume's claim is called after pod and volume."""
    if volume.get("persistentVolumeClaim") is not None:
        return volume["persistentVolumeClaim"].get("claimName") or ""
    if volume.get("ephemeral") is not None:
        return f"{pod['metadata']['name']}-{volume['name']}"
    return None


def direct_claims(pod: dict) -> Iterator[str]:
    """The claims that the pod names itself: those of ephemeral volumes are not among them."""
    for volume in volumes_of(pod):
        if volume.get("persistentVolumeClaim") is not None:
            yield volume["persistentVolumeClaim"].get("claimName") or ""


def is_controlled_by(claim: dict, pod: dict) -> bool:
    for owner in claim["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner["uid"] == pod["metadata"].get("uid")
    return False


def not_owned(claim: dict, pod: dict) -> str:
    return f"PVC {objects.full_name(claim)} was not created for pod {objects.full_name(pod)} (pod is not owner)"


def annotations_of(obj: dict) -> dict[str, str]:
    return obj["metadata"].get("annotations") or {}


def class_of(obj: dict) -> str:
    """The storage class of a claim or a volume; "" for none."""
    annotations = annotations_of(obj)
    return (
        annotations[CLASS_ANNOTATION] if CLASS_ANNOTATION in annotations else obj["spec"].get("storageClassName") or ""
    )


def is_bound(claim: dict) -> bool:
    return bool(claim["spec"].get("volumeName")) and "pv.kubernetes.io/bind-completed" in annotations_of(claim)


def storage_request(claim: dict) -> Fraction | None:
    text = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    return None if text is None else objects.quantity(text)


def is_migrated(plugin: str, node: Node) -> bool:
    """Whether NodeVolumeLimits counts an in-tree plugin's volumes as its CSI driver's. VolumeBinding asks the
    annotation instead: `translated`.
    """
    csi_node = node.cluster.get("CSINode", node.name)
    return csi_node is not None and plugin in MIGRATED


def in_tree_source(spec: dict) -> str | None:
    """Which migratable in-tree source a volume (in a pod) or a PersistentVolume (its spec) has."""
    return next((field for field in IN_TREE if spec.get(field) is not None), None)


# --- in-tree volumes as their CSI drivers see them ---

MIGRATED_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins"
# What a zone is called in the node labels of the driver; the other drivers have no name of their own for it.
TOPOLOGY_KEY = {
    "gcePersistentDisk": "topology.gke.io/zone",
    "awsElasticBlockStore": "topology.ebs.csi.aws.com/zone",
    "cinder": "topology.cinder.csi.openstack.org/zone",
}


def handle_of(field: str, source: dict, labels: dict[str, str]) -> str | None:
    """The CSI handle of an in-tree volume with these labels (none where a pod names it inline); None where it has
    no valid one.
    """
    if field == "gcePersistentDisk":
        try:
            return f"projects/UNSPECIFIED/{gce_place(labels)}/disks/{source['pdName']}"
        except PluginError:
            return None
    if field == "awsElasticBlockStore":
        return ebs_id(source["volumeID"])
    return source["diskURI" if field == "azureDisk" else "volumeID"]


def gce_place(labels: dict[str, str]) -> str:
    """The zone label as it stands; for a disk in several zones the region, which must be one."""
    zones = (labels.get(ZONE) or labels.get(ZONE_BETA) or "").split("__")
    if len(zones) == 1:
        return f"zones/{zones[0] or 'UNSPECIFIED'}"
    regions = set()
    for zone in zones:
        if zone.count("-") != 2:
            raise PluginError(
                "could not translate pv: failed to get region from zones: zone in unexpected format, "
                f"expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            )
        regions.add(zone.rpartition("-")[0])
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise PluginError(
            "could not translate pv: failed to get region from zones: multiple or no regions gotten from zones, "
            f"got: map[{listed}]"
        )
    return f"regions/{regions.pop()}"


def ebs_id(text: str) -> str | None:
    """`vol-1` out of `aws://zone/vol-1`; anything without that scheme is taken as it stands."""
    if not text.startswith("aws://"):
        return text
    found = urlsplit(text).path.strip("/")
    return found if re.fullmatch("vol-[^/]*", found) else None


def reaches(volume: dict, node: Node) -> bool:
    """Whether a PersistentVolume's node affinity holds for the node's labels. Fields are not looked at: a term of
    fields only holds.
    """
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return required is None or any(term_holds(term, node.labels) for term in required.get("nodeSelectorTerms") or ())


def term_holds(term: dict, labels: dict[str, str]) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    try:
        for field in fields:
            objects.field_matches(field, "")  # may be a ParseError
        results = [objects.requirement_matches(e, labels) for e in expressions]  # all: any may be a ParseError
        return bool(expressions or fields) and all(results)
    except objects.ParseError:
        return False


def translated(volume: dict, node: Node) -> dict:
    """A PersistentVolume as its CSI driver sees it, where the CSINode says that the plugin has been migrated: the
    zones of its
    node affinity, or else of its labels, stand under the driver's own key."""
    field = in_tree_source(volume["spec"])
    csi_node = node.cluster.get("CSINode", node.name)
    if (
        field not in TOPOLOGY_KEY
        or csi_node is None
        or IN_TREE[field][0] not in annotations_of(csi_node).get(MIGRATED_ANNOTATION, "").split(",")
    ):
        return volume
    labels = objects.labels_of(volume)
    if field == "gcePersistentDisk":
        gce_place(labels)  # may fail
    if field == "awsElasticBlockStore" and ebs_id(volume["spec"][field]["volumeID"]) is None:
        raise PluginError(
            "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID "
            f"Invalid format for AWS volume ({volume['spec'][field]['volumeID']})"
        )
    terms = copy.deepcopy(
        ((volume["spec"].get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or []
    )
    expressions = [e for term in terms for e in term.get("matchExpressions") or ()]
    named = [e["key"] for e in expressions]
    zone = next((key for keys in (named, labels) for key in (ZONE, ZONE_BETA) if key in keys), ZONE)
    zonal = [e for e in expressions if e["key"] == zone]
    from_labels = sorted({part.strip() for part in labels.get(zone, "").split("__")} - {""})
    if any(e.get("values") for e in zonal):
        for e in zonal:
            e["key"] = TOPOLOGY_KEY[field]
    elif from_labels:
        terms = terms or [{}]
        for term in terms:
            term["matchExpressions"] = [
                *(term.get("matchExpressions") or ()),
                {"key": TOPOLOGY_KEY[field], "operator": "In", "values": from_labels},
            ]
    else:
        return volume
    return {**volume, "spec": {**volume["spec"], "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}
