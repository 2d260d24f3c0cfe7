"""kube-scheduler v1.36 NodeVolumeLimits, for CSI volumes."""

from collections import Counter

from tests.reference import objects, storage
from tests.reference.framework import SKIP, Plugin, PluginError, PreFilter, Status


class NodeVolumeLimits(Plugin):
    """A node attaches at most as many volumes of a CSI driver as its CSINode says."""

    name = "NodeVolumeLimits"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        counts = any(storage.claim_of(pod, v) is not None or storage.in_tree_source(v) for v in storage.volumes_of(pod))
        return PreFilter() if counts else SKIP

    def filter(self, pod: dict, node) -> Status | None:
        try:
            wanted: dict[str, str] = {}  # volume -> driver
            for volume in storage.volumes_of(pod):
                name = storage.claim_of(pod, volume)
                if name and node.cluster.get("PersistentVolumeClaim", name, objects.namespace_of(pod)) is None:
                    return self.unresolvable(
                        f'looking up PVC {objects.namespace_of(pod)}/{name}: persistentvolumeclaim "{name}" not found'
                    )
                wanted |= attached_as(pod, volume, node)
            limits = limits_of(node)
            if wanted and limits and exceeds(wanted, limits, node):
                return self.unschedulable("node(s) exceed max volume count")
        except PluginError as error:
            return storage.failed(self, "filter", error)
        return None


def exceeds(wanted: dict[str, str], limits: dict[str, int], node) -> bool:
    """Whether some driver would have more volumes on the node than it may; drivers of which the pod brings nothing
    new do not matter.
    """
    present: dict[str, str] = {}
    for other in node.pods:
        for volume in storage.volumes_of(other):
            present |= attached_as(other, volume, node)
    held = Counter((present | still_attached(node)).values())
    new = Counter(driver for volume, driver in wanted.items() if volume not in present)
    return any(driver in limits and held[driver] + count > limits[driver] for driver, count in new.items())


def limits_of(node) -> dict[str, int]:
    csi_node = node.cluster.get("CSINode", node.name)
    drivers = ((csi_node or {}).get("spec") or {}).get("drivers") or []
    return {
        d["name"]: d["allocatable"]["count"] for d in drivers if (d.get("allocatable") or {}).get("count") is not None
    }


def attached_as(pod: dict, volume: dict, node) -> dict[str, str]:
    """The CSI volume that a pod's volume stands for on this node, as {driver/handle: driver}; empty if none is
    attached.
    """
    name = storage.claim_of(pod, volume)
    if name is None:
        field = storage.in_tree_source(volume)
        return in_tree_volume(field, volume[field], {}, node) if field else {}
    if not name:
        raise PluginError("PersistentVolumeClaim had no name")
    claim = node.cluster.get("PersistentVolumeClaim", name, objects.namespace_of(pod))
    if claim is None:
        return {}
    if volume.get("ephemeral") is not None and not storage.is_controlled_by(claim, pod):
        raise PluginError(storage.not_owned(claim, pod))
    persistent = node.cluster.get("PersistentVolume", claim["spec"].get("volumeName") or "")
    if persistent is None:
        return to_be_provisioned(claim, node)
    spec = persistent["spec"]
    if spec.get("csi") is not None:
        return volume_of(spec["csi"]["driver"], spec["csi"]["volumeHandle"])
    field = storage.in_tree_source(spec)
    return in_tree_volume(field, spec[field], objects.labels_of(persistent), node) if field else {}


def volume_of(driver: str, handle: str) -> dict[str, str]:
    return {f"{driver}/{handle}": driver}


def in_tree_volume(field: str, source: dict, labels: dict[str, str], node) -> dict[str, str]:
    plugin, driver = storage.IN_TREE[field]
    handle = storage.handle_of(field, source, labels) if storage.is_migrated(plugin, node) else None
    return volume_of(driver, handle) if handle is not None else {}


def to_be_provisioned(claim: dict, node) -> dict[str, str]:
    """A volume that its class has yet to make counts as one of its own, the same for all users of the claim."""
    found = node.cluster.get("StorageClass", storage.class_of(claim))
    driver = (found or {}).get("provisioner")
    if driver in storage.DRIVER_OF_PLUGIN:
        driver = storage.DRIVER_OF_PLUGIN[driver] if storage.is_migrated(driver, node) else None
    return volume_of(driver, f"claim {objects.full_name(claim)}") if driver else {}


def still_attached(node) -> dict[str, str]:
    """Volumes that VolumeAttachment objects place on the node, whether or not a pod there uses them."""
    found: dict[str, str] = {}
    for attachment in node.cluster.list("VolumeAttachment"):
        spec = attachment["spec"]
        volume = node.cluster.get("PersistentVolume", (spec.get("source") or {}).get("persistentVolumeName") or "")
        if (
            spec.get("nodeName") == node.name
            and spec.get("attacher")
            and volume is not None
            and volume["spec"].get("csi") is not None
        ):
            found |= volume_of(spec["attacher"], volume["spec"]["csi"]["volumeHandle"])
    return found
