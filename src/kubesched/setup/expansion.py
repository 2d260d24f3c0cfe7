"""Lists the plugins of a profile at each extension point, in order and with weights: names only.

Rule: kube-scheduler v1.36 framework construction: the sets of the extension points first, then multiPoint; its
messages, and its order among several faults.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubesched.config import Plugins, PluginSet
from kubesched.errors import ConfigError
from kubesched.setup.registry import Registry

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


class PointFault(msgspec.Struct, frozen=True):
    """A plugin that cannot be enabled where it is.

    Attributes:
        rule: of `kubesched config check`.
        path: of the plugin set.
        text: upstream's words.
        help: our addition.
    """

    rule: str
    path: str
    plugin: str
    text: str
    help: str


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
    for fault in point_faults(plugins, registry, path):
        raise ConfigError(f"{fault.text}\n  {fault.path}: {fault.help}")
    return expand_known(plugins, registry)


def expand_known(plugins: Plugins, registry: Registry) -> dict[str, tuple[str, ...]]:
    """Like expand_points, but without the plugins that cannot be where they are."""
    sets = plugins.by_point()
    return {point: _expand(point, sets[point], plugins.multi_point, registry) for point in _INTERFACES}


def point_faults(plugins: Plugins, registry: Registry, path: str) -> Iterator[PointFault]:
    """Find every plugin that cannot be where it is, in the order in which upstream looks."""
    sets = plugins.by_point()
    for point in _INTERFACES:
        yield from _faults_of_set(point, sets[point], registry, f"{path}.{point}")
    for point in _INTERFACES:
        yield from _faults_of_multi_point(point, sets[point], plugins.multi_point, registry, f"{path}.multiPoint")


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


def _faults_of_set(point: str, plugin_set: PluginSet, registry: Registry, path: str) -> Iterator[PointFault]:
    """The set of one extension point names existing plugins that are made for it, each once."""
    seen: set[str] = set()
    for name in plugin_set.enabled_names:
        if name not in registry:
            yield _unknown(point, name, registry, path)
        elif not _extends(name, point, registry):
            extended = ", ".join(known for known in _INTERFACES if _extends(name, known, registry)) or "nothing"
            text = f'plugin "{name}" does not extend {_INTERFACES[point]} plugin'
            yield PointFault("wrong-extension-point", path, name, text, f"{name} extends {extended}")
        elif name in seen:
            yield _comes_twice(point, name, path)
        seen.add(name)


def _faults_of_multi_point(
    point: str, own: PluginSet, multi: PluginSet, registry: Registry, path: str
) -> Iterator[PointFault]:
    if "*" in own.disabled_names:
        return
    seen: set[str] = set()
    for name in multi.enabled_names:
        if name not in registry:
            yield _unknown(point, name, registry, path)
        elif _extends(name, point, registry) and name not in own.disabled_names and name not in own.enabled_names:
            if name in seen:
                yield _comes_twice(point, name, path)
            seen.add(name)


def _expand(point: str, own: PluginSet, multi: PluginSet, registry: Registry) -> tuple[str, ...]:
    enabled = tuple(dict.fromkeys(name for name in own.enabled_names if _extends(name, point, registry)))
    if "*" in own.disabled_names:
        return enabled
    at_all = [name for name in dict.fromkeys(multi.enabled_names) if _extends(name, point, registry)]
    at_all = [name for name in at_all if name not in own.disabled_names]
    first = (name for name in enabled if name in at_all)
    added = (name for name in at_all if name not in enabled)
    last = (name for name in enabled if name not in at_all)
    return (*first, *added, *last)


def _unknown(point: str, name: str, registry: Registry, path: str) -> PointFault:
    text = f'{_INTERFACES[point]} "{name}" does not exist'
    has_comment = " //" in name  # YAML takes it for a part of the name
    advice = "comments in YAML begin with #, not with //" if has_comment else registry.help_with(name)
    return PointFault("unknown-plugin", path, name, text, advice)


def _extends(name: str, point: str, registry: Registry) -> bool:
    return name in registry and (
        point in registry[name].plugin_class.extension_points() or name in _PLACEMENT.get(point, ())
    )


def _comes_twice(point: str, name: str, path: str) -> PointFault:
    text = f'plugin "{name}" already registered as "{_INTERFACES[point]}"'
    return PointFault("duplicate-plugin", path, name, text, "name it once")
