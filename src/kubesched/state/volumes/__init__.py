"""Storage for the volume rules: claims, available volumes, drivers' limits, and the volumes of placed pods."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.state.volumes.attached_volumes import (
        AttachedVolumes as AttachedVolumes,
        CSIVolume as CSIVolume,
        where_migrated as where_migrated,
        where_not_migrated as where_not_migrated,
    )
    from kubesched.state.volumes.claims import (
        is_bound as is_bound,
        not_owned as not_owned,
        storage_class_of as storage_class_of,
        storage_request as storage_request,
    )
    from kubesched.state.volumes.csi_nodes import (
        NO_LIMIT as NO_LIMIT,
        driver_limits as driver_limits,
        migrated_plugins as migrated_plugins,
    )
    from kubesched.state.volumes.free_volumes import (
        FreeVolumes as FreeVolumes,
        Reachable as Reachable,
        VolumeWish as VolumeWish,
    )
    from kubesched.state.volumes.known_volume import KnownVolume as KnownVolume
    from kubesched.state.volumes.persistent_volumes import PersistentVolumes as PersistentVolumes
    from kubesched.state.volumes.storage_capacities import NO_CAPACITY as NO_CAPACITY, capacity_limit as capacity_limit
    from kubesched.state.volumes.storage_data import Volumes as Volumes
    from kubesched.state.volumes.volume_use import VolumeUse as VolumeUse, disks_conflict as disks_conflict
