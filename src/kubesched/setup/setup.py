"""A configuration with its plugins, built: every way to run starts with it."""

import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from kubesched.api import KINDS, WATCHED_KINDS, kind_named
from kubesched.config import ConfigSource, ExtenderConfig, KubeSchedulerConfiguration, LeaderElectionFlags
from kubesched.config import load_configuration as read_configuration
from kubesched.errors import ConfigError, InputError
from kubesched.framework import Probe, Probes, Profile, kinds_read
from kubesched.legacy import Conversion
from kubesched.release import DEFAULT_RELEASE, RELEASES, Release
from kubesched.scheduler import Request
from kubesched.setup.added_plugins import ArgsLike, enable_loaded, read_args, without_plugins
from kubesched.setup.configuration_files import read_source
from kubesched.setup.extender_calls import ExtenderCalls, answering_calls, sent_kinds
from kubesched.setup.older_versions import conversion_words, older_versions
from kubesched.setup.profiles import build_profiles
from kubesched.setup.registry import PluginLike, Registry, find_plugins

ConfigurationLike = KubeSchedulerConfiguration | ConfigSource | str | os.PathLike[str] | bytes | None
"""A configuration, one in a file that holds it, the name of its file, the file's text as bytes, or None for
kube-scheduler's defaults."""

Profiles = Sequence[Profile]
"""Profiles that somebody has built already."""

_Say = Callable[[str, str], None]  # is called with the name of a logger and a warning
_NO_ARGS: Mapping[str, ArgsLike] = {}
_NO_FLAGS = LeaderElectionFlags()
_WITH_CONFIGURATION_OF_DRIVERS: Final = frozenset(("DeviceClass", "ResourceClaim"))


class Setup(msgspec.Struct, frozen=True, eq=False):
    """What decides.

    Attributes:
        configuration: complete and valid, plugins that the user brings enabled.
        profiles: the plugins of each of its profiles, made for this setup alone: a setup serves one cluster.
        extender_calls: calls the extenders of the configuration; None for runs that do not ask them.
        probe: watches the frameworks of these profiles; None for nothing.
        release: the version of Kubernetes whose rules decide.
        in_version: makes the same setup with the rules of another version; None for built profiles.

    Example:
        setup = set_up("scheduler.yaml")
        assert [profile.scheduler_name for profile in setup.profiles] == ["default-scheduler"]
    """

    configuration: KubeSchedulerConfiguration
    profiles: tuple[Profile, ...]
    extender_calls: ExtenderCalls | None = None
    probe: Probe | None = None
    release: Release = DEFAULT_RELEASE
    in_version: "Callable[[Release], Setup] | None" = None

    def watched_by(self, *probes: Probe) -> "Setup":
        """The same setup, with further probes."""
        watching = probes if self.probe is None else (self.probe, *probes)
        return msgspec.structs.replace(self, probe=watching[0] if len(watching) == 1 else Probes(*watching))

    def calling(self, calls: ExtenderCalls | None) -> "Setup":
        """The same setup, with other calls of extenders."""
        return msgspec.structs.replace(self, extender_calls=calls)

    @property
    def extenders(self) -> tuple[ExtenderConfig, ...]:
        """The extenders of the configuration, if they are called."""
        return () if self.extender_calls is None else self.configuration.extenders

    @property
    def answer_cycle(self) -> Callable[[Request], Awaitable[Any]]:
        """What `drive` asks for a scheduling cycle."""
        return answering_calls(self.extender_calls)

    @property
    def watched_kinds(self) -> tuple[str, ...]:
        """What a live scheduler with these profiles watches: WATCHED_KINDS, and what plugins declare in `reads`."""
        read = self.read_kinds
        known = (kind for kind in KINDS if kind in WATCHED_KINDS or kind in read)
        return (*known, *(name for name in read if name not in KINDS))

    @property
    def read_kinds(self) -> tuple[str, ...]:
        """What plugins declare in `reads`, each kind once: a key of KINDS, or a name as `kind_named` takes it."""
        return kinds_read(plugin for profile in self.profiles for plugin in profile.plugins)

    @property
    def raw_kinds(self) -> frozenset[str]:
        """The kinds whose objects are read whole: by plugins with `wants_raw`, and by extenders."""
        wants_raw = any(plugin.wants_raw for profile in self.profiles for plugin in profile.plugins)
        return sent_kinds(self.configuration.extenders) | ({"Node", "Pod"} if wants_raw else set[str]())

    @property
    def kinds_with_source(self) -> frozenset[str]:
        """The kinds whose objects a live scheduler keeps as JSON: also those with configuration of drivers, which it
        copies into allocations. It may have secrets.
        """
        plugins = (plugin.name for profile in self.profiles for plugin in profile.plugins)
        return self.raw_kinds | (_WITH_CONFIGURATION_OF_DRIVERS if "DynamicResources" in plugins else frozenset())


