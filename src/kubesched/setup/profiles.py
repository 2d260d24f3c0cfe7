"""Builds profiles from a configuration and a registry: plugin instances, and their order at each point.

Rule: kube-scheduler v1.36 profile construction, with its messages; our help follows on indented lines.
"""

from collections.abc import Iterator, Mapping

import msgspec

from kubesched.config import (
    ExtenderConfig,
    FieldError,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginArgs,
    PluginConfig,
    config_error,
    load_args,
    queue_sort_advice,
)
from kubesched.errors import ConfigError, PluginDefinitionError
from kubesched.framework import HOOK_FAULTS, Plugin, Profile, kinds_read, located_line
from kubesched.setup.expansion import expand_points, score_weights
from kubesched.setup.registry import Registry


def build_profiles(
    configuration: KubeSchedulerConfiguration, registry: Registry, *, whole: bool = True
) -> tuple[Profile, ...]:
    """Build the plugins of every profile and put them in order.

    Args:
        configuration: complete and valid, as `load_configuration` gives it.
        whole: whether the profiles are to schedule by themselves, and so need a queue sort plugin, the same one in all,
            and a bind plugin.
    Returns: one Profile for each of the configuration's, in its order.
    Raises:
        ConfigError: the configuration asks for something that its plugins do not give.
        PluginDefinitionError: a plugin of an installed package does not load.
    """
    if whole:
        for fault in extender_faults(configuration.extenders):
            raise ConfigError(f"{fault.text}\n  {fault.path}: {fault.help}")
        configuration = with_ignored_resources(configuration)
    profiles = []
    for i, written in enumerate(configuration.profiles):
        try:
            profiles.append(_build_profile(written, configuration.percentage_of_nodes_to_score, registry, i, whole))
        except ConfigError as error:
            prefix = f"initializing profiles: creating profile for scheduler name {written.scheduler_name}: "
            raise ConfigError(f"{prefix}{error}") from None
    for written in configuration.profiles[1:] if whole else ():
        by_name = {profile.scheduler_name: profile.points["queueSort"][0].name for profile in profiles}
        check_same_queue_sort(written, configuration.profiles[0], by_name)
    return tuple(profiles)


def extender_faults(extenders: tuple[ExtenderConfig, ...]) -> Iterator[FieldError]:
    """Find the extenders that kube-scheduler cannot build; certificate files are not read."""
    for i, extender in enumerate(extenders):
        tls = extender.tls_config
        if tls is not None and tls.insecure and (tls.ca_file or tls.ca_data):
            text = "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed"
            yield FieldError(f"extenders[{i}].tlsConfig.insecure", text, "remove insecure: true, or the CA")


