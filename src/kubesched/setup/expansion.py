"""Lists the plugins of a profile at each extension point, in order and with weights: names only.

Rule: kube-scheduler v1.36 framework construction: the sets of the extension points first, then multiPoint; its
messages, and its order among several faults.
"""

from collections.abc import Mapping
from typing import Final

from kubesched.config import Plugins, PluginSet
from kubesched.errors import ConfigError
from kubesched.setup.registry import Registry

__all__ = ["expand_points", "score_weights"]

_MAX_NODE_SCORE: Final = 100
_MAX_TOTAL_SCORE: Final = 2**63 - 1

_INTERFACES: Final = {
    "preFilter": "PreFilterPlugin",
    "filter": "FilterPlugin",
    "postFilter": "PostFilterPlugin",
    "reserve": "ReservePlugin",
    "preScore": "PreScorePlugin",
    "score": "ScorePlugin",
    "preBind": "PreBindPlugin",
    "bind": "BindPlugin",
    "postBind": "PostBindPlugin",
    "permit": "PermitPlugin",
    "preEnqueue": "PreEnqueuePlugin",
    "queueSort": "QueueSortPlugin",
    "placementGenerate": "PlacementGeneratePlugin",
    "placementScore": "PlacementScorePlugin",
}
"""Extension point -> its name in messages, in the order in which upstream looks at them."""

_PLACEMENT: Final = {"placementScore": frozenset(("NodeResourcesFit",))}
"""What upstream extends for groups of pods; nothing here calls it, but configurations may name it."""


def expand_points(plugins: Plugins, registry: Registry, path: str) -> dict[str, tuple[str, ...]]:
    """Find the plugins of every extension point.

    At a point, first come the plugins of its set that multiPoint enables as well, in the order of the set; then what
    only multiPoint enables, in its order; then the rest of the set.

    Args:
        path: the place of the plugin sets, for our help.
    Returns: extension point -> names in the order of the calls.
    Raises:
        ConfigError: a plugin that does not exist, is not made for the point, or comes twice.
    """
    sets = plugins.by_point()
    for point in _INTERFACES:
        _check_set(point, sets[point], registry, f"{path}.{point}")
    return {point: _expand(point, sets[point], plugins.multi_point, registry, path) for point in _INTERFACES}


def score_weights(plugins: Plugins, registry: Registry, path: str) -> dict[str, int]:
    """Find the weight of each plugin that can score: score set before multiPoint, the first mention counts, 0 means 1.

    Args:
        plugins: sets that `expand_points` accepted.
    Raises:
        ConfigError: the highest total that a node could reach is not an int64; a negative sum before another weight
            counts as such, too.
    """
    weights: dict[str, int] = {}
    total = 0
    for entry in (*plugins.score.enabled, *plugins.multi_point.enabled):
        if entry.name in weights or not _extends(entry.name, "score", registry):
            continue
        weights[entry.name] = entry.weight or 1
        share = weights[entry.name] * _MAX_NODE_SCORE
        if total < 0 or share > _MAX_TOTAL_SCORE - total:
            raise _overflow(plugins, weights, path)
        total += share
    return weights


def _overflow(plugins: Plugins, weights: Mapping[str, int], path: str) -> ConfigError:
    """Blame the smallest weight: int32 weights overflow the sum only if one of them is negative."""
    name = min(weights, key=weights.__getitem__)
    point = "score" if name in plugins.score.enabled_names else "multiPoint"
    advice = f"{name} has weight {weights[name]}; give a weight of 1 or more"
    return ConfigError(
        f"score plugins: total score of Score plugins could overflow\n  {path}.{point}.enabled: {advice}"
    )


def _check_set(point: str, plugin_set: PluginSet, registry: Registry, path: str) -> None:
    """The set of one extension point names existing plugins that are made for it, each once."""
    seen: set[str] = set()
    for name in plugin_set.enabled_names:
        _check_exists(point, name, registry, path)
        if not _extends(name, point, registry):
            extended = ", ".join(known for known in _INTERFACES if _extends(name, known, registry)) or "nothing"
            text = f'plugin "{name}" does not extend {_INTERFACES[point]} plugin'
            raise ConfigError(f"{text}\n  {path}: {name} extends {extended}")
        if name in seen:
            raise _comes_twice(point, name, path)
        seen.add(name)


def _expand(point: str, own: PluginSet, multi: PluginSet, registry: Registry, path: str) -> tuple[str, ...]:
    if "*" in own.disabled_names:
        return own.enabled_names
    overridden: set[str] = set()
    added: list[str] = []
    for name in multi.enabled_names:
        _check_exists(point, name, registry, f"{path}.multiPoint")
        if not _extends(name, point, registry) or name in own.disabled_names:
            continue
        if name in own.enabled_names:
            overridden.add(name)
        elif name in added:
            raise _comes_twice(point, name, f"{path}.multiPoint")
        else:
            added.append(name)
    first = (name for name in own.enabled_names if name in overridden)
    last = (name for name in own.enabled_names if name not in overridden)
    return (*first, *added, *last)


def _check_exists(point: str, name: str, registry: Registry, path: str) -> None:
    if name not in registry:
        text = f'{_INTERFACES[point]} "{name}" does not exist'
        raise ConfigError(f"{text}\n  {path}: {registry.help_with(name)}")


def _extends(name: str, point: str, registry: Registry) -> bool:
    return point in registry[name].plugin_class.extension_points() or name in _PLACEMENT.get(point, ())


def _comes_twice(point: str, name: str, path: str) -> ConfigError:
    text = f'plugin "{name}" already registered as "{_INTERFACES[point]}"'
    return ConfigError(f"{text}\n  {path}: name it once")