def readers_of(profiles: Iterable[Profile]) -> dict[str, tuple[str, ...]]:
    """The names of the plugins that declare a kind in `reads`, by its key."""
    readers: dict[str, dict[str, None]] = {}
    for plugin in (plugin for profile in profiles for plugin in profile.plugins):
        for name in plugin.reads:
            readers.setdefault(kind_named(name).key, {})[plugin.name] = None
    return {key: tuple(names) for key, names in readers.items()}


def load_configuration(
    source: ConfigurationLike = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    release: Release = DEFAULT_RELEASE,
) -> KubeSchedulerConfiguration:
    """Read a KubeSchedulerConfiguration, fill in kube-scheduler's defaults, and check it.

    A Policy, or a configuration of a version before v1, is converted to v1; a warning in the log says so.

    Args:
        source: the name of a YAML or JSON file, or its text as bytes; None means the default configuration. A file can
            also hold it in a ConfigMap or Helm values, or have the workload of a scheduler, whose flags then count.
        plugins: your plugins. One that no profile names is enabled last at all its extension points, in every
            profile, with weight 1; where one names it, the configuration alone decides.
        plugin_args: arguments of such plugins; they count in profiles whose pluginConfig has none.
        release: the version of Kubernetes whose plugins and defaults there are.
    Raises:
        InputError: a file cannot be read.
        ConfigError: the configuration or an argument is not valid. The text begins with kube-scheduler's own where it
            has one; our help follows on indented lines.
        PluginDefinitionError: a plugin does not load.

    Example:
        configuration = load_configuration("scheduler.yaml")
        print([profile.scheduler_name for profile in configuration.profiles])
    """
    located = _located(source)
    loaded, conversions = _load(located, find_plugins(plugins, release=release), plugin_args)
    for conversion in conversions:
        _log("kubesched.config", conversion_words(conversion, located, release))
    return loaded


def set_up(
    configuration: ConfigurationLike | Setup | Profiles = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    default_plugins: bool = True,
    skipped: Iterable[str] = (),
    flags: LeaderElectionFlags = _NO_FLAGS,
    extender_calls: ExtenderCalls | None = None,
    release: Release = DEFAULT_RELEASE,
) -> Setup:
    """Build the profiles of a configuration; further arguments as for load_configuration.

    Args:
        configuration: a Setup is given back as it is; profiles get the rest of the default configuration. Neither
            takes further plugins or arguments.
        default_plugins: without them, profiles have `plugins`, and what the configuration enables and kube-scheduler
            v1.36 does not have, as in an extender: kube-scheduler runs its own plugins itself.
        skipped: plugins that the configuration enables and that are not built, because kube-scheduler has them, too.
        flags: what the command line says about leader election, before the flags of a workload in the file.
        extender_calls: calls the extenders of the configuration; without it they are not asked.
        release: the version of Kubernetes that decides; a Setup or profiles keep their own.
    Raises:
        InputError, ConfigError, PluginDefinitionError: as from load_configuration.

    Example:
        setup = set_up("scheduler.yaml")
        print(setup.profiles[0].weights["TaintToleration"])
    """
    if isinstance(configuration, Setup | Sequence) and not isinstance(configuration, str | bytes):
        if tuple(plugins) or plugin_args:
            raise InputError("a Setup or profiles take no plugins or plugin_args; give them to set_up()")
        given = configuration if isinstance(configuration, Setup) else _of_profiles(configuration)
        return given if extender_calls is None else given.calling(extender_calls)
    build = _builder(
        configuration,
        plugins,
        plugin_args,
        default_plugins=default_plugins,
        skipped=tuple(skipped),
        flags=flags,
        extender_calls=extender_calls,
    )
    return build(release)


def set_up_in_any_version(
    configuration: ConfigurationLike, plugins: Iterable[PluginLike] = (), plugin_args: Mapping[str, ArgsLike] = _NO_ARGS
) -> tuple[Setup, Callable[[], None]]:
    """Build profiles before it is known which version decides: those of the first one that accepts the configuration.

    Returns: the setup, and what logs the warnings about it; call it if the version turns out to be this one.
    Raises:
        InputError, ConfigError, PluginDefinitionError: as from load_configuration, as the default version says it.
    """
    build, refused = _builder(configuration, plugins, plugin_args), list[ConfigError]()
    for release in (DEFAULT_RELEASE, *RELEASES):
        try:
            return _built_quietly(build, release)
        except ConfigError as error:
            refused.append(error)
    raise refused[0]


def _built_quietly(build: Callable[..., Setup], release: Release) -> tuple[Setup, Callable[[], None]]:
    said: list[tuple[str, str]] = []

    def log_warnings() -> None:
        for logger, warning in said:
            _log(logger, warning)

    return build(release, lambda *warning: said.append(warning)), log_warnings