def with_ignored_resources(configuration: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """Resources with ignoredByScheduler of an extender replace NodeResourcesFit's list, in every profile.

    Raises:
        ConfigError: a profile has no arguments of NodeResourcesFit.
    """
    ignored = tuple(
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    if not ignored:
        return configuration
    profiles = tuple(
        msgspec.structs.replace(written, plugin_config=_with_ignored(written.plugin_config, ignored))
        for written in configuration.profiles
    )
    return msgspec.structs.replace(configuration, profiles=profiles)


def _with_ignored(entries: tuple[PluginConfig, ...], ignored: tuple[str, ...]) -> tuple[PluginConfig, ...]:
    if not any(entry.name == "NodeResourcesFit" for entry in entries):
        advice = "an extender has managedResources with ignoredByScheduler: enable NodeResourcesFit in every profile"
        raise ConfigError(f"couldn't build extenders: can't find NodeResourcesFitArgs in plugin config\n  {advice}")
    return tuple(
        PluginConfig(entry.name, msgspec.structs.replace(entry.args, ignored_resources=ignored))
        if entry.name == "NodeResourcesFit" and isinstance(entry.args, PluginArgs)
        else entry
        for entry in entries
    )


def _build_profile(
    written: KubeSchedulerProfile, percentage: int, registry: Registry, number: int, whole: bool
) -> Profile:
    where = f"profiles[{number}].plugins"
    built = _build_plugins(written, registry)
    named = expand_points(written.plugins, registry, where)
    if whole:
        check_queue_sort(written.scheduler_name, named, where)
        check_bind(written.scheduler_name, named, where)
    weights = score_weights(written.plugins, registry, where)
    return Profile(
        written.scheduler_name,
        percentage if written.percentage_of_nodes_to_score is None else written.percentage_of_nodes_to_score,
        {point: tuple(built[name] for name in names) for point, names in named.items()},
        weights,
        tuple(built.values()),
    )


def _build_plugins(written: KubeSchedulerProfile, registry: Registry) -> dict[str, Plugin]:
    """An instance of each plugin that some set enables; names that are not registered are reported later."""
    given = {entry.name: entry.args for entry in written.plugin_config}
    return {
        plugin.name: build_plugin(plugin.plugin_class, given.get(plugin.name))
        for plugin in registry.those(written.plugins.enabled_names)
    }


def build_plugin(plugin_class: type[Plugin], given: PluginArgs | bytes | None) -> Plugin:
    """Make an instance with these arguments.

    Raises:
        ConfigError: the arguments are not valid, or the class raises something.
        PluginDefinitionError: its `reads` is not valid.
    """
    name = plugin_class.name
    try:
        args = typed_args(plugin_class, given)
        if errors := args.validate(""):
            raise config_error(errors)
        plugin = plugin_class(args)
        if plugin.name != name:
            raise ConfigError(
                f"__init__ sets self.name to {plugin.name!r:.80}; set name in the class, for all instances"
            )
        kinds_read((plugin,))
        return plugin
    except ConfigError as error:
        raise ConfigError(f'initializing plugin "{name}": {error}') from None
    except PluginDefinitionError:
        raise
    except HOOK_FAULTS as error:
        advice = f"__init__ of the class {plugin_class.__name__} of {plugin_class.__module__} raised this"
        raise ConfigError(f'initializing plugin "{name}": {located_line(error)}\n  {advice}') from error


def typed_args(plugin_class: type[Plugin], given: PluginArgs | bytes | None) -> PluginArgs:
    """The arguments as the class declares them; those that were read without their type are decoded now.

    Raises:
        ConfigError: they are not valid.
    """
    if not isinstance(given, PluginArgs):
        name = plugin_class.name
        given = load_args(given or b"{}", name, args_types={name: plugin_class.Args})
    return given if isinstance(given, PluginArgs) else plugin_class.Args()


def check_queue_sort(name: str, named: Mapping[str, tuple[str, ...]], where: str) -> None:
    """Check that one plugin sorts the queue.

    Args:
        named: the plugins of each extension point.
        where: the path of the plugin sets.
    Raises:
        ConfigError: there is none, or more than one.
    """
    sorters = named["queueSort"]
    if len(sorters) != 1:
        text = f'only one queue sort plugin required for profile with scheduler name "{name}", but got {len(sorters)}'
        advice = f"; {queue_sort_advice(sorters)}" if sorters else ""
        enabled = ", ".join(sorters) or "none"
        raise ConfigError(f"{text}\n  {where}: enabled are {enabled}; leave exactly one enabled{advice}")


def check_bind(name: str, named: Mapping[str, tuple[str, ...]], where: str) -> None:
    """Check that a plugin binds pods; arguments as for check_queue_sort.

    Raises:
        ConfigError: there is none.
    """
    if not named["bind"]:
        text = f'at least one bind plugin is needed for profile with scheduler name "{name}"'
        raise ConfigError(f"{text}\n  {where}: enable DefaultBinder or your own bind plugin")


def check_same_queue_sort(
    written: KubeSchedulerProfile, first: KubeSchedulerProfile, sorters: Mapping[str, str]
) -> None:
    """Check that a profile sorts like the first one: all share one queue, so one plugin sorts it, with one set of
    arguments.

    Args:
        sorters: the queue sort plugin of each profile by its scheduler name.
    Raises:
        ConfigError: it does not.
    """
    sorter, wanted = sorters[written.scheduler_name], sorters[first.scheduler_name]
    prefix = "initializing profiles: different queue sort plugin"
    if sorter != wanted:
        text = f'{prefix}s for profile "{written.scheduler_name}": "{sorter}", first: "{wanted}"'
        raise ConfigError(f"{text}\n  {queue_sort_advice(sorters.values())}")
    if _written_args(written, sorter) != _written_args(first, sorter):
        raise ConfigError(f'{prefix} args for profile "{written.scheduler_name}"')


def _written_args(written: KubeSchedulerProfile, name: str) -> PluginArgs | bytes | None:
    return next((entry.args for entry in written.plugin_config if entry.name == name), None)
