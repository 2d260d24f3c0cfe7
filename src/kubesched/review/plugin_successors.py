"""Names the plugin that took over what an earlier one did, because a similar name may do the opposite."""

from typing import Final, NamedTuple

from kubesched.config import PLUGIN_LIKENESS, did_you_mean


class _Successor(NamedTuple):
    """A plugin, the version since which it does this, and how."""

    name: str
    since: str
    how: str = ""


_VOLUMES: Final = _Successor("NodeVolumeLimits", "v1.31")
_SUCCESSORS: Final = {
    "NodeResourcesLeastAllocated": _Successor("NodeResourcesFit", "v1beta2", "scoringStrategy LeastAllocated"),
    "NodeResourcesMostAllocated": _Successor("NodeResourcesFit", "v1beta2", "scoringStrategy MostAllocated"),
    "RequestedToCapacityRatio": _Successor("NodeResourcesFit", "v1beta2", "scoringStrategy RequestedToCapacityRatio"),
    "NodeLabel": _Successor("NodeAffinity", "v1beta2", "addedAffinity"),
    "ServiceAffinity": _Successor("InterPodAffinity", "v1beta2", "the affinity of pods"),
    "NodePreferAvoidPods": _Successor("TaintToleration", "v1beta3", "taints of nodes"),
    "SelectorSpread": _Successor("PodTopologySpread", "v1beta3", "defaultingType System"),
    "DefaultPodTopologySpread": _Successor("PodTopologySpread", "v1beta3", "defaultingType System"),
    "EBSLimits": _VOLUMES,
    "GCEPDLimits": _VOLUMES,
    "AzureDiskLimits": _VOLUMES,
    "CinderLimits": _VOLUMES,
}
"""Rule: kube-scheduler v1.22 to v1.31: the plugins that were removed, and what the release notes name instead."""


def what_is_meant(name: str, known: tuple[str, ...], enabled: frozenset[str] | set[str]) -> str:
    """Advice on the name of a plugin that does not exist: its successor, or the nearest name; empty without one.

    Args:
        known: the plugins that may be meant.
        enabled: those that count where the name is written.
    """
    successor = _SUCCESSORS.get(name)
    if successor is None:
        return did_you_mean(name, known, PLUGIN_LIKENESS)
    how = f" with {successor.how}" if successor.how else ""
    state = "is still enabled" if successor.name in enabled else "is not enabled"
    return f"{successor.name} took it over in {successor.since}{how}, and {state}"
