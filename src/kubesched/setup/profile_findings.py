"""The last stage of reading a configuration: builds its plugins, and finds what its profiles do not get from them.

Rule: kube-scheduler v1.36 profile construction, with its messages and its order among several faults.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.config import (
    ExtenderConfig,
    Finding,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginArgs,
    PluginConfig,
    ReadingStage,
    entry_path,
    error_finding,
    field_finding,
    profile_document,
    queue_sort_advice,
)
from kubesched.errors import ConfigError
from kubesched.framework import HOOK_FAULTS, Plugin
from kubesched.release import Release
from kubesched.setup.expansion import expand_points, point_findings, score_weights
from kubesched.setup.instances import build_plugin, typed_args
from kubesched.setup.registry import Registry

_NO_DOCUMENT: Final[Mapping[str, Any]] = {}


class BuiltProfile(NamedTuple):
    """What a profile gets: an instance of each of its plugins, their names at each point, and the weights of scores."""

    plugins: Mapping[str, Plugin]
    points: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]


def profile_findings(
    configuration: KubeSchedulerConfiguration,
    registry: Registry,
    built: list[BuiltProfile],
    *,
    whole: bool = True,
    document: Mapping[str, Any] = _NO_DOCUMENT,
    wrong: Iterable[str] = (),
) -> Iterator[Finding]:
    """Build the plugins of each profile, and find what is wrong with the extenders, in a profile and between them.

    Args:
        built: takes what each profile gets.
        whole: as for `build_profiles`.
        document: the configuration as it is written; findings about entries in it have their paths.
        wrong: paths where something is wrong already: kube-scheduler's stages check some things twice.
    """
    if whole:
        yield from _extender_findings(configuration.extenders)
        try:
            configuration = with_ignored_resources(configuration)
        except ConfigError as error:
            yield error_finding("ignored-resources", "extenders", error, ReadingStage.PROFILES)
    wrong = set(wrong)
    sorters = {}
    for i, profile in enumerate(configuration.profiles):
        written = _Written(profile, f"profiles[{i}]", profile_document(document, i))
        built.append((yield from _findings_in_profile(written, registry, wrong, whole)))
        sorters[profile.scheduler_name] = (*built[i].points["queueSort"], "")[0]
    if whole and not any(path.endswith((".queueSort", ".queueSort.Enabled")) for path in wrong):
        yield from _findings_between(configuration.profiles, sorters)


class _Written(NamedTuple):
    """A profile, its path, and its object as it is written; that is empty if there is none."""

    profile: KubeSchedulerProfile
    where: str
    document: Mapping[str, Any]


def _findings_in_profile(
    written: _Written, registry: Registry, wrong: set[str], whole: bool
) -> Generator[Finding, None, BuiltProfile]:
    """What is wrong with one profile; the points where something is are added to `wrong`. Returns what it gets."""
    plugins: dict[str, Plugin] = {}
    weights: Mapping[str, int] = {}
    prefix = f"initializing profiles: creating profile for scheduler name {written.profile.scheduler_name}: "
    for finding in _building_findings(written, registry, plugins):
        if not _is_inside(finding.path, wrong):
            yield _behind(prefix, finding)
    seen: set[str] = set()
    for finding in point_findings(written.profile.plugins, registry, written.where, written.document):
        if finding.path not in seen and not _is_wrong(finding.path, wrong):
            seen.add(finding.path)
            yield _behind(prefix, finding)
    points = expand_points(written.profile.plugins, registry)
    wrong |= {f"{written.where}.plugins.{point}" for point in points if any(f".{point}." in path for path in seen)}
    for finding in _once_findings(written, points) if whole else ():
        if finding.path not in wrong:
            yield _behind(prefix, finding)
    path = f"{written.where}.plugins"
    try:
        weights = score_weights(written.profile.plugins, registry, path)
    except ConfigError as error:
        if f"{path}.score" not in wrong:
            yield error_finding("weight-overflow", f"{path}.score", error, ReadingStage.PROFILES, prefix)
    return BuiltProfile(plugins, points, weights)


def _behind(prefix: str, finding: Finding) -> Finding:
    """A finding that a scheduler prints behind the name of the profile."""
    text, *helps = finding.lines
    return msgspec.structs.replace(finding, printed=(f"{prefix}{text}", *helps))


def _is_inside(path: str, wrong: Iterable[str]) -> bool:
    """Whether something wrong is at a path or inside it."""
    return any(path == place or place.startswith((f"{path}.", f"{path}[")) for place in wrong)


def _is_wrong(path: str, wrong: Iterable[str]) -> bool:
    """Whether an entry is wrong already, or a finding is about an entry that was left out and so has no name."""
    return path.removesuffix(".name") in wrong or (
        not path.endswith(".name") and any(place.startswith(f"{path}.enabled[") for place in wrong)
    )


def _extender_findings(extenders: tuple[ExtenderConfig, ...]) -> Iterator[Finding]:
    """The extenders that kube-scheduler cannot build; certificate files are not read."""
    for i, extender in enumerate(extenders):
        tls = extender.tls_config
        if tls is not None and tls.insecure and (tls.ca_file or tls.ca_data):
            text = "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed"
            path, advice = f"extenders[{i}].tlsConfig.insecure", "remove insecure: true, or the CA"
            yield Finding("extender-insecure-ca", path, text, advice, stage=ReadingStage.PROFILES)


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


def _building_findings(written: _Written, registry: Registry, built: dict[str, Plugin]) -> Iterator[Finding]:
    """Make an instance of each plugin that some set enables; names that are not registered are reported later."""
    given = {entry.name: entry.args for entry in written.profile.plugin_config}
    for plugin in registry.those(written.profile.plugins.enabled_names):
        try:
            built[plugin.name] = build_plugin(plugin.plugin_class, given.get(plugin.name), registry.release)
        except ConfigError as error:
            entry = entry_path(written.document, "pluginConfig", plugin.name)
            path = f"{written.where}.{entry}.args" if entry else f"{written.where}.plugins"
            yield from _start_findings(plugin.plugin_class, given.get(plugin.name), path, error, registry.release)


def _start_findings(
    plugin_class: type[Plugin], given: PluginArgs | bytes | None, path: str, error: ConfigError, release: Release
) -> Iterator[Finding]:
    """A finding for each argument that is not valid; if all are, the error itself. A scheduler prints the error."""
    prefix = f'initializing plugin "{plugin_class.name}": '
    whole = error_finding("plugin-init", path, error, ReadingStage.PROFILES)
    try:
        args = typed_args(plugin_class, given, release)
        pairs = zip(args.validate(path), args.validate(""), strict=True)
        findings = [
            (field_finding(located, ReadingStage.PROFILES, release), f"{prefix}{short.in_words_of(release)}")
            for located, short in pairs
        ]
    except (ConfigError, *HOOK_FAULTS):
        findings = []
    for finding, message in findings or [(whole, whole.message)]:
        yield msgspec.structs.replace(finding, message=message, printed=whole.printed)


def _once_findings(written: _Written, points: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    """What a profile must have once that schedules by itself."""
    name, path, sorters = written.profile.scheduler_name, f"{written.where}.plugins", points["queueSort"]
    if len(sorters) != 1:
        text = f'only one queue sort plugin required for profile with scheduler name "{name}", but got {len(sorters)}'
        advice = f"; {queue_sort_advice(sorters)}" if sorters else ""
        advice = f"{path}: enabled are {', '.join(sorters) or 'none'}; leave exactly one enabled{advice}"
        yield _at_point("queue-sort", f"{path}.queueSort", text, advice)
    if not points["bind"]:
        text = f'at least one bind plugin is needed for profile with scheduler name "{name}"'
        yield _at_point("no-bind-plugin", f"{path}.bind", text, f"{path}: enable DefaultBinder or your own bind plugin")


def _at_point(rule: str, path: str, text: str, advice: str = "") -> Finding:
    return Finding(rule, path, text, advice, stage=ReadingStage.PROFILES, printed=(text, advice) if advice else (text,))


def _findings_between(profiles: tuple[KubeSchedulerProfile, ...], sorters: Mapping[str, str]) -> Iterator[Finding]:
    """All profiles share one queue, so one plugin sorts it, with one set of arguments.

    Args:
        sorters: the queue sort plugin of each profile by its scheduler name.
    """
    prefix = "initializing profiles: different queue sort plugin"
    for i in range(1, len(profiles)):
        profile, first, path = profiles[i], profiles[0], f"profiles[{i}].plugins.queueSort"
        sorter, wanted = sorters[profile.scheduler_name], sorters[first.scheduler_name]
        if sorter != wanted:
            text = f'{prefix}s for profile "{profile.scheduler_name}": "{sorter}", first: "{wanted}"'
            yield _at_point("queue-sort", path, text, queue_sort_advice(sorters.values()))
        elif _written_args(profile, sorter) != _written_args(first, sorter):
            yield _at_point("queue-sort", path, f'{prefix} args for profile "{profile.scheduler_name}"')


def _written_args(written: KubeSchedulerProfile, name: str) -> PluginArgs | bytes | None:
    return next((entry.args for entry in written.plugin_config if entry.name == name), None)
