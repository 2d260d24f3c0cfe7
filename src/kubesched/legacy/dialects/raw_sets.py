"""Reads and changes the plugin sets and arguments of a v1 profile that is still plain values, and finds what uses them.

Rule: kube-scheduler v1.36: an entry at an extension point comes before one of `multiPoint`, and that before a default.
"""

from typing import Any, Final

from kubesched.config import DEFAULT_PLUGINS
from kubesched.legacy.conversion import Document, Use

_DEFAULTS: Final = {entry.name: entry for entry in DEFAULT_PLUGINS.multi_point.enabled}
_FIELDS: Final = {
    ("NodeLabel", "filter"): ("presentLabels", "absentLabels"),
    ("NodeLabel", "score"): ("presentLabelsPreference", "absentLabelsPreference"),
    ("ServiceAffinity", "filter"): ("affinityLabels",),
    ("ServiceAffinity", "score"): ("antiAffinityLabelsPreference",),
}
"""Without one of these arguments, the plugin rejects no node, or gives each the same score."""


def listed(sets: Document, point: str, key: str = "enabled") -> list[Document]:
    """What a set enables, or disables."""
    plugin_set = sets.get(point)
    entries = plugin_set.get(key) if isinstance(plugin_set, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def entry_at(sets: Document, point: str, name: str) -> Document:
    """The entry that the set of an extension point has for a plugin; empty if it has none."""
    return next((entry for entry in listed(sets, point) if entry.get("name") == name), {})


def weight_at(sets: Document, point: str, name: str) -> int:
    """The weight of a plugin at an extension point that it implements; 0 if it is not enabled there."""
    for at in (point, "multiPoint"):
        if entry := entry_at(sets, at, name):
            return entry.get("weight") or 1
        if any(one.get("name") in (name, "*") for one in listed(sets, at, "disabled")):
            return 0
    return (_DEFAULTS[name].weight or 1) if name in _DEFAULTS else 0


def enable(sets: Document, point: str, name: str, weight: int = 0) -> None:
    """Add a plugin to a set, or give its entry there a weight."""
    new = {"name": name, **({"weight": weight} if weight else {})}
    old = listed(sets, point)
    kept = [new if entry.get("name") == name else entry for entry in old]
    sets[point] = {**(sets.get(point) or {}), "enabled": kept if new in kept else [*kept, new]}


def remove(sets: Document, name: str) -> None:
    """Remove a plugin from all sets; sets that are empty then go, too."""
    for point in list(sets):
        kept = {key: [e for e in listed(sets, point, key) if e.get("name") != name] for key in ("enabled", "disabled")}
        if kept != {key: listed(sets, point, key) for key in kept}:
            sets[point] = {key: entries for key, entries in kept.items() if entries}
            if not sets[point]:
                del sets[point]


def args_of(profile: Document, name: str) -> Document:
    """The arguments of a plugin, to be read."""
    entries = profile.get("pluginConfig") or ()
    return next((entry.get("args") or {} for entry in entries if entry.get("name") == name), {})


def change_args(profile: Document, name: str, **fields: Any) -> None:
    """Set fields of the arguments of a plugin."""
    entries = list(profile.get("pluginConfig") or ())
    profile["pluginConfig"] = entries
    old = args_of(profile, name)
    new = {"name": name, "args": {**old, **fields}}
    place = next((i for i, entry in enumerate(entries) if entry.get("name") == name), len(entries))
    entries[place : place + 1] = [new]


def remove_args(profile: Document, name: str) -> None:
    """Remove the arguments of a plugin."""
    kept = [entry for entry in profile.get("pluginConfig") or () if entry.get("name") != name]
    profile.pop("pluginConfig", None)
    if kept:
        profile["pluginConfig"] = kept


def uses_of(profile: Document, plugin: str, known: tuple[Use, ...]) -> list[Use]:
    """What asks for a plugin of a v1 profile and gets something from it.

    Args:
        known: the predicates and priorities that the profile comes from.
    """
    sets, args = profile["plugins"], args_of(profile, plugin)
    uses = []
    for point in ("filter", "score"):
        fields = _FIELDS.get((plugin, point), ())
        enabled = weight_at(sets, point, plugin) if fields or point == "score" else 0
        weight = enabled if point == "score" else 0
        named = [use for use in known if (use.plugin, use.point) == (plugin, point)]
        if sum(use.weight for use in named) != weight:  # a v1alpha1 file enables plugins beside those of its Policy
            named = []
        asking = named or [Use(plugin, point, "", weight, args)]
        uses += [use for use in asking if enabled and (not fields or any(use.args.get(field) for field in fields))]
    return uses
