"""Lists the plugins of a profile at each extension point, in order and with weights: names only.

Rule: kube-scheduler v1.36 framework construction: the sets of the extension points first, then multiPoint; its
messages, and its order among several faults.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from kubesched.config import Finding, Plugins, PluginSet, ReadingStage, entry_path, points_without_hook
from kubesched.errors import ConfigError
from kubesched.setup.registry import Registry

_NO_DOCUMENT: Final[Mapping[str, Any]] = {}
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
    "podGroupPostFilter": "PodGroupPostFilterPlugin",
}
"""Extension point -> its name in messages, in the order in which upstream looks at them."""


class _Extended(dict[str, frozenset[str]]):
    """Name of a plugin -> the extension points that it extends, looked up once; none if it does not exist."""

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self.registry = registry

    def __missing__(self, name: str) -> frozenset[str]:
        points: frozenset[str] = frozenset()
        if name in self.registry:
            points = self.registry[name].plugin_class.extension_points()
        self[name] = points
        return points


class _Nameable(_Extended):
    """The same with the points where nothing is called, but where a configuration may name the plugin."""

    def __missing__(self, name: str) -> frozenset[str]:
        self[name] = super().__missing__(name) | points_without_hook(name, self.registry.release)
        return self[name]


def expand_points(plugins: Plugins, registry: Registry) -> dict[str, tuple[str, ...]]:
    """Find the plugins of every extension point, without those that cannot be where they are.

    At a point, first come the plugins of its set that multiPoint enables as well, in the order of the set; then what
    only multiPoint enables, in its order; then the rest of the set.

    Returns: extension point -> names in the order of the calls.
    """
    sets, extended = plugins.by_point(), _Extended(registry)
    return {point: _expand(point, sets[point], plugins.multi_point, extended) for point in _INTERFACES}


def point_findings(
    plugins: Plugins, registry: Registry, where: str, document: Mapping[str, Any] = _NO_DOCUMENT
) -> Iterator[Finding]:
    """Find every plugin that cannot be where it is, in the order in which upstream looks.

    Args:
        where: the path of the profile.
        document: the profile as it is written; a finding about an entry in it has the path of the name there.
    """
    sets, extended = plugins.by_point(), _Nameable(registry)
    for point in _INTERFACES:
        yield from _findings_in_set(point, sets[point], extended, _At(where, point, document))
    for point in _INTERFACES:
        at = _At(where, "multiPoint", document)
        yield from _findings_in_multi_point(point, sets[point], plugins.multi_point, extended, at)


class _At(NamedTuple):
    """The plugin set that findings are about."""

    where: str
    point: str
    document: Mapping[str, Any]

    def finding(self, rule: str, plugin: str, text: str, advice: str) -> Finding:
        """Something about a plugin in the set, which a scheduler prints with the path of the set."""
        plugin_set = f"plugins.{self.point}"
        entry = entry_path(self.document, f"{plugin_set}.enabled", plugin, last=rule == "duplicate-plugin")
        path = f"{self.where}.{f'{entry}.name' if entry else plugin_set}"
        printed = (text, f"{self.where}.{plugin_set}: {advice}")
        return Finding(rule, path, text, advice, stage=ReadingStage.PROFILES, printed=printed)


def score_weights(plugins: Plugins, registry: Registry, path: str) -> dict[str, int]:
    """Find the weight of each plugin that can score: score set before multiPoint, the first mention counts, 0 means 1.

    Args:
        plugins: sets that `expand_points` accepted.
    Raises:
        ConfigError: the highest total that a node could reach is not an int64; a negative sum before another weight
            counts as such, too.
    """
    weights: dict[str, int] = {}
    extended, total = _Extended(registry), 0
    for entry in (*plugins.score.enabled, *plugins.multi_point.enabled):
        if entry.name in weights or "score" not in extended[entry.name]:
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


def _findings_in_set(point: str, plugin_set: PluginSet, extended: _Extended, at: _At) -> Iterator[Finding]:
    """The set of one extension point names existing plugins that are made for it, each once."""
    seen: set[str] = set()
    for name in plugin_set.enabled_names:
        if not extended[name] and name not in extended.registry:
            yield _unknown(point, name, extended.registry, at)
        elif point not in extended[name]:
            others = ", ".join(other for other in _INTERFACES if other in extended[name]) or "nothing"
            text = f'plugin "{name}" does not extend {_INTERFACES[point]} plugin'
            yield at.finding("wrong-extension-point", name, text, f"{name} extends {others}")
        elif name in seen:
            yield _comes_twice(point, name, at)
        seen.add(name)


def _findings_in_multi_point(
    point: str, own: PluginSet, multi: PluginSet, extended: _Extended, at: _At
) -> Iterator[Finding]:
    if "*" in own.disabled_names:
        return
    seen: set[str] = set()
    for name in multi.enabled_names:
        if not extended[name] and name not in extended.registry:
            yield _unknown(point, name, extended.registry, at)
        elif point in extended[name] and name not in own.disabled_names and name not in own.enabled_names:
            if name in seen:
                yield _comes_twice(point, name, at)
            seen.add(name)


def _expand(point: str, own: PluginSet, multi: PluginSet, extended: _Extended) -> tuple[str, ...]:
    enabled = tuple(dict.fromkeys(name for name in own.enabled_names if point in extended[name]))
    disabled = own.disabled_names
    if "*" in disabled:
        return enabled
    at_all = [name for name in dict.fromkeys(multi.enabled_names) if point in extended[name] and name not in disabled]
    first = (name for name in enabled if name in at_all)
    added = (name for name in at_all if name not in enabled)
    last = (name for name in enabled if name not in at_all)
    return (*first, *added, *last)


def _unknown(point: str, name: str, registry: Registry, at: _At) -> Finding:
    text = f'{_INTERFACES[point]} "{name}" does not exist'
    has_comment = " //" in name  # YAML takes it for a part of the name
    advice = "comments in YAML begin with #, not with //" if has_comment else registry.help_with(name)
    return at.finding("unknown-plugin", name, text, advice)


def _comes_twice(point: str, name: str, at: _At) -> Finding:
    text = f'plugin "{name}" already registered as "{_INTERFACES[point]}"'
    return at.finding("duplicate-plugin", name, text, "name it once")
