"""The in-tree plugins, one file each; this is their table, in upstream's default order. Older ones are in `legacy/`."""

from typing import Final

from kubesched.framework import Plugin
from kubesched.plugins.default_binder import DefaultBinder
from kubesched.plugins.default_preemption import DefaultPreemption
from kubesched.plugins.dynamic_resources import DynamicResources
from kubesched.plugins.image_locality import ImageLocality
from kubesched.plugins.inter_pod_affinity import InterPodAffinity
from kubesched.plugins.legacy import LEGACY_PLUGINS, legacy_plugin
from kubesched.plugins.node_affinity import NodeAffinity
from kubesched.plugins.node_declared_features import NodeDeclaredFeatures
from kubesched.plugins.node_name import NodeName
from kubesched.plugins.node_ports import NodePorts, WantedPorts
from kubesched.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from kubesched.plugins.node_resources_fit import NodeResourcesFit, missing_resources
from kubesched.plugins.node_selection import RequiredNodeAffinity, required_node_affinity
from kubesched.plugins.node_unschedulable import NodeUnschedulable
from kubesched.plugins.node_volume_limits import NodeVolumeLimits
from kubesched.plugins.pod_topology_spread import PodTopologySpread
from kubesched.plugins.priority_sort import PrioritySort
from kubesched.plugins.scheduling_gates import SchedulingGates
from kubesched.plugins.spread_constraints import own_constraint
from kubesched.plugins.taint_toleration import TaintToleration
from kubesched.plugins.tolerations import has_untolerated_taint, near_miss, taint_words, untolerated_taints
from kubesched.plugins.volume_binding import VolumeBinding
from kubesched.plugins.volume_restrictions import VolumeRestrictions
from kubesched.plugins.volume_zone import VolumeZone

__all__ = [
    "IN_TREE_PLUGINS",
    "LEGACY_PLUGINS",
    "DefaultBinder",
    "DefaultPreemption",
    "DynamicResources",
    "ImageLocality",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeDeclaredFeatures",
    "NodeName",
    "NodePorts",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "NodeUnschedulable",
    "NodeVolumeLimits",
    "PodTopologySpread",
    "PrioritySort",
    "RequiredNodeAffinity",
    "SchedulingGates",
    "TaintToleration",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
    "WantedPorts",
    "has_untolerated_taint",
    "legacy_plugin",
    "missing_resources",
    "near_miss",
    "own_constraint",
    "required_node_affinity",
    "taint_words",
    "untolerated_taints",
]

IN_TREE_PLUGINS: Final[dict[str, type[Plugin]]] = {
    plugin.name: plugin
    for plugin in (
        SchedulingGates,
        PrioritySort,
        NodeUnschedulable,
        NodeName,
        TaintToleration,
        NodeAffinity,
        NodePorts,
        NodeResourcesFit,
        VolumeRestrictions,
        NodeVolumeLimits,
        VolumeBinding,
        VolumeZone,
        PodTopologySpread,
        InterPodAffinity,
        DynamicResources,
        DefaultPreemption,
        NodeResourcesBalancedAllocation,
        ImageLocality,
        DefaultBinder,
        NodeDeclaredFeatures,
    )
}
"""kube-scheduler v1.36's plugins by name, in the order of its default configuration."""
