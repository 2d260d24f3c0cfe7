"""Takes out of a v1 document the plugins that only kubesched has, with what comes nearest to them.

Most are plugins that kube-scheduler no longer has; bundled plugins are ones that it never had.

Rule: kube-scheduler v1.22 and v1.36: SelectorSpread became PodTopologySpread with its System constraints,
RequestedToCapacityRatio a strategy of NodeResourcesFit; NodeLabel's filter is a node affinity of the profile.
"""

import copy
from collections.abc import Callable
from typing import Any, Final

from kubesched.api import AVOID_PODS
from kubesched.legacy.conversion import Document, Notice, Use
from kubesched.legacy.dialects.raw_sets import (
    args_of,
    change_args,
    enable,
    listed,
    remove,
    remove_args,
    uses_of,
    weight_at,
)
from kubesched.legacy.dialects.strategies import STRATEGY_PLUGINS, join_strategies

_Replace = Callable[[Document, str, list[Use]], list[Notice]]

_VOLUME_COUNTS: Final = (
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MaxCinderVolumeCount",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
)
_LABELS: Final = ("presentLabels", "absentLabels")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def for_kube_scheduler(document: Document, known: tuple[Use, ...] = ()) -> tuple[Document, list[Notice]]:
    """Replace or remove the legacy and the bundled plugins of every profile.

    Args:
        document: KubeSchedulerConfiguration v1; not changed.
        known: the predicates and priorities that its profile comes from.
    Returns: the document, the same one where nothing is to do, and notices: for each use of a plugin what it is now, or
        what it did and what to do.
    """
    notices: list[Notice] = []
    whole = copy.deepcopy(document)
    profiles = whole.get("profiles")
    for i, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if isinstance(profile, dict) and isinstance(profile.get("plugins"), dict):
            notices += _clean(profile, f"profiles[{i}]", known)
    return (whole, notices) if notices else (document, notices)


def _clean(profile: Document, where: str, known: tuple[Use, ...]) -> list[Notice]:
    sets = profile["plugins"]
    used = {entry.get("name") for point in sets for entry in listed(sets, point)}
    notices = []
    if not used.isdisjoint(STRATEGY_PLUGINS):
        notices += join_strategies(profile, where, known)
    for name, replace in _REPLACED.items():
        if name in used:
            uses = uses_of(profile, name, known)
            remove(sets, name)
            notices += replace(profile, where, uses)
    gone = [name for name in LEGACY if name in used]
    for name in gone:
        remove_args(profile, name)
    if gone and not notices:
        notices.append(Notice(f"left out, because they did nothing: {', '.join(gone)}", where))
    if not sets:
        del profile["plugins"]
    return notices


def _lost(use: Use, where: str, rest: str) -> Notice:
    return Notice(f"no equivalent: {use}{rest}", where, is_loss=True)


def _avoid(_profile: Document, where: str, uses: list[Use]) -> list[Notice]:
    annotation = AVOID_PODS
    return [_lost(use, where, f"; nodes with the annotation {annotation} are not avoided") for use in uses]


def _limits(_profile: Document, where: str, uses: list[Use]) -> list[Notice]:
    return [_lost(use, where, "; the limits of pods do not count") for use in uses]


def _spread(profile: Document, where: str, uses: list[Use]) -> list[Notice]:
    """PodTopologySpread takes the place of SelectorSpread if it defines no default constraints."""
    return [_lost(use, where, f"; PodTopologySpread scores {_spreads_by(profile, use.weight)}") for use in uses]


def _spreads_by(profile: Document, weight: int) -> str:
    name, sets = "PodTopologySpread", profile["plugins"]
    constraints = "the defaultConstraints of the file"
    if not args_of(profile, name).get("defaultConstraints"):
        constraints = "its System constraints"
        change_args(profile, name, defaultingType="System")
    if already := weight_at(sets, "score", name):
        return f"already, with weight {already} and {constraints}"
    enable(sets, "score", name, weight)
    if not weight_at(sets, "preScore", name):
        enable(sets, "preScore", name)
    return f"instead, with weight {weight} and {constraints}"


