"""The four volume plugins (kube-scheduler v1.36); what they share is in `storage`."""

from tests.reference.plugins.node_volume_limits import NodeVolumeLimits
from tests.reference.plugins.volume_binding import VolumeBinding
from tests.reference.plugins.volume_restrictions import VolumeRestrictions
from tests.reference.plugins.volume_zone import VolumeZone

__all__ = ["NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone"]
