"""Upstream's defaults: the plugins of every profile, and the values for absent fields.

Rule: kube-scheduler v1.36 with its default feature gates.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from kubesched.config.merge import merge_plugins
from kubesched.config.types import (
    KubeSchedulerConfiguration,
    PluginEntry,
    Plugins,
    PluginSet,
)

T = TypeVar("T", bound=msgspec.Struct)

DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"

DEFAULT_PLUGINS: Final = Plugins(
    multi_point=PluginSet(
        enabled=(
            PluginEntry("SchedulingGates"),
            PluginEntry("PrioritySort"),
            PluginEntry("NodeUnschedulable"),
            PluginEntry("NodeName"),
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
            PluginEntry("DynamicResources", 2),
            PluginEntry("DefaultPreemption"),
            PluginEntry("NodeResourcesBalancedAllocation", 1),
            PluginEntry("ImageLocality", 1),
            PluginEntry("DefaultBinder"),
            PluginEntry("NodeDeclaredFeatures"),
        )
    )
)
"""What an absent `plugins` means; the order is the order of the calls."""

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
