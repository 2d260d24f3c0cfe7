"""Plugins that the user adds to a configuration, and plugins that are taken out of it.

`--plugin` enables them, `--plugin-args` gives their arguments. An extender has none of kube-scheduler's own.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from kubesched.config import (
    PLUGIN_LIKENESS,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginArgs,
    PluginConfig,
    PluginEntry,
    Plugins,
    PluginSet,
    did_you_mean,
    load_args,
)
from kubesched.errors import ConfigError
from kubesched.setup.registry import IN_TREE, Registry

ArgsLike = PluginArgs | Mapping[str, object] | str | os.PathLike[str] | bytes
"""A plugin's arguments: its Args, a mapping, the name of a YAML or JSON file, or the text of one as bytes."""


def enable_loaded(
    configuration: KubeSchedulerConfiguration,
    registry: Registry,
    args: Mapping[str, PluginArgs | bytes | None] | None = None,
) -> KubeSchedulerConfiguration:
    """Enable every loaded plugin that no profile names: last at all its extension points, in every profile, weight 1.

    A plugin that some profile enables or disables is not added: the configuration alone decides.

    Args:
        registry: its `loaded` names are the ones to look at.
        args: arguments by plugin, loaded or not; they count in profiles whose `pluginConfig` has none for it.
    """
    named = {name for profile in configuration.profiles for name in _names_in(profile.plugins)}
    added = [name for name in dict.fromkeys(registry.loaded) if name not in named]
    profiles = tuple(
        msgspec.structs.replace(
            profile, plugins=_with_last(profile.plugins, added, registry), plugin_config=_with_args(profile, args or {})
        )
        for profile in configuration.profiles
    )
    return msgspec.structs.replace(configuration, profiles=profiles)


def without_plugins(
    configuration: KubeSchedulerConfiguration, names: Collection[str], skipped: Collection[str]
) -> KubeSchedulerConfiguration:
    """Take plugins out of every set of every profile.

    Args:
        names: these, wherever they are enabled.
        skipped: these as well; some profile has to enable each of them.
    Raises:
        ConfigError: no profile enables a plugin of `skipped`.
    """
    enabled = {name for profile in configuration.profiles for name in profile.plugins.enabled_names}
    for name in skipped:
        if name not in enabled:
            near = did_you_mean(name, enabled, PLUGIN_LIKENESS)
            advice = near or "give --skip-plugin the name of a plugin that a profile of --config enables"
            raise ConfigError(f'--skip-plugin: no profile enables "{name}"; {advice}')
    removed = {*names, *skipped}
    profiles = (
        msgspec.structs.replace(profile, plugins=_kept(profile.plugins, removed)) for profile in configuration.profiles
    )
    return msgspec.structs.replace(configuration, profiles=tuple(profiles))


def _kept(plugins: Plugins, removed: Collection[str]) -> Plugins:
    def without(_point: str, one: PluginSet) -> PluginSet:
        return PluginSet(tuple(entry for entry in one.enabled if entry.name not in removed), one.disabled)

    return plugins.changed(without)


def _names_in(plugins: Plugins) -> frozenset[str]:
    disabled = (plugin_set.disabled_names for plugin_set in plugins.by_point().values())
    return plugins.enabled_names.union(*disabled)


def _with_last(plugins: Plugins, added: list[str], registry: Registry) -> Plugins:
    def longer(point: str, one: PluginSet) -> PluginSet:
        here = [PluginEntry(name, 1) for name in added if point in _points_of(name, registry)]
        return PluginSet((*one.enabled, *here), one.disabled)

    return plugins.changed(longer)


def _points_of(name: str, registry: Registry) -> frozenset[str]:
    """Where a plugin is enabled; one that takes part in no point, only in preemption, is merely built."""
    return registry[name].plugin_class.extension_points() or frozenset(("multiPoint",))


def _with_args(
    profile: KubeSchedulerProfile, args: Mapping[str, PluginArgs | bytes | None]
) -> tuple[PluginConfig, ...]:
    given = {entry.name for entry in profile.plugin_config}
    return (*profile.plugin_config, *(PluginConfig(name, own) for name, own in args.items() if name not in given))


def read_args(given: Mapping[str, ArgsLike], registry: Registry) -> dict[str, PluginArgs | bytes | None]:
    """Read the arguments of each plugin, strictly.

    Raises:
        InputError: a file cannot be read.
        ConfigError: there is no such plugin, it takes its arguments elsewhere, or they are not valid.
    """
    return {name: _read(name, args, registry) for name, args in given.items()}


def _read(name: str, args: ArgsLike, registry: Registry) -> PluginArgs | bytes | None:
    if name not in registry:
        raise ConfigError(f"arguments for {name}: {registry.help_with(name)}")
    if registry[name].origin == IN_TREE:
        raise ConfigError(
            f"arguments for {name}: give the arguments of an in-tree plugin in pluginConfig of the configuration"
        )
    if isinstance(args, PluginArgs):
        return args
    source = Path(args) if isinstance(args, str | os.PathLike) else args
    if isinstance(source, Mapping):
        source = msgspec.json.encode(source)
    return load_args(source, name, args_types=registry.args_types, release=registry.release)
