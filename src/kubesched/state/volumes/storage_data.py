"""The storage data of the cluster in addition to the objects, each part created on first use."""

from functools import cached_property

from kubesched.release import Release
from kubesched.state.columns import NodeColumns
from kubesched.state.objects import ObjectStore
from kubesched.state.pod_info import PodInfo
from kubesched.state.pod_volumes import NO_VOLUMES
from kubesched.state.volumes.attached_volumes import AttachedVolumes
from kubesched.state.volumes.csi_nodes import CSINodes
from kubesched.state.volumes.persistent_volumes import PersistentVolumes
from kubesched.state.volumes.storage_capacities import StorageCapacities
from kubesched.state.volumes.volume_use import VolumeUse


class Volumes:
    """The relations behind the volume plugins. Its owner is ClusterState.

    Attributes:
        use: which claims and disks placed pods use.
    """

    def __init__(self, columns: NodeColumns, objects: ObjectStore, release: Release) -> None:
        self._columns = columns
        self._objects = objects
        self._release = release
        self.use = VolumeUse()

    def prepare(self) -> None:
        """Make every part now, so that the first pod with volumes does not pay for it; nothing to do without claims."""
        if "PersistentVolumeClaim" in self._objects:
            self._csi_nodes.refresh()
            self._attached.refresh()
            _ = self.persistent, self.capacities

    def move(self, row: int, info: PodInfo, sign: int) -> None:
        """A pod came to a row (+1) or left it (-1)."""
        if info.volumes is not NO_VOLUMES:
            self.use.move(row, info, sign)
            if "_attached" in self.__dict__:
                self._attached.pods_changed(row)

    def sizes(self) -> dict[str, int]:
        """Entries by registry, as far as each has been made."""
        sizes = {f"volume use, {name}": size for name, size in self.use.sizes().items()}
        if "_attached" in self.__dict__:
            sizes |= {f"attached volumes, {name}": size for name, size in self.attached.sizes().items()}
        if "_csi_nodes" in self.__dict__:
            sizes |= {f"CSINodes, {name}": size for name, size in self.csi_nodes.sizes().items()}
        if "persistent" in self.__dict__:
            sizes |= {f"persistent volumes, {name}": size for name, size in self.persistent.sizes().items()}
        if "capacities" in self.__dict__:
            sizes |= {f"storage capacities, {name}": size for name, size in self.capacities.sizes().items()}
        return sizes

    @property
    def attached(self) -> AttachedVolumes:
        """Which CSI volumes are attached to which node, up to date."""
        self._attached.refresh()
        return self._attached

    @property
    def csi_nodes(self) -> CSINodes:
        """Limits of the nodes and their migrated plugins, up to date."""
        self._csi_nodes.refresh()
        return self._csi_nodes

    @cached_property
    def persistent(self) -> PersistentVolumes:
        """The PersistentVolumes."""
        return PersistentVolumes(self._objects)

    @cached_property
    def capacities(self) -> StorageCapacities:
        """What storage drivers have published."""
        return StorageCapacities(self._objects)

    @cached_property
    def _attached(self) -> AttachedVolumes:
        return AttachedVolumes(self._columns, self._objects, self.use, self._release)

    @cached_property
    def _csi_nodes(self) -> CSINodes:
        return CSINodes(self._columns, self._objects)
