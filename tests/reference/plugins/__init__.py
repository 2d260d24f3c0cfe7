"""The in-tree plugins, in the order and with the weights of upstream's default configuration (kube-scheduler v1.36)."""

from tests.reference.plugins.dynamic_resources import DynamicResources
from tests.reference.plugins.image_locality import ImageLocality
from tests.reference.plugins.inter_pod_affinity import InterPodAffinity
from tests.reference.plugins.node_affinity import NodeAffinity
from tests.reference.plugins.node_declared_features import NodeDeclaredFeatures
from tests.reference.plugins.node_name import NodeName
from tests.reference.plugins.node_ports import NodePorts
from tests.reference.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from tests.reference.plugins.node_resources_fit import NodeResourcesFit
from tests.reference.plugins.node_unschedulable import NodeUnschedulable
from tests.reference.plugins.pod_topology_spread import PodTopologySpread
from tests.reference.plugins.taint_toleration import TaintToleration
from tests.reference.plugins.volumes import NodeVolumeLimits, VolumeBinding, VolumeRestrictions, VolumeZone

PLUGINS = {
    cls.name: cls
    for cls in (
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
        NodeResourcesBalancedAllocation,
        ImageLocality,
        NodeDeclaredFeatures,
    )
}

# (name, score weight or None) of multiPoint.enabled; those not in PLUGINS have no part in what the reference computes
DEFAULTS = [
    ("SchedulingGates", None),
    ("PrioritySort", None),
    ("NodeUnschedulable", None),
    ("NodeName", None),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", None),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", None),
    ("NodeVolumeLimits", None),
    ("VolumeBinding", None),
    ("VolumeZone", None),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("DefaultPreemption", None),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", None),
    ("NodeDeclaredFeatures", None),
]
