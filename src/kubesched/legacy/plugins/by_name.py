"""The legacy plugins by name. A module is imported when a configuration first names one of its plugins."""

import importlib
from typing import Final

from kubesched.framework import Plugin

LEGACY_PLUGINS: Final[dict[str, str]] = {
    "SelectorSpread": "selector_spread",
    "NodeLabel": "node_label",
    "ServiceAffinity": "service_affinity",
    "NodePreferAvoidPods": "node_prefer_avoid_pods",
    "RequestedToCapacityRatio": "resource_allocation",
    "NodeResourcesLeastAllocated": "resource_allocation",
    "NodeResourcesMostAllocated": "resource_allocation",
    "NodeResourceLimits": "node_resource_limits",
    "NodeResourcesLimits": "node_resource_limits",
    "EqualPriority": "equal_priority",
    "NoDiskConflict": "no_disk_conflict",
    "EBSLimits": "volume_limits",
    "GCEPDLimits": "volume_limits",
    "AzureDiskLimits": "volume_limits",
    "CinderLimits": "volume_limits",
    "MaxEBSVolumeCount": "volume_limits",
    "MaxGCEPDVolumeCount": "volume_limits",
    "MaxAzureDiskVolumeCount": "volume_limits",
    "MaxCinderVolumeCount": "volume_limits",
    "MaxCSIVolumeCountPred": "volume_limits",
}
"""Name of each legacy plugin -> its module."""


def legacy_plugin(name: str) -> type[Plugin]:
    """The class of a legacy plugin, imported now.

    Raises:
        KeyError: no legacy plugin has the name.
    """
    module = importlib.import_module(f"{__package__}.{LEGACY_PLUGINS[name]}")
    plugin_class: type[Plugin] = getattr(module, name)
    return plugin_class
