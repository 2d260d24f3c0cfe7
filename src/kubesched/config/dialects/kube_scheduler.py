"""Takes out of a v1 document the plugins that kube-scheduler v1.36 no longer has, with what comes nearest to them.

Rule: kube-scheduler v1.22 and v1.36: SelectorSpread became PodTopologySpread with its System constraints,
RequestedToCapacityRatio a strategy of NodeResourcesFit; NodeLabel's filter is a node affinity of the profile.
"""

import copy
from typing import Any, Final

from kubesched.config.dialects.conversion import Document, Notice

LEGACY: Final = {
    "NodeLabel": "give the pods node affinity instead",
    "NodePreferAvoidPods": "nodes with the annotation scheduler.alpha.kubernetes.io/preferAvoidPods are not avoided",
    "NodeResourceLimits": "the limits of pods do not count",
    "NodeResourcesLeastAllocated": "NodeResourcesFit has another strategy already",
    "NodeResourcesMostAllocated": "NodeResourcesFit has another strategy already",
    "RequestedToCapacityRatio": "NodeResourcesFit has another strategy already",
    "SelectorSpread": "PodTopologySpread with its System constraints is nearest to it",
    "ServiceAffinity": "give the pods of the service pod affinity instead",
}
"""Plugins that only kubesched has, and what kube-scheduler does without them."""

_SCORES: Final = "score"


def for_kube_scheduler(document: Document) -> tuple[Document, list[Notice]]:
    """Replace or remove the legacy plugins of every profile.

    Args:
        document: KubeSchedulerConfiguration v1; not changed.
    Returns: the document, the same one where nothing is to do, and a notice for each plugin.
    """
    notices: list[Notice] = []
    whole = copy.deepcopy(document)
    profiles = whole.get("profiles")
    for i, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if isinstance(profile, dict) and isinstance(profile.get("plugins"), dict):
            _clean(profile, f"profiles[{i}].plugins", notices)
    return (whole, notices) if notices else (document, notices)


def _clean(profile: Document, where: str, notices: list[Notice]) -> None:
    sets = profile["plugins"]
    used = {entry.get("name") for point in sets for entry in _entries(sets, point)}
    for name in [legacy for legacy in LEGACY if legacy in used]:
        notice = _REPLACED.get(name, _lost)(name, profile, where)
        for point in list(sets):
            _remove(sets, point, name)
        profile["pluginConfig"] = [e for e in profile.get("pluginConfig") or () if e.get("name") != name]
        if not profile["pluginConfig"]:
            del profile["pluginConfig"]
        notices.append(notice)


def _lost(name: str, profile: Document, where: str) -> Notice:
    weight = _entry(profile["plugins"], _SCORES, name).get("weight")
    shown = f"{name} (weight {weight})" if weight else name
    return Notice(f"no equivalent: {shown}; {LEGACY[name]}", where, is_loss=True)


def _spread(name: str, profile: Document, where: str) -> Notice:
    """PodTopologySpread takes the place of SelectorSpread if it defines no default constraints."""
    notice = _lost(name, profile, where)
    _take_place(profile["plugins"], name, "PodTopologySpread")
    args = _args(profile, "PodTopologySpread")
    if not args.get("defaultConstraints"):
        args["defaultingType"] = "System"
    return notice


def _ratio(name: str, profile: Document, where: str) -> Notice:
    """NodeResourcesFit scores by the shape if it does not score yet."""
    if _entry(profile["plugins"], _SCORES, "NodeResourcesFit"):
        return _lost(name, profile, where)
    _take_place(profile["plugins"], name, "NodeResourcesFit")
    own = _args(profile, name)
    strategy = {"type": name, "requestedToCapacityRatio": {"shape": own.get("shape", [])}}
    _args(profile, "NodeResourcesFit")["scoringStrategy"] = strategy | (
        {"resources": own["resources"]} if own.get("resources") else {}
    )
    return Notice(f"{name} is the strategy of NodeResourcesFit, which rounds down", where)


def _labels(name: str, profile: Document, where: str) -> Notice:
    """The labels that nodes must and must not have become affinity of the profile, if NodeAffinity filters."""
    own = _args(profile, name)
    expressions = [{"key": key, "operator": "Exists"} for key in own.get("presentLabels", ())]
    expressions += [{"key": key, "operator": "DoesNotExist"} for key in own.get("absentLabels", ())]
    prefers = bool(_entry(profile["plugins"], _SCORES, name))
    filters = _entry(profile["plugins"], "filter", "NodeAffinity")
    if not filters or not expressions or (affinity := _args(profile, "NodeAffinity")).get("addedAffinity"):
        return _lost(name, profile, where)
    term = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    affinity["addedAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": term}
    if prefers:
        return _lost(name, profile, where)
    return Notice(f"{name} is addedAffinity of NodeAffinity", where)


_REPLACED: Final = {"NodeLabel": _labels, "RequestedToCapacityRatio": _ratio, "SelectorSpread": _spread}


def _take_place(sets: Document, old: str, new: str) -> None:
    """Enable a plugin with the weight of another one; where it scores already, its weight stays."""
    if _entry(sets, _SCORES, old) and not _entry(sets, _SCORES, new):
        sets[_SCORES]["enabled"] = [
            {**entry, "name": new} if entry.get("name") == old else entry for entry in _entries(sets, _SCORES)
        ]
        if not _entry(sets, "preScore", new):
            pre_score = sets.setdefault("preScore", {})
            pre_score["enabled"] = [*_entries(sets, "preScore"), {"name": new}]


def _remove(sets: Document, point: str, name: str) -> None:
    kept = [entry for entry in _entries(sets, point) if entry.get("name") != name]
    if isinstance(sets[point], dict) and "enabled" in sets[point]:
        sets[point]["enabled"] = kept
        if not kept:
            del sets[point]["enabled"]
        if not sets[point]:
            del sets[point]


def _entry(sets: Document, point: str, name: str) -> Document:
    return next((entry for entry in _entries(sets, point) if entry.get("name") == name), {})


def _entries(sets: Document, point: str) -> list[Document]:
    plugin_set = sets.get(point)
    entries = plugin_set.get("enabled") if isinstance(plugin_set, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _args(profile: Document, name: str) -> dict[str, Any]:
    """The arguments of a plugin, to be changed in place."""
    config = profile.get("pluginConfig") or []
    profile["pluginConfig"] = config
    entry = next((one for one in config if one.get("name") == name), None)
    if entry is None:
        entry = {"name": name}
        config.append(entry)
    entry["args"] = entry.get("args") or {}
    args: dict[str, Any] = entry["args"]
    return args
