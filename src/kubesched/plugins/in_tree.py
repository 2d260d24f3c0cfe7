"""The in-tree plugins of each version by name, in upstream's default order."""

from typing import Final

from kubesched.framework import Plugin
from kubesched.plugins.default_binder import DefaultBinder
from kubesched.plugins.default_preemption import DefaultPreemption
from kubesched.plugins.dynamic_resources import (
    DynamicResources,
    UnboundDynamicResources,
    UnscoredDynamicResources,
)
from kubesched.plugins.image_locality import ImageLocality
from kubesched.plugins.inter_pod_affinity import InterPodAffinity
from kubesched.plugins.node_affinity import NodeAffinity
from kubesched.plugins.node_declared_features import NodeDeclaredFeatures
from kubesched.plugins.node_name import NodeName
from kubesched.plugins.node_ports import NodePorts
from kubesched.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from kubesched.plugins.node_resources_fit import EarlierNodeResourcesFit, NodeResourcesFit
from kubesched.plugins.node_unschedulable import NodeUnschedulable
from kubesched.plugins.node_volume_limits import NodeVolumeLimits
from kubesched.plugins.pod_topology_spread import PodTopologySpread
from kubesched.plugins.priority_sort import PrioritySort
from kubesched.plugins.scheduling_gates import SchedulingGates
from kubesched.plugins.taint_toleration import NamingTaintToleration, TaintToleration
from kubesched.plugins.volume_binding import ScoringVolumeBinding, VolumeBinding
from kubesched.plugins.volume_restrictions import EarlierVolumeRestrictions, VolumeRestrictions
from kubesched.plugins.volume_zone import VolumeZone
from kubesched.release import DEFAULT_RELEASE, Release


def in_tree_plugins(release: Release) -> dict[str, type[Plugin]]:
    """The plugins of a version by name, in the order of its default configuration as far as they are in it.

    Where versions differ in what a class is, such as its extension points, there is a class for each; what differs in
    a rule asks the release of the plugin.

    Rule: kube-scheduler; the texts of TaintToleration and VolumeRestrictions are others since v1.34,
    NodeDeclaredFeatures exists since v1.35, and NodeResourcesFit checks its arguments otherwise since v1.36.
    """
    classes: tuple[type[Plugin], ...] = (
        SchedulingGates,
        PrioritySort,
        NodeUnschedulable,
        NodeName,
        NamingTaintToleration if release.before(34) else TaintToleration,
        NodeAffinity,
        NodePorts,
        EarlierNodeResourcesFit if release.before(36) else NodeResourcesFit,
        EarlierVolumeRestrictions if release.before(34) else VolumeRestrictions,
        NodeVolumeLimits,
        ScoringVolumeBinding if release.has("StorageCapacityScoring") else VolumeBinding,
        VolumeZone,
        PodTopologySpread,
        InterPodAffinity,
        _dynamic_resources(release),
        DefaultPreemption,
        NodeResourcesBalancedAllocation,
        ImageLocality,
        DefaultBinder,
        *(() if release.before(35) else (NodeDeclaredFeatures,)),
    )
    return {plugin.name: plugin for plugin in classes}


def _dynamic_resources(release: Release) -> type[DynamicResources]:
    """Rule: kube-scheduler scores devices since v1.35."""
    if release.before(35):
        return UnscoredDynamicResources
    has_conditions = release.has("DRADeviceBindingConditions") and release.has("DRAResourceClaimDeviceStatus")
    return DynamicResources if has_conditions else UnboundDynamicResources


IN_TREE_PLUGINS: Final = in_tree_plugins(DEFAULT_RELEASE)
"""Those of the version that decides where nothing says which one the cluster has."""
