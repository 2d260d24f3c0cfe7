"""KubeSchedulerConfiguration v1: which plugins run where, with which weights and args (kube-scheduler v1.36).

The configuration is taken to be valid; only the fields that decide where pods go are read.
"""

from dataclasses import dataclass

from tests.reference.framework import Plugin
from tests.reference.plugins import DEFAULTS, PLUGINS

# configuration key -> the method that makes a plugin take part there
POINTS = {
    "preEnqueue": "pre_enqueue",
    "preFilter": "pre_filter",
    "filter": "filter",
    "preScore": "pre_score",
    "score": "score",
}
CPU_AND_MEMORY = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]


@dataclass
class Profile:
    """One scheduler name with its plugins. `points` holds plugin names in the order in which they are called."""

    name: str
    points: dict[str, list[str]]
    weights: dict[str, int]
    args: dict[str, dict]

    def new_plugins(self) -> dict[str, Plugin]:
        """Fresh plugin objects for the cycle of one pod."""
        names = dict.fromkeys(name for names in self.points.values() for name in names if name in PLUGINS)
        return {name: PLUGINS[name](self.args.get(name)) for name in names}

    def only(self, name: str) -> "Profile":
        """The profile with one plugin left, for its verdict alone."""
        return Profile(
            self.name,
            {point: [n for n in names if n == name] for point, names in self.points.items()},
            self.weights,
            self.args,
        )


def read_profiles(config: dict | None) -> dict[str, Profile]:
    profiles = (config or {}).get("profiles") or [{}]
    return {p.name: p for p in map(read_profile, profiles)}


def read_profile(written: dict) -> Profile:
    plugins = written.get("plugins") or {}
    multi = merged_defaults(plugins.get("multiPoint") or {})
    points = {point: expand(plugins.get(point) or {}, multi, point) for point in [*POINTS, "postFilter"]}
    given = {entry["name"]: entry.get("args") for entry in written.get("pluginConfig") or ()}
    return Profile(
        written.get("schedulerName") or "default-scheduler",
        points,
        score_weights(plugins.get("score") or {}, multi),
        {name: args_of(name, given.get(name) or {}) for name in [*PLUGINS, "DefaultPreemption"]},
    )


def merged_defaults(custom: dict) -> list[dict]:
    """multiPoint.enabled after the merge with the default one. The other sets have empty defaults: they stay as
    written.
    """
    disabled = names(custom.get("disabled"))
    wanted = {entry["name"]: entry for entry in custom.get("enabled") or ()}
    result = []
    if "*" not in disabled:
        for name, weight in DEFAULTS:
            if name not in disabled:
                result.append(wanted.pop(name, {"name": name, "weight": weight}))
    return result + [entry for entry in custom.get("enabled") or () if wanted.get(entry["name"]) is entry]


def expand(point_set: dict, multi: list[dict], point: str) -> list[str]:
    """Multi-point expansion of one extension point: overrides first, then what multiPoint brings, then the rest."""
    enabled, disabled = names(point_set.get("enabled")), names(point_set.get("disabled"))
    brought = [] if "*" in disabled else [n for n in names(multi) if takes_part(n, point) and n not in disabled]
    overrides = [n for n in enabled if n in brought]
    return overrides + [n for n in brought if n not in enabled] + [n for n in enabled if n not in brought]


def takes_part(name: str, point: str) -> bool:
    if point == "postFilter":
        return name in ("DynamicResources", "DefaultPreemption")
    return hasattr(PLUGINS.get(name), POINTS[point])


def score_weights(score: dict, multi: list[dict]) -> dict[str, int]:
    """The first mention wins, the score set before multiPoint; 0 and absent mean 1."""
    weights: dict[str, int] = {}
    for entry in [*(score.get("enabled") or ()), *multi]:
        weights.setdefault(entry["name"], entry.get("weight") or 1)
    return weights


def names(entries: list[dict] | None) -> list[str]:
    return [entry["name"] for entry in entries or ()]


def args_of(name: str, given: dict) -> dict:
    """A plugin's args with the defaults filled in."""
    if name == "NodeResourcesFit":
        strategy = given.get("scoringStrategy") or {"type": "LeastAllocated"}
        return {**given, "scoringStrategy": {**strategy, "resources": weighted(strategy.get("resources"))}}
    if name == "NodeResourcesBalancedAllocation":
        return {**given, "resources": weighted(given.get("resources"))}
    defaults = {
        "InterPodAffinity": {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": False},
        "PodTopologySpread": {"defaultingType": "System", "defaultConstraints": []},
        "DefaultPreemption": {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100},
    }
    return {**defaults.get(name, {}), **{key: value for key, value in given.items() if value is not None}}


def weighted(resources: list[dict] | None) -> list[dict]:
    return [{"name": r["name"], "weight": r.get("weight") or 1} for r in resources or CPU_AND_MEMORY]
