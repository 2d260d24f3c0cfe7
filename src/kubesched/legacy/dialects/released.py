"""The plugins that older configuration versions had by default, at each extension point.

Rule: kube-scheduler v1.22 for v1beta2 and v1beta1, v1.18 for v1alpha2 and v1alpha1; weights as they were. The order of
the filters of v1.18 is v1.22's: it only decides which of several reasons is reported.
"""

from typing import Any, Final

import msgspec

from kubesched.config import PluginEntry, Plugins, PluginSet


class Base(msgspec.Struct, frozen=True):
    """What a profile starts with before its own plugins count.

    Attributes:
        args: arguments by plugin, for plugins that the profile gives none.
        weights: what differs from the defaults of v1, if that is only the order of the plugins and these weights.
    """

    plugins: Plugins
    args: dict[str, dict[str, Any]] = {}
    weights: dict[str, int] = {}


def enabled(*names: str) -> PluginSet:
    """A set that enables the plugins in this order, without weights."""
    return PluginSet(tuple(PluginEntry(name) for name in names))


def weighted(**weights: int) -> PluginSet:
    """A set that enables the plugins in this order, with weights."""
    return PluginSet(tuple(PluginEntry(name, weight) for name, weight in weights.items()))


_PRE_FILTER: Final = (
    "NodeResourcesFit",
    "NodePorts",
    "VolumeRestrictions",
    "PodTopologySpread",
    "InterPodAffinity",
    "VolumeBinding",
    "VolumeZone",
    "NodeAffinity",
)
_FILTER: Final = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "EBSLimits",
    "GCEPDLimits",
    "NodeVolumeLimits",
    "AzureDiskLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)


def _with_score(score: PluginSet) -> Plugins:
    return Plugins(
        queue_sort=enabled("PrioritySort"),
        pre_filter=enabled(*_PRE_FILTER),
        filter=enabled(*_FILTER),
        post_filter=enabled("DefaultPreemption"),
        pre_score=enabled("InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"),
        score=score,
        reserve=enabled("VolumeBinding"),
        pre_bind=enabled("VolumeBinding"),
        bind=enabled("DefaultBinder"),
    )


def _score_of_1_18(resources: str) -> PluginSet:
    """The default scores before v1beta2.

    Args:
        resources: the plugin that scores free resources, or used ones.
    """
    return weighted(
        NodeResourcesBalancedAllocation=1,
        ImageLocality=1,
        InterPodAffinity=1,
        **{resources: 1},
        NodeAffinity=1,
        NodePreferAvoidPods=10000,
        PodTopologySpread=2,
        TaintToleration=1,
    )


def _of_1_18(resources: str) -> Base:
    """SelectorSpread spreads pods by default; PodTopologySpread defines no constraints."""
    score = PluginSet((*_score_of_1_18(resources).enabled, PluginEntry("SelectorSpread", 1)))
    return Base(_with_score(score), {"PodTopologySpread": {"defaultingType": "List"}})


V1BETA2: Final = Base(
    _with_score(
        weighted(
            NodeResourcesBalancedAllocation=1,
            ImageLocality=1,
            InterPodAffinity=1,
            NodeResourcesFit=1,
            NodeAffinity=1,
            PodTopologySpread=2,
            TaintToleration=1,
        )
    ),
    weights={"TaintToleration": 1, "NodeAffinity": 1, "InterPodAffinity": 1},
)
V1BETA1: Final = Base(_with_score(_score_of_1_18("NodeResourcesLeastAllocated")))
PROVIDERS: Final = {
    "DefaultProvider": _of_1_18("NodeResourcesLeastAllocated"),
    "ClusterAutoscalerProvider": _of_1_18("NodeResourcesMostAllocated"),
}
"""The algorithm providers of v1alpha1, by name; the first one is the default of v1alpha2, too."""