def _labels(profile: Document, where: str, uses: list[Use]) -> list[Notice]:
    """The labels that nodes must and must not have become affinity of the profile, if NodeAffinity filters."""
    affinity = args_of(profile, "NodeAffinity").get("addedAffinity")
    filters = [use for use in uses if use.point == "filter"]
    can_filter = not affinity and weight_at(profile["plugins"], "filter", "NodeAffinity")
    if filters and can_filter:
        expressions = [expression for use in filters for expression in _expressions(use)]
        term = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        change_args(profile, "NodeAffinity", addedAffinity={_REQUIRED: term})
    notices = []
    for use in uses:
        wanted = " and ".join(f"{one['key']} {one['operator']}" for one in _expressions(use))
        if use.point == "score":
            did = f"which preferred nodes that match {wanted}; give the pods preferred node affinity for that"
            notices.append(_lost(use, where, f", {did}{_enabling(profile, 'NodeAffinity', 'preScore', 'score')}"))
        elif can_filter:
            notices.append(Notice(f"{use} is addedAffinity of NodeAffinity: {wanted}", where))
        else:
            did = f"which kept pods from nodes that do not match {wanted}; put that into addedAffinity of NodeAffinity"
            notices.append(_lost(use, where, f", {did}{_enabling(profile, 'NodeAffinity', 'preFilter', 'filter')}"))
    return notices


def _expressions(use: Use) -> list[dict[str, Any]]:
    fields = _LABELS if use.point == "filter" else [f"{field}Preference" for field in _LABELS]
    operators = zip(fields, ("Exists", "DoesNotExist"), strict=True)
    return [{"key": key, "operator": operator} for field, operator in operators for key in use.args.get(field, ())]


def _services(profile: Document, where: str, uses: list[Use]) -> list[Notice]:
    return [
        _lost(use, where, _together(profile, use) if use.point == "filter" else _apart(profile, use)) for use in uses
    ]


def _together(profile: Document, use: Use) -> str:
    keys = ", ".join(use.args["affinityLabels"])
    return (
        f", which kept the pods of a service on nodes with one value of {keys}; give these pods required pod affinity "
        f"with topologyKey {keys}{_enabling(profile, 'InterPodAffinity', 'preFilter', 'filter')}"
    )


def _apart(profile: Document, use: Use) -> str:
    keys = ", ".join(use.args["antiAffinityLabelsPreference"])
    return (
        f", which spread the pods of a service over the values of {keys}; give these pods a topology spread constraint "
        f"with topologyKey {keys} and whenUnsatisfiable ScheduleAnyway"
        f"{_enabling(profile, 'PodTopologySpread', 'preScore', 'score')}"
    )


def _bundled(name: str) -> _Replace:
    """For a plugin that kube-scheduler never had, at whatever point it is enabled."""

    def remove_it(_profile: Document, where: str, _uses: list[Use]) -> list[Notice]:
        does = "`kubesched scheduler` runs it, and `kubesched extender --config` serves it to kube-scheduler"
        return [Notice(f"no equivalent: {name}, which only kubesched has; {does}", where, is_loss=True)]

    return remove_it


def _equal(_profile: Document, where: str, _uses: list[Use]) -> list[Notice]:
    return [Notice("EqualPriority: left out, because it gave each node the same score", where)]


def _filters_as(old: str, new: str) -> _Replace:
    """For a filter plugin that has another name today."""

    def replace(profile: Document, where: str, _uses: list[Use]) -> list[Notice]:
        for point in ("preFilter", "filter"):
            if not weight_at(profile["plugins"], point, new):
                enable(profile["plugins"], point, new)
        return [Notice(f"{old} is {new} today", where)]

    return replace


def _enabling(profile: Document, plugin: str, *points: str) -> str:
    """The step without which the advice has no effect; empty if the plugin is enabled."""
    missing = [point for point in points if not weight_at(profile["plugins"], point, plugin)]
    return f", and enable {plugin} at {' and '.join(missing)}" if missing else ""


_REPLACED: Final[dict[str, _Replace]] = {
    "EqualPriority": _equal,
    **{name: _filters_as(name, "NodeVolumeLimits") for name in _VOLUME_COUNTS},
    "NoDiskConflict": _filters_as("NoDiskConflict", "VolumeRestrictions"),
    "NodeLabel": _labels,
    "NodePreferAvoidPods": _avoid,
    "NodeResourceLimits": _limits,
    "NodeResourcesLimits": _limits,
    "NodeUsage": _bundled("NodeUsage"),
    "SelectorSpread": _spread,
    "ServiceAffinity": _services,
}
LEGACY: Final = (*STRATEGY_PLUGINS, *_REPLACED)
"""Plugins that only kubesched has."""
