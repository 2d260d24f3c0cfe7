"""Counts the CSI volumes that are attached to each node by driver: those of its pods and of VolumeAttachments.

Rule: kube-scheduler v1.36 NodeVolumeLimits. A volume is (driver, handle); a claim whose volume does not exist yet
counts as a separate volume. In-tree volumes count as their CSI driver's: whether that holds on a node depends on
its CSINode, but a node without one has no limits either, so it does not matter there. Before v1.36, Portworx volumes
count only on nodes whose CSINode lists their plugin as migrated.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kubesched.api import (
    CSINode,
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    VolumeAttachment,
)
from kubesched.engine import IntVector, grown
from kubesched.release import Release
from kubesched.state.columns import NodeColumns
from kubesched.state.csi_migration import PORTWORX, csi_handle, in_tree_source, migrated_driver
from kubesched.state.objects import ObjectStore
from kubesched.state.pod_info import PodInfo
from kubesched.state.pod_volumes import PodVolumes
from kubesched.state.stale_rows import StaleRows
from kubesched.state.volumes.claims import not_owned, storage_class_of
from kubesched.state.volumes.csi_nodes import migrated_plugins
from kubesched.state.volumes.volume_use import VolumeUse

CSIVolume = tuple[str, ...]
"""driver, handle; or driver, namespace/claim, "" without a volume; then the plugin that a node has to have migrated."""


class VolumesFound(NamedTuple):
    """The volumes of one pod or of all pods of a node.

    Attributes:
        volumes: those that count.
        fault: why they cannot be told, in upstream's words; empty when they can.
    """

    volumes: frozenset[CSIVolume]
    fault: str = ""


class AttachedVolumes:
    """Counts per row, brought up to date by `refresh`: only rows on which something changed are counted again.

    Attributes:
        held: driver -> (slots,) int64, its volumes on each row.
        uses: (slots,) int64, how often pods and VolumeAttachments of each row name a volume; no row has more volumes.
        pod_rows: volume -> rows with a pod that uses it.
        faults: row -> the fault of its pods.
    """

    def __init__(self, columns: NodeColumns, objects: ObjectStore, use: VolumeUse, release: Release) -> None:
        self._columns = columns
        self._objects = objects
        self._use = use
        self._conditions = {PORTWORX: (PORTWORX,)} if release.before(36) else {}
        self._stale = StaleRows(columns)
        self._volume_of: dict[str, CSIVolume | None] = {}  # claim key -> its volume, as far as asked
        self._claims_of: dict[str, set[str]] = {}  # PersistentVolume name -> the claims above that name it
        self._attachments: dict[str, dict[str, VolumeAttachment]] = {}  # node name -> by name
        self._nodes_of: dict[str, set[str]] = {}  # PersistentVolume name -> nodes with an attachment of it
        self._counted: dict[int, tuple[frozenset[CSIVolume], frozenset[CSIVolume]]] = {}  # row -> (by pods, all)
        self.held: dict[str, IntVector] = {}
        self.uses: IntVector = np.zeros(columns.capacity, dtype=np.int64)
        self.pod_rows: dict[CSIVolume, set[int]] = {}
        self.faults: dict[int, str] = {}
        objects.listen("PersistentVolumeClaim", self._claim_changed)
        objects.listen("PersistentVolume", self._volume_changed)
        objects.listen("StorageClass", self._class_changed)
        objects.listen("VolumeAttachment", self._attachment_changed)
        if self._conditions:
            objects.listen("CSINode", self._csi_node_changed)
        for attachment in objects.list("VolumeAttachment"):
            self._attachment_changed(None, attachment)

    def pods_changed(self, row: int) -> None:
        """A pod with volumes came to a row or left it."""
        self._stale.mark(row)

    def refresh(self) -> None:
        """Count the rows that changed."""
        if len(self.uses) < self._columns.capacity:
            self.uses = grown(self.uses, self._columns.capacity)
        for row in self._stale.take():
            self._count(row)

    def sizes(self) -> dict[str, int]:
        """Entries of every table."""
        return {
            "claims": len(self._volume_of),
            "volumes": len(self._claims_of),
            "nodes": len(self._attachments),
            "attachments": len(self._nodes_of),
            "rows": len(self._counted),
            "drivers": len(self.held),
            "pod rows": len(self.pod_rows),
            "faults": len(self.faults),
        }

    # --- what pods have ---

    def of_pods(self, infos: Iterable[PodInfo], node_name: str) -> VolumesFound:
        """The volumes of the pods of one node; claims that do not exist are passed over."""
        volumes: set[CSIVolume] = set()
        for info in infos:
            if info.volumes.n_attachable:
                used = self.of_pod(info.pod, info.volumes)
                if used.fault:
                    return used
                volumes |= used.volumes
        return VolumesFound(self.on_node(frozenset(volumes), node_name))

    def on_node(self, volumes: frozenset[CSIVolume], node_name: str) -> frozenset[CSIVolume]:
        """Those of the volumes that count on a node."""
        if not self._conditions:
            return volumes
        found = self._objects.get("CSINode", node_name)
        plugins = migrated_plugins(found if isinstance(found, CSINode) else None)
        return where_migrated(volumes) if PORTWORX in plugins else where_not_migrated(volumes)

    def of_pod(self, pod: Pod, used: PodVolumes) -> VolumesFound:
        """The volumes of one pod on any node; claims that do not exist are passed over."""
        volumes: set[CSIVolume | None] = set()
        for name, is_ephemeral in used.claims:
            if not name:
                return VolumesFound(frozenset(), "PersistentVolumeClaim had no name")
            key = f"{pod.namespace}/{name}"
            if is_ephemeral:
                claim = self._objects.get("PersistentVolumeClaim", key)
                if isinstance(claim, PersistentVolumeClaim) and not claim.is_made_for(pod):
                    return VolumesFound(frozenset(), not_owned(claim, pod))
            volumes.add(self._of_claim(key))
        for kind, source in used.in_tree:
            handle = csi_handle(kind, source, {})
            volumes.add(None if handle is None else (kind.driver, handle, *self._conditions.get(kind.plugin, ())))
        return VolumesFound(frozenset(volume for volume in volumes if volume is not None))

    def _of_claim(self, key: str) -> CSIVolume | None:
        if key in self._volume_of:
            return self._volume_of[key]
        claim = self._objects.get("PersistentVolumeClaim", key)
        if not isinstance(claim, PersistentVolumeClaim):
            return None  # not remembered: nothing would come to forget it
        volume = self._volume_of[key] = self._named_by(claim, key)
        return volume

    def _named_by(self, claim: PersistentVolumeClaim, key: str) -> CSIVolume | None:
        name = claim.spec.volume_name
        if name:
            self._claims_of.setdefault(name, set()).add(key)
            volume = self._objects.get("PersistentVolume", name)
            if isinstance(volume, PersistentVolume):
                return self._of_volume(volume)
        storage_class = self._objects.get("StorageClass", storage_class_of(claim))
        provisioner = storage_class.provisioner if isinstance(storage_class, StorageClass) else ""
        driver = migrated_driver(provisioner)
        return None if driver is None else (driver, key, "", *self._conditions.get(provisioner, ()))

    def _of_volume(self, volume: PersistentVolume) -> CSIVolume | None:
        if volume.spec.csi is not None:
            return (volume.spec.csi.driver, volume.spec.csi.volume_handle)
        source = in_tree_source(volume)
        handle = csi_handle(*source, volume.labels) if source else None
        if source is None or handle is None:
            return None
        return (source[0].driver, handle, *self._conditions.get(source[0].plugin, ()))

    # --- counting a row ---

    def attached_without_pod(self, node_name: str) -> set[CSIVolume]:
        """Volumes that VolumeAttachments place on a node, whether or not a pod there uses them too."""
        attached = map(self._attached_by, self._attachments.get(node_name, {}).values())
        return {volume for volume in attached if volume is not None}

    def left_by(self, pod: Pod, used: PodVolumes) -> list[VolumeAttachment]:
        """The VolumeAttachments of a pod's volumes on its node that no pod there uses, now that this one has gone."""
        unused = self.unused(pod.node_name)
        mine = self.on_node(self.of_pod(pod, used).volumes, pod.node_name) if unused else frozenset()
        return [one for one in unused if self._attached_by(one) in mine]

    def unused(self, node_name: str) -> list[VolumeAttachment]:
        """The VolumeAttachments to a node whose volumes no pod there uses."""
        here, row = self._attachments.get(node_name), self._columns.row_of.get(node_name)
        if not here or row is None:
            return []
        used = {None, *self.of_pods(self._columns.pods[row], node_name).volumes}
        return [one for one in here.values() if self._attached_by(one) not in used]

    def _attached_by(self, attachment: VolumeAttachment) -> CSIVolume | None:
        volume = self._objects.get("PersistentVolume", attachment.spec.source.persistent_volume_name or "")
        if isinstance(volume, PersistentVolume) and volume.spec.csi is not None:
            return (attachment.spec.attacher, volume.spec.csi.volume_handle)
        return None

    def _count(self, row: int) -> None:
        name = self._columns.names[row]
        by_pods, fault = self.of_pods(self._columns.pods[row], name or "")
        attached = self.attached_without_pod(name) if name else set()
        every = by_pods | attached
        self.uses[row] = len(attached) + sum(info.volumes.n_attachable for info in self._columns.pods[row])
        old_by_pods, old_every = self._counted.pop(row, (frozenset(), frozenset()))
        if every:
            self._counted[row] = (by_pods, every)
        for volume in old_every - every:
            self._held(volume[0])[row] -= 1
            if not self._held(volume[0]).any():
                del self.held[volume[0]]
        for volume in every - old_every:
            self._held(volume[0])[row] += 1
        for volume in old_by_pods - by_pods:
            self.pod_rows[volume].discard(row)
            if not self.pod_rows[volume]:
                del self.pod_rows[volume]
        for volume in by_pods - old_by_pods:
            self.pod_rows.setdefault(volume, set()).add(row)
        self.faults.pop(row, None)
        if fault:
            self.faults[row] = fault

    def _held(self, driver: str) -> IntVector:
        column = self.held.get(driver)
        if column is None:
            column = self.held[driver] = np.zeros(self._columns.capacity, dtype=np.int64)
        elif len(column) < self._columns.capacity:
            column = self.held[driver] = grown(column, self._columns.capacity)
        return column

    # --- what makes rows stale ---

    def _claim_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        claim = new or old
        assert claim is not None
        if isinstance(old, PersistentVolumeClaim) and (named := self._claims_of.get(old.spec.volume_name)):
            named.discard(old.key)
            if not named:
                del self._claims_of[old.spec.volume_name]
        self._forget_claim(claim.key)

    def _forget_claim(self, key: str) -> None:
        self._volume_of.pop(key, None)
        for row in self._use.claim_rows.get(key, ()):
            self._stale.mark(row)

    def _volume_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        volume = new or old
        assert volume is not None
        for key in self._claims_of.pop(volume.name, ()):
            self._forget_claim(key)
        for name in self._nodes_of.get(volume.name, ()):
            self._stale.mark_name(name)

    def _class_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        self._volume_of.clear()
        self._claims_of.clear()
        self._stale.mark_all()

    def _csi_node_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        csi_node = new or old
        assert csi_node is not None
        self._stale.mark_name(csi_node.name)

    def _attachment_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if isinstance(old, VolumeAttachment):
            node_name, volume_name = old.spec.node_name, old.spec.source.persistent_volume_name or ""
            here = self._attachments.get(node_name, {})
            here.pop(old.name, None)
            if not here:
                self._attachments.pop(node_name, None)
            if all(other.spec.source.persistent_volume_name != volume_name for other in here.values()):
                self._nodes_of.get(volume_name, set()).discard(node_name)
                if not self._nodes_of.get(volume_name):
                    self._nodes_of.pop(volume_name, None)
            self._stale.mark_name(node_name)
        if isinstance(new, VolumeAttachment) and new.spec.attacher and new.spec.source.persistent_volume_name:
            self._attachments.setdefault(new.spec.node_name, {})[new.name] = new
            self._nodes_of.setdefault(new.spec.source.persistent_volume_name, set()).add(new.spec.node_name)
            self._stale.mark_name(new.spec.node_name)


def where_migrated(volumes: frozenset[CSIVolume]) -> frozenset[CSIVolume]:
    """The volumes as they count on nodes that have migrated the plugins of all of them."""
    return frozenset(one[:-1] if one[-1] == PORTWORX else one for one in volumes)


def where_not_migrated(volumes: frozenset[CSIVolume]) -> frozenset[CSIVolume]:
    """Those that count on nodes that have migrated none."""
    return frozenset(one for one in volumes if one[-1] != PORTWORX)
