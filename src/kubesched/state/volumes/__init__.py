"""Storage for the volume rules: claims, available volumes, drivers' limits, and the volumes of placed pods."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.state.volumes.attached_volumes import AttachedVolumes, CSIVolume
    from kubesched.state.volumes.claims import is_bound, is_controlled_by, not_owned, storage_class_of, storage_request
    from kubesched.state.volumes.csi_nodes import NO_LIMIT, driver_limits, migrated_plugins
    from kubesched.state.volumes.free_volumes import FreeVolumes, Reachable, VolumeWish
    from kubesched.state.volumes.known_volume import KnownVolume
    from kubesched.state.volumes.persistent_volumes import PersistentVolumes
    from kubesched.state.volumes.storage_capacities import capacity_limit
    from kubesched.state.volumes.storage_data import Volumes
    from kubesched.state.volumes.volume_use import VolumeUse, disks_conflict

__all__ = [
    "NO_LIMIT",
    "AttachedVolumes",
    "CSIVolume",
    "FreeVolumes",
    "KnownVolume",
    "PersistentVolumes",
    "Reachable",
    "VolumeUse",
    "VolumeWish",
    "Volumes",
    "capacity_limit",
    "disks_conflict",
    "driver_limits",
    "is_bound",
    "is_controlled_by",
    "migrated_plugins",
    "not_owned",
    "storage_class_of",
    "storage_request",
]
