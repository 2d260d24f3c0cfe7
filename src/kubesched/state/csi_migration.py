"""Translates in-tree volumes to CSI: driver, handle, zones.

Rule: kube-scheduler v1.36 with csi-translation-lib v0.36. Counting volumes (NodeVolumeLimits) asks `migrated_driver`;
node affinity (VolumeBinding) asks `translated_affinity`, for nodes whose CSINode names the plugin in an annotation.
"""

import re
from typing import Final, NamedTuple

import msgspec

from kubesched.api import (
    BETA_ZONE,
    ZONE,
    DiskSource,
    NodeSelector,
    NodeSelectorTerm,
    PersistentVolume,
    SelectorRequirement,
    Volume,
)

PORTWORX: Final = "kubernetes.io/portworx-volume"
"""The in-tree plugin whose volumes v1.35 and older count only where the CSINode lists it as migrated."""

_EBS_ID: Final = re.compile("vol-[^/]*")

Labels = dict[str, str]


class InTree(NamedTuple):
    """One kind of in-tree volume.

    Attributes:
        field: its field in a volume.
        plugin: the in-tree plugin.
        driver: the CSI driver that took over.
        is_counted: whether NodeVolumeLimits counts its volumes as the driver's on every node that has a CSINode.
        zone_key: the driver's key for a zone in node labels; empty where it has none.
    """

    field: str
    plugin: str
    driver: str
    is_counted: bool
    zone_key: str = ""


_GCE: Final = InTree(
    "gce_persistent_disk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", True, "topology.gke.io/zone"
)
_EBS: Final = InTree(
    "aws_elastic_block_store", "kubernetes.io/aws-ebs", "ebs.csi.aws.com", True, "topology.ebs.csi.aws.com/zone"
)
_CINDER: Final = InTree(
    "cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org", True, "topology.cinder.csi.openstack.org/zone"
)
_AZURE_DISK: Final = InTree("azure_disk", "kubernetes.io/azure-disk", "disk.csi.azure.com", True)
_KINDS: Final = (
    _GCE,
    _EBS,
    _CINDER,
    _AZURE_DISK,
    InTree("azure_file", "kubernetes.io/azure-file", "file.csi.azure.com", False),
    InTree("vsphere_volume", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", False),
    InTree("portworx_volume", PORTWORX, "pxd.portworx.com", True),
)
KNOWN_DRIVER_NAMES: Final = frozenset(
    name for kind in _KINDS for name in (kind.plugin, kind.driver, kind.zone_key) if name
)
"""Plugins, drivers and zone labels that this file knows by name."""
_BY_PLUGIN: Final = {kind.plugin: kind for kind in _KINDS}


def in_tree_source(volume: Volume | PersistentVolume) -> tuple[InTree, DiskSource] | None:
    """Which in-tree source a volume has, of those that a CSI driver took over."""
    fields = volume.spec if isinstance(volume, PersistentVolume) else volume
    for kind in _KINDS:
        source: DiskSource | None = getattr(fields, kind.field)
        if source is not None:
            return kind, source
    return None


def migrated_driver(provisioner: str) -> str | None:
    """The driver that counts the volumes of a provisioner: the successor of an in-tree one; None for no driver."""
    kind = _BY_PLUGIN.get(provisioner)
    if kind is None:
        return provisioner or None
    return kind.driver if kind.is_counted else None


def csi_handle(kind: InTree, source: DiskSource, labels: Labels) -> str | None:
    """The CSI handle of an in-tree volume.

    Args:
        labels: of the PersistentVolume; none where a pod names the volume itself.
    Returns: None for a volume that is not counted, or whose name or zone is malformed.
    """
    if not kind.is_counted:
        return None
    if kind is _GCE:
        place, error = _gce_place(labels)
        return None if error else f"projects/UNSPECIFIED/{place}/disks/{source.pd_name}"
    if kind is _EBS:
        return _ebs_id(source.volume_id)
    return source.disk_uri if kind is _AZURE_DISK else source.volume_id


def _gce_place(labels: Labels) -> tuple[str, str]:
    """(place, error): the zone label as written; for a disk in several zones their region, which must be one."""
    zones = (labels.get(ZONE) or labels.get(BETA_ZONE) or "").split("__")
    if len(zones) == 1:
        return f"zones/{zones[0] or 'UNSPECIFIED'}", ""
    prefix = "failed to get region from zones: "
    for zone in zones:
        if zone.count("-") != 2:
            form = "{locale}-{region}-{zone}"
            return "", f"{prefix}zone in unexpected format, expected: {form}, got: {zone}"
    regions = sorted({zone.rpartition("-")[0] for zone in zones})
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in regions)
        return "", f"{prefix}multiple or no regions gotten from zones, got: map[{listed}]"
    return f"regions/{regions[0]}", ""


def _ebs_id(text: str) -> str | None:
    """`vol-1` out of `aws://zone/vol-1`; anything without that scheme is unchanged."""
    if not text.startswith("aws://"):
        return text
    path = re.split("[?#]", text[len("aws://") :], maxsplit=1)[0].partition("/")[2]
    volume_id = path.strip("/")
    return volume_id if _EBS_ID.fullmatch(volume_id) else None


# --- node affinity ---


def translation_error(volume: PersistentVolume) -> str:
    """Why a PersistentVolume cannot be translated, in upstream's words; empty where it can."""
    source = in_tree_source(volume)
    error = ""
    if source is not None and source[0] is _GCE:
        error = _gce_place(volume.labels)[1]
    elif source is not None and source[0] is _EBS and _ebs_id(source[1].volume_id) is None:
        error = (
            f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({source[1].volume_id})"
        )
    return f"could not translate pv: {error}" if error else ""


def translated_affinity(volume: PersistentVolume, zone_key: str) -> NodeSelector | None:
    """The node affinity with the zones, of the affinity or else of the labels, under the driver's own key.

    Returns: the affinity unchanged where there is no zone; None where there is no affinity.
    """
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity else None
    terms = (required.node_selector_terms if required else None) or ()
    expressions = [expression for term in terms for expression in term.match_expressions or ()]
    zone = _zone_label({expression.key for expression in expressions}, volume.labels)
    if any(expression.values for expression in expressions if expression.key == zone):
        return NodeSelector(tuple(_renamed(term, zone, zone_key) for term in terms))
    zones = sorted({part.strip() for part in volume.labels.get(zone, "").split("__")} - {""})
    if not zones:
        return required
    added = SelectorRequirement(zone_key, "In", tuple(zones))
    return NodeSelector(tuple(_extended(term, added) for term in terms or (NodeSelectorTerm(),)))


def _zone_label(named: set[str], labels: Labels) -> str:
    """The zone label of a volume: one in its affinity, else one among its labels, else the stable one."""
    for keys in (named, labels):
        for key in (ZONE, BETA_ZONE):
            if key in keys:
                return key
    return ZONE


def _renamed(term: NodeSelectorTerm, old: str, new: str) -> NodeSelectorTerm:
    expressions = tuple(
        msgspec.structs.replace(expression, key=new) if expression.key == old else expression
        for expression in term.match_expressions or ()
    )
    return msgspec.structs.replace(term, match_expressions=expressions)


def _extended(term: NodeSelectorTerm, added: SelectorRequirement) -> NodeSelectorTerm:
    return msgspec.structs.replace(term, match_expressions=(*(term.match_expressions or ()), added))
