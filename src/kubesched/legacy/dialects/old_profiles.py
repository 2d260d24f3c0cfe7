"""Turns a profile of an older version into one of v1: its merged plugin lists, extension point by extension point.

Versions before v1beta3 had their defaults at the extension points; v1 has them in `multiPoint`. The converted profile
switches the defaults of v1 off and names what was enabled, in its order and with its weights.

Rule: kube-scheduler v1.36 for what a plugin needs: a filter plugin its preFilter, a score plugin its preScore.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from kubesched.config import DEFAULT_PLUGINS, GROUP, PluginEntry, Plugins, PluginSet, merge_plugins
from kubesched.errors import ConfigError
from kubesched.legacy.conversion import Document
from kubesched.legacy.dialects.released import Base
from kubesched.legacy.dialects.replaced import RENAMED, STRATEGIES, replace_plugins

LATER_PLUGINS: Final = (
    PluginEntry("SchedulingGates"),
    PluginEntry("DynamicResources", 2),
    PluginEntry("NodeDeclaredFeatures"),
)
"""Default plugins that came later. They act on fields of pods that did not exist, and without them such pods would be
placed where they cannot run."""

COMPANIONS: Final = {
    "preFilter": (
        "filter",
        frozenset(
            (
                "InterPodAffinity",
                "NodeAffinity",
                "NodePorts",
                "NodeResourcesFit",
                "NodeVolumeLimits",
                "PodTopologySpread",
                "ServiceAffinity",
                "VolumeBinding",
                "VolumeRestrictions",
                "VolumeZone",
            )
        ),
    ),
    "preScore": (
        "score",
        frozenset(
            (
                "InterPodAffinity",
                "NodeAffinity",
                "NodeResourcesBalancedAllocation",
                "NodeResourcesFit",
                "PodTopologySpread",
                "SelectorSpread",
                "TaintToleration",
            )
        ),
    ),
    "preEnqueue": ("postFilter", frozenset(("DefaultPreemption",))),
}
"""Extension point -> the point that it prepares, and the plugins that do so."""

_LISTED: Final = DEFAULT_PLUGINS.enabled_names.union(RENAMED, STRATEGIES, *(names for _, names in COMPANIONS.values()))
"""The plugins whose place in a list is not only the end."""


def v1_profile(profile: Document, base: Base) -> Document:
    """Convert a profile.

    Args:
        profile: checked to have the fields of OldProfile.
        base: what the version had by default; with weights only if `needs_no_lists` holds.
    """
    custom = plugin_sets(profile.get("plugins", {}))
    if base.weights:
        return _with_weights(profile, custom, base.weights)
    merged = merge_plugins(base.plugins, custom)
    args = own_args(profile)
    given = set(args)
    for name, defaults in base.args.items():
        args[name] = {**defaults, **args.get(name, {})}
    sets = {point: merged_set.enabled for point, merged_set in merged.by_point().items()}
    replace_plugins(sets, args)
    for point, (prepared, plugins) in COMPANIONS.items():
        kept = {entry.name for entry in sets[point]} | custom.by_point()[point].disabled_names
        added = [PluginEntry(e.name) for e in sets[prepared] if e.name in plugins and e.name not in kept]
        sets[point] = (*sets[point], *added)
    multi = custom.multi_point
    later = tuple(e for e in LATER_PLUGINS if e.name not in multi.disabled_names | set(multi.enabled_names))
    sets["multiPoint"] = (*later, *sets["multiPoint"])
    disabled = {
        point: _still_disabled(point, one, sets["multiPoint"], multi) for point, one in custom.by_point().items()
    }
    disabled["multiPoint"] = (PluginEntry("*"),)
    used = {entry.name for entries in sets.values() for entry in entries} | given
    args = {name: own for name, own in args.items() if name in used or name not in base.args}
    converted = {key: value for key, value in profile.items() if key not in ("plugins", "pluginConfig")}
    converted["plugins"] = {
        point: written for point in sets if (written := _written(PluginSet(sets[point], disabled[point])))
    }
    if args:
        converted["pluginConfig"] = [{"name": name, "args": own} for name, own in args.items()]
    return converted


def needs_no_lists(profiles: Iterable[Document]) -> bool:
    """Whether the profiles only change scores, add plugins that v1 does not have, or sort the queue by another one."""
    profiles = tuple(profiles)
    sorts = [plugin_sets(profile.get("plugins", {})).queue_sort for profile in profiles]
    return all(map(_only_scores_or_adds, profiles)) and all(sort == sorts[0] for sort in sorts)


def _only_scores_or_adds(profile: Document) -> bool:
    sets = plugin_sets(profile.get("plugins", {})).by_point()
    score = sets.pop("score")
    named = {*score.enabled_names, *(entry.get("name") for entry in profile.get("pluginConfig", ()))}
    more = {*RENAMED, "SelectorSpread"}
    if "NodeResourcesFit" in score.disabled_names:
        more |= STRATEGIES.keys()  # it takes the place of one of these
    adds = all(_only_adds(point, plugin_set) for point, plugin_set in sets.items())
    return adds and "*" not in score.disabled_names and named.isdisjoint(more)


def _only_adds(point: str, plugin_set: PluginSet) -> bool:
    """Whether a set has nothing but plugins that no list of v1 or v1beta2 has, which then run after the others."""
    if point == "multiPoint":
        return not plugin_set.enabled and not plugin_set.disabled
    return _LISTED.isdisjoint(plugin_set.enabled_names) and (point == "queueSort" or not plugin_set.disabled)


def _with_weights(profile: Document, custom: Plugins, weights: dict[str, int]) -> Document:
    """The profile on the defaults of v1, with the weights of its time, and its own sets as they are.

    The order of the plugins is v1's; that decides which of several reasons is reported.
    """
    default = PluginSet(tuple(PluginEntry(name, weight) for name, weight in weights.items()))
    sets = {point: _written(one) for point, one in custom.by_point().items()} | {"multiPoint": _written(default)}
    converted = {**profile, "plugins": {point: one for point, one in sets.items() if one}}
    if args := own_args(profile):
        converted["pluginConfig"] = [{"name": name, "args": own} for name, own in args.items()]
    return converted


def own_args(profile: Document) -> dict[str, dict[str, Any]]:
    """The arguments of a profile by plugin, without the version that they were written in.

    Raises:
        ConfigError: a plugin has two entries.
    """
    args: dict[str, dict[str, Any]] = {}
    for entry in profile.get("pluginConfig", ()):
        name, own = entry.get("name", ""), dict(entry.get("args") or {})
        if name in args:
            raise ConfigError(f"repeated config for plugin {name}")
        if str(own.get("apiVersion", "")).startswith(f"{GROUP}/"):
            own = {key: value for key, value in own.items() if key not in ("apiVersion", "kind")}
        args[name] = own
    if "PodTopologySpread" in args and args["PodTopologySpread"].get("defaultConstraints"):
        args["PodTopologySpread"].setdefault("defaultingType", "List")
    return args


def plugin_sets(plain: Document) -> Plugins:
    """The sets of a profile, `unreserve` in `reserve`."""
    sets = dict(plain)
    unreserve = sets.pop("unreserve", {})
    if unreserve:
        reserve = sets.get("reserve", {})
        sets["reserve"] = {key: _united(reserve, unreserve, key) for key in ("enabled", "disabled")}
    return msgspec.convert(sets, Plugins)


def _united(one: Document, other: Document, key: str) -> list[Any]:
    named = {entry["name"]: entry for entry in (*other.get(key, ()), *one.get(key, ()))}
    return list({entry["name"]: named[entry["name"]] for entry in (*one.get(key, ()), *other.get(key, ()))}.values())


def _still_disabled(
    point: str, custom: PluginSet, multi: tuple[PluginEntry, ...], own_multi: PluginSet
) -> tuple[PluginEntry, ...]:
    """What the profile keeps multiPoint from adding at a point; its merged list no longer has the rest."""
    names = {entry.name for entry in multi}
    if own_multi.enabled or point == "preEnqueue":
        names.add("*")
    return tuple(entry for entry in custom.disabled if entry.name in names)


def _written(plugin_set: PluginSet) -> Document:
    written: Document = {}
    if plugin_set.enabled:
        written["enabled"] = [
            {"name": entry.name, **({"weight": entry.weight} if entry.weight else {})} for entry in plugin_set.enabled
        ]
    if plugin_set.disabled:
        written["disabled"] = [{"name": entry.name} for entry in plugin_set.disabled]
    return written