def _builder(
    configuration: ConfigurationLike,
    plugins: Iterable[PluginLike],
    plugin_args: Mapping[str, ArgsLike],
    *,
    default_plugins: bool = True,
    skipped: tuple[str, ...] = (),
    flags: LeaderElectionFlags = _NO_FLAGS,
    extender_calls: ExtenderCalls | None = None,
) -> Callable[..., Setup]:
    """What builds the profiles of a configuration for a version, with arguments as those of `set_up`."""
    located, plugins = _located(configuration), tuple(plugins)

    def build(release: Release, say: _Say = _log) -> Setup:
        registry = find_plugins(plugins, release=release)
        loaded, conversions = _load(
            located, registry, plugin_args, default_plugins=default_plugins, skipped=skipped, flags=flags
        )
        setup = _build(located, loaded, registry, plugin_args, default_plugins=default_plugins)
        for conversion in conversions:  # after an error, the command that the line names would end with the same error
            say("kubesched.config", conversion_words(conversion, located, release))
        for profile in setup.profiles:
            _warn_of_bind(profile, say)
        return msgspec.structs.replace(setup, extender_calls=extender_calls, in_version=build)

    return build


def _log(logger: str, warning: str) -> None:
    logging.getLogger(logger).warning("%s", warning)


def _build(
    configuration: KubeSchedulerConfiguration | ConfigSource | bytes | None,
    loaded: KubeSchedulerConfiguration,
    registry: Registry,
    plugin_args: Mapping[str, ArgsLike],
    *,
    default_plugins: bool,
) -> Setup:
    """Build the profiles; an error names the file that it is about."""
    try:
        return Setup(loaded, build_profiles(loaded, registry, whole=default_plugins), release=registry.release)
    except ConfigError as error:
        if not default_plugins:
            error = ConfigError(f"{error}{_skipping(loaded, registry)}")
        blamed = (given for name, given in plugin_args.items() if f'initializing plugin "{name}":' in str(error))
        source = next(blamed, configuration)
        if isinstance(source, str | os.PathLike | ConfigSource):
            raise ConfigError(f"{error}\n  in {source!s}") from None
        raise error from None


def _skipping(configuration: KubeSchedulerConfiguration, registry: Registry) -> str:
    """A further line of help where a profile enables a plugin that only kube-scheduler has, such as one in Go."""
    enabled = [name for profile in configuration.profiles for name in sorted(profile.plugins.enabled_names)]
    unknown = next((name for name in enabled if name not in registry), "")
    advice = f"to leave {unknown} to kube-scheduler, add --skip-plugin {unknown}, or in Python skipped=[{unknown!r}]"
    return f"\n  {advice}" if unknown else ""


def _warn_of_bind(profile: Profile, say: _Say) -> None:
    """Warn of bind plugins that are never called, because DefaultBinder comes first and binds every pod."""
    names = [plugin.name for plugin in profile.points["bind"]]
    if "DefaultBinder" in names and (late := names[names.index("DefaultBinder") + 1 :]):
        never = f"DefaultBinder binds every pod before bind of {' and '.join(late)} is called"
        say("kubesched.plugin", f"profile {profile.scheduler_name}: {never}; disable DefaultBinder at bind")


def _of_profiles(profiles: Profiles) -> Setup:
    if not profiles or not all(isinstance(profile, Profile) for profile in profiles):
        raise InputError(f"a list must have profiles, at least one; found {profiles!r:.80}")
    return Setup(KubeSchedulerConfiguration(), tuple(profiles), release=profiles[0].release)


def _located(source: ConfigurationLike) -> KubeSchedulerConfiguration | ConfigSource | bytes | None:
    """The configuration in a file, for the name of the file."""
    if isinstance(source, str | os.PathLike):
        return read_source(Path(source))
    if not isinstance(source, KubeSchedulerConfiguration | ConfigSource | bytes | None):
        raise InputError(f"a configuration is the name of its file, or its text as bytes; found {source!r:.80}")
    return source


def _load(
    source: KubeSchedulerConfiguration | ConfigSource | bytes | None,
    registry: Registry,
    plugin_args: Mapping[str, ArgsLike],
    *,
    default_plugins: bool = True,
    skipped: tuple[str, ...] = (),
    flags: LeaderElectionFlags = _NO_FLAGS,
) -> tuple[KubeSchedulerConfiguration, list[Conversion]]:
    args, conversions = read_args(plugin_args, registry), list[Conversion]()
    read = source
    if not isinstance(read, KubeSchedulerConfiguration):
        read = read_configuration(
            read,
            args_types=registry.args_types,
            default_plugins=default_plugins,
            flags=flags if not isinstance(read, ConfigSource) else read.flags.replaced_by(flags),
            to_v1=older_versions(read, conversions.append).to_v1,
            release=registry.release,
        )
    if skipped or not default_plugins:
        read = without_plugins(read, () if default_plugins else registry.of_kube_scheduler, skipped)
    return enable_loaded(read, registry, args), conversions
