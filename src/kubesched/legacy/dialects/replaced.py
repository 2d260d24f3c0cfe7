"""Puts the plugins that exist today in the place of those that they replaced, with their arguments.

Rule: kube-scheduler v1.22: NodeResourcesFit scores by a strategy what separate plugins scored before. v1.31:
NodeVolumeLimits counts the volumes of all CSI drivers, and in-tree volumes of the clouds are served by CSI drivers.
"""

from typing import Any, Final

from kubesched.config import PluginEntry

STRATEGIES: Final = {"NodeResourcesLeastAllocated": "LeastAllocated", "NodeResourcesMostAllocated": "MostAllocated"}
"""Score plugin -> the scoring strategy of NodeResourcesFit that has replaced it."""

RENAMED: Final = {
    "DefaultPodTopologySpread": "SelectorSpread",
    "EBSLimits": "NodeVolumeLimits",
    "GCEPDLimits": "NodeVolumeLimits",
    "AzureDiskLimits": "NodeVolumeLimits",
    "CinderLimits": "NodeVolumeLimits",
}


def replace_plugins(sets: dict[str, tuple[PluginEntry, ...]], args: dict[str, dict[str, Any]]) -> None:
    """Replace plugins in the sets and arguments of a profile.

    Args:
        sets: the enabled plugins of each extension point; changed in place, as are the arguments by plugin.
    """
    for point, entries in sets.items():
        sets[point] = _renamed(entries)
    for old, new in RENAMED.items():
        if (own := args.pop(old, None)) and new not in args:
            args[new] = own
    sets["score"] = _with_strategy(sets["score"], args)


def _renamed(entries: tuple[PluginEntry, ...]) -> tuple[PluginEntry, ...]:
    """The entries under today's names; an entry whose new name is in the list already is left out."""
    kept: list[PluginEntry] = []
    names = {entry.name for entry in entries}
    for entry in entries:
        new = RENAMED.get(entry.name)
        if new is None:
            kept.append(entry)
        elif new not in names:
            names.add(new)
            kept.append(PluginEntry(new, entry.weight))
    return tuple(kept)


def _with_strategy(entries: tuple[PluginEntry, ...], args: dict[str, dict[str, Any]]) -> tuple[PluginEntry, ...]:
    """The score plugins, NodeResourcesFit in the place of the plugin whose strategy it takes; it can have one."""
    kept: list[PluginEntry] = []
    taken = next((entry.name for entry in entries if entry.name == "NodeResourcesFit"), "")
    for entry in entries:
        own = args.get(entry.name, {})
        if entry.name not in STRATEGIES:
            kept.append(entry)
        elif taken:
            kept.append(entry)  # as a legacy plugin
        else:
            taken = entry.name
            kept.append(PluginEntry("NodeResourcesFit", entry.weight))
            strategy = {"type": STRATEGIES[entry.name], **{k: v for k, v in own.items() if k == "resources"}}
            args.setdefault("NodeResourcesFit", {})["scoringStrategy"] = strategy
    for name in STRATEGIES.keys() - {entry.name for entry in kept}:
        args.pop(name, None)
    return tuple(kept)
