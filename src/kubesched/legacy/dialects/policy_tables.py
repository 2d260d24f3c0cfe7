"""What became of every predicate and priority of a Policy; docs/guides/from-policy-to-v1.md shows these tables.

Rule: kube-scheduler v1.22, the last one with Policies, and v1.17 for predicates that node taints have replaced since.
"""

from typing import Final

PREDICATES: Final[dict[str, tuple[str, ...]]] = {
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeLabelPresence": ("NodeLabel",),
    "CheckServiceAffinity": ("ServiceAffinity",),
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
"""The filter plugins of each predicate, in the order in which they are called."""

MANDATORY_PREDICATES: Final = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
DEFAULT_PREDICATES: Final = (
    "NoVolumeZoneConflict",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MatchInterPodAffinity",
    "NoDiskConflict",
    "GeneralPredicates",
    "PodToleratesNodeTaints",
    "CheckVolumeBinding",
    "CheckNodeUnschedulable",
    "EvenPodsSpread",
)

TAINT_PREDICATES: Final = (
    "CheckNodeCondition",
    "CheckNodeDiskPressure",
    "CheckNodeMemoryPressure",
    "CheckNodePIDPressure",
)
"""Predicates of up to v1.17; the node controller sets taints for these conditions, and TaintToleration honours them."""

PREDICATE_ALIASES: Final = {"PodFitsPorts": "PodFitsHostPorts", "NoVolumeNodeConflict": "CheckVolumeBinding"}

PRIORITIES: Final[dict[str, str]] = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "EvenPodsSpreadPriority": "PodTopologySpread",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated",
    "MostRequestedPriority": "NodeResourcesMostAllocated",
    "NodeAffinityPriority": "NodeAffinity",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "ResourceLimitsPriority": "NodeResourceLimits",
    "SelectorSpreadPriority": "SelectorSpread",
    "TaintTolerationPriority": "TaintToleration",
}
"""The score plugin of each priority that takes no argument."""

DEFAULT_PRIORITIES: Final = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
    "EvenPodsSpreadPriority": 2,
}
"""The priorities of a Policy that names none, with their weights."""

PRIORITY_ALIASES: Final = {"ServiceSpreadingPriority": "SelectorSpreadPriority"}
SKIPPED_PRIORITY: Final = "EqualPriority"
"""It gave each node the same score."""
