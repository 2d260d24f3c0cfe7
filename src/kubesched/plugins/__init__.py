"""The in-tree plugins, one file each; their table is `in_tree.py`."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.plugins.args import (
        CPU_AND_MEMORY,
        PodTopologySpreadArgs,
        ResourceSpec,
        UtilizationShapePoint,
        shape_errors,
        weighed,
    )
    from kubesched.plugins.default_binder import DefaultBinder
    from kubesched.plugins.default_preemption import DefaultPreemption
    from kubesched.plugins.dynamic_resources import DynamicResources
    from kubesched.plugins.image_locality import ImageLocality
    from kubesched.plugins.in_tree import IN_TREE_PLUGINS
    from kubesched.plugins.inter_pod_affinity import InterPodAffinity
    from kubesched.plugins.node_affinity import NodeAffinity
    from kubesched.plugins.node_declared_features import NodeDeclaredFeatures
    from kubesched.plugins.node_name import NodeName
    from kubesched.plugins.node_ports import NodePorts, WantedPorts
    from kubesched.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
    from kubesched.plugins.node_resources_fit import NodeResourcesFit, broken_linear, missing_resources
    from kubesched.plugins.node_selection import RequiredNodeAffinity, required_node_affinity
    from kubesched.plugins.node_unschedulable import NodeUnschedulable
    from kubesched.plugins.node_volume_limits import NodeVolumeLimits
    from kubesched.plugins.pod_topology_spread import PodTopologySpread
    from kubesched.plugins.priority_sort import PrioritySort
    from kubesched.plugins.scheduling_gates import SchedulingGates
    from kubesched.plugins.shared_hints import by_claim, by_volume, is_placed, nothing, queue_if, registration
    from kubesched.plugins.spread_constraints import (
        HOSTNAME,
        SCHEDULE_ANYWAY,
        DefaultConstraints,
        constraints_of,
        own_constraint,
    )
    from kubesched.plugins.taint_toleration import TaintToleration
    from kubesched.plugins.tolerations import has_untolerated_taint, near_miss, taint_words, untolerated_taints
    from kubesched.plugins.volume_binding import VolumeBinding
    from kubesched.plugins.volume_restrictions import VolumeRestrictions, has_no_disk
    from kubesched.plugins.volume_zone import VolumeZone

__all__ = [
    "CPU_AND_MEMORY",
    "HOSTNAME",
    "IN_TREE_PLUGINS",
    "SCHEDULE_ANYWAY",
    "DefaultBinder",
    "DefaultConstraints",
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
    "PodTopologySpreadArgs",
    "PrioritySort",
    "RequiredNodeAffinity",
    "ResourceSpec",
    "SchedulingGates",
    "TaintToleration",
    "UtilizationShapePoint",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
    "WantedPorts",
    "broken_linear",
    "by_claim",
    "by_volume",
    "constraints_of",
    "has_no_disk",
    "has_untolerated_taint",
    "is_placed",
    "missing_resources",
    "near_miss",
    "nothing",
    "own_constraint",
    "queue_if",
    "registration",
    "required_node_affinity",
    "shape_errors",
    "taint_words",
    "untolerated_taints",
    "weighed",
]
