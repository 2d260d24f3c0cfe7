"""Upstream's defaults: the plugins of every profile, merged with its own sets, and the values for absent fields.

Rule: kube-scheduler v1.33 to v1.37, as the binaries print their defaults; mergePluginSet, applied to each extension
point and to multiPoint on its own.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from kubesched.config.types import KubeSchedulerConfiguration, PluginEntry, Plugins, PluginSet
from kubesched.release import DEFAULT_RELEASE, Release

T = TypeVar("T", bound=msgspec.Struct)
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"


def default_plugins(release: Release) -> Plugins:
    """What an absent `plugins` means; the order is the order of the calls.

    Rule: kube-scheduler; NodeName is first since v1.37, and DynamicResources has a weight since v1.35.
    """
    names = ["NodeUnschedulable", "NodeName"] if release.before(37) else ["NodeName", "NodeUnschedulable"]
    claims = [PluginEntry("DynamicResources", 0 if release.before(35) else 2)]
    features = [PluginEntry("NodeDeclaredFeatures")]
    return Plugins(
        multi_point=PluginSet(
            enabled=(
                PluginEntry("SchedulingGates"),
                PluginEntry("PrioritySort"),
                *map(PluginEntry, names),
                PluginEntry("TaintToleration", 3),
                PluginEntry("NodeAffinity", 2),
                PluginEntry("NodePorts"),
                PluginEntry("NodeResourcesFit", 1),
                PluginEntry("VolumeRestrictions"),
                PluginEntry("NodeVolumeLimits"),
                PluginEntry("VolumeBinding"),
                PluginEntry("VolumeZone"),
                PluginEntry("PodTopologySpread", 2),
                PluginEntry("InterPodAffinity", 2),
                *(claims if release.has("DynamicResourceAllocation") else ()),
                PluginEntry("DefaultPreemption"),
                PluginEntry("NodeResourcesBalancedAllocation", 1),
                PluginEntry("ImageLocality", 1),
                PluginEntry("DefaultBinder"),
                *(features if release.has("NodeDeclaredFeatures") else ()),
            )
        )
    )


DEFAULT_PLUGINS: Final = default_plugins(DEFAULT_RELEASE)
"""Those of the version that decides where nothing says which one the cluster has."""

ARGS_PLUGINS: Final = frozenset(
    (
        "DefaultPreemption",
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "VolumeBinding",
    )
)
"""The plugins with a kind of arguments, `<name>Args`; other in-tree plugins ignore theirs."""


def with_defaults(configuration: KubeSchedulerConfiguration, plugins: Plugins) -> KubeSchedulerConfiguration:
    """Fill in the defaults of absent, empty and zero values; plugin arguments are left to their own defaults.

    Args:
        plugins: those that every profile starts with.
    """
    election, client = configuration.leader_election, configuration.client_connection
    return msgspec.structs.replace(
        configuration,
        leader_election=_nonzero(election, [name for name in election.__struct_fields__ if name != "leader_elect"]),
        client_connection=_nonzero(client, ["content_type", "qps", "burst"]),
        profiles=tuple(
            msgspec.structs.replace(profile, plugins=merge_plugins(plugins, profile.plugins))
            for profile in configuration.profiles
        ),
    )


def _nonzero(value: T, names: Sequence[str]) -> T:
    """The value with the defaults of its type where one of the named fields is zero or empty."""
    default = type(value)()
    return msgspec.structs.replace(value, **{name: getattr(value, name) or getattr(default, name) for name in names})


def merge_plugins(default: Plugins, custom: Plugins) -> Plugins:
    """Merge every set with its default."""
    sets = default.by_point()
    return custom.changed(lambda point, own: merge_plugin_set(sets[point], own))


def merge_plugin_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """Take the defaults that are not disabled, each replaced by the custom entry of its name; then the others.

    A name that is both enabled and disabled ends up enabled at the end. Of a name that is enabled twice, the last entry
    replaces the default and the other one stays: the profile's construction then refuses it.
    """
    last = {entry.name: i for i, entry in enumerate(custom.enabled)}
    disabled = custom.disabled_names
    kept = []
    used = set()
    for entry in () if "*" in disabled else default.enabled:
        if entry.name in disabled:
            continue
        if entry.name in last:
            used.add(last[entry.name])
            kept.append(custom.enabled[last[entry.name]])
        else:
            kept.append(entry)
    rest = [entry for i, entry in enumerate(custom.enabled) if i not in used]
    return PluginSet(enabled=(*kept, *rest), disabled=(*custom.disabled, *default.disabled))
