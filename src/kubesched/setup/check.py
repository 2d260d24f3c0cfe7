"""Judges a configuration: what kube-scheduler prints, and every finding about the text, its plugins and its risks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from kubesched.config import (
    ConfigSource,
    Finding,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionFlags,
    PluginArgs,
    PluginFacts,
    Report,
    Review,
    ReviewedProfile,
    Written,
    advice_on,
    effective,
    entry_path,
    field_finding,
    flag_findings,
    ignored_flag_findings,
    read_written,
    report_on,
    split_error,
)
from kubesched.config import load_configuration as read_configuration
from kubesched.errors import ConfigError, InputError, PluginDefinitionError
from kubesched.framework import HOOK_FAULTS, Plugin
from kubesched.legacy import OlderVersions, is_older
from kubesched.setup.added_plugins import enable_loaded
from kubesched.setup.expansion import expand_known, point_faults, score_weights
from kubesched.setup.older_findings import older_findings
from kubesched.setup.older_versions import older_versions
from kubesched.setup.profiles import (
    build_plugin,
    build_profiles,
    check_bind,
    check_queue_sort,
    check_same_queue_sort,
    extender_faults,
    typed_args,
    with_ignored_resources,
)
from kubesched.setup.registry import IN_TREE, PluginLike, Registry, find_plugins


class Checked(msgspec.Struct, frozen=True):
    """What is to be said about a configuration.

    Attributes:
        error: what kube-scheduler v1.36, or kubesched, prints when it rejects the configuration, our help on indented
            lines; empty if it accepts it. It ends at the first stage with a fault, the findings do not.
        configuration: complete, of what could be decoded; None if there is no configuration of v1, or
            of an older version that kubesched reads.
    """

    error: str
    report: Report
    configuration: KubeSchedulerConfiguration | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """In the order of the text."""
        return self.report.findings

    @property
    def silenced(self) -> tuple[Finding, ...]:
        """Findings that comments silence."""
        return self.report.silenced

    def with_further(self, findings: Iterable[Finding]) -> "Checked":
        """The same with more findings."""
        return msgspec.structs.replace(self, report=self.report.with_further(findings))


def check_configuration(
    source: ConfigSource | str, plugins: Iterable[PluginLike] = (), *, kube_scheduler: bool = True
) -> Checked:
    """Judge a configuration.

    Args:
        source: its text, or a source with its text and the flags of its scheduler; lines are those of the text.
        plugins: your plugins; as for load_configuration.
        kube_scheduler: whether it is for kube-scheduler v1.36, which has no legacy plugins and reads only v1. Of an
            older version, only errors are found then.
    Raises:
        PluginDefinitionError: a plugin does not load.

    Example:
        checked = check_configuration("kind: KubeSchedulerConfiguration")
        assert [(finding.rule, finding.line) for finding in checked.findings] == [("type-meta", 1)]
    """
    registry = find_plugins(plugins, legacy=not kube_scheduler)
    if isinstance(source, str):
        source = ConfigSource("", source, "")
    text, flags = source.text, source.flags
    wrong_flags = list(flag_findings(source.unknown_flags if kube_scheduler else (), has_file=not source.is_generated))
    older = None if kube_scheduler else older_versions(source, lambda _: None)
    error, read = _read(text, registry, flags, older)
    if wrong_flags:
        error = f"{wrong_flags[0].message}\n  {wrong_flags[0].help}"
    written = read_written(text, registry.args_types, flags)
    further = [*wrong_flags]
    configuration = written.configuration
    if configuration is not None:
        configuration = enable_loaded(configuration, registry)
        further += _plugin_findings(configuration, written, registry)
        further += advice_on(_review(configuration, written.document, registry))
        if kube_scheduler:
            further += _own_plugins(configuration, written.document, registry)
            further += ignored_flag_findings(source.ignored_flags, effective(configuration))
    elif not wrong_flags and is_older(written.document):
        if kube_scheduler:
            further += older_findings(source, registry, find_plugins(plugins), _findings_of_plugins)
        else:
            further += older_findings(source, registry, registry, _findings_and_advice, with_advice=True)
            configuration = read
    if not kube_scheduler or (source.is_generated and wrong_flags):  # the version of the text stands for those flags
        sound = tuple(finding for finding in written.findings if finding.rule != "old-version")
        written = msgspec.structs.replace(written, findings=sound)
    report = report_on(text, written, further)
    if error and not any(finding.severity == "error" for finding in report.findings):
        message, _, advice = error.partition("\n  ")
        report = report.with_further([Finding("rejected", "", message, advice)])
    return Checked(error, report, configuration)


def _read(
    text: str, registry: Registry, flags: LeaderElectionFlags, older: OlderVersions | None
) -> tuple[str, KubeSchedulerConfiguration | None]:
    """What the scheduler prints, and what it reads: nothing if it rejects the configuration."""
    try:
        older_document = {} if older is None else {"to_v1": older.to_v1}
        read = read_configuration(text, args_types=registry.args_types, flags=flags, **older_document)
        configuration = enable_loaded(read, registry)
        build_profiles(configuration, registry)
    except (ConfigError, InputError) as error:
        return str(error), None
    return "", configuration


def _findings_of_plugins(written: Written, registry: Registry) -> Iterator[Finding]:
    """The findings about the plugins of a text that is a configuration of v1."""
    if written.configuration is not None:
        yield from _plugin_findings(enable_loaded(written.configuration, registry), written, registry)


def _findings_and_advice(written: Written, registry: Registry) -> Iterator[Finding]:
    """Also what a reviewer would not accept."""
    if written.configuration is not None:
        configuration = enable_loaded(written.configuration, registry)
        yield from _plugin_findings(configuration, written, registry)
        yield from advice_on(_review(configuration, written.document, registry))


def _plugin_findings(
    configuration: KubeSchedulerConfiguration, written: Written, registry: Registry
) -> Iterator[Finding]:
    """What is wrong with the extenders, with the plugins of each profile, and between the profiles."""
    for fault in extender_faults(configuration.extenders):
        yield Finding("extender-insecure-ca", fault.path, fault.text, fault.help)
    try:
        configuration = with_ignored_resources(configuration)
    except ConfigError as error:
        yield Finding("ignored-resources", "extenders", *split_error(error))
    # Where something is wrong already: the stages of kube-scheduler check some things twice.
    known = {finding.path for finding in written.findings if finding.severity == "error"}
    sorters = {}
    for i, profile in enumerate(configuration.profiles):
        document = _profile_document(written.document, i)
        yield from (one for one in _args_findings(profile, i, document, registry) if not _is_inside(one.path, known))
        faults = [
            one
            for one in _point_findings(profile, i, document, registry)
            if one.path.removesuffix(".name") not in known
        ]
        yield from faults
        points = expand_known(profile.plugins, registry)
        known |= {f"profiles[{i}].plugins.{point}" for point in points if any(f".{point}." in f.path for f in faults)}
        whole = _whole_findings(profile, f"profiles[{i}].plugins", points, registry)
        yield from (finding for finding in whole if finding.path not in known)
        sorters[profile.scheduler_name] = (*points["queueSort"], "")[0]
    if any(path.endswith((".queueSort", ".queueSort.Enabled")) for path in known):
        return
    for i, profile in enumerate(configuration.profiles[1:], 1):
        try:
            check_same_queue_sort(profile, configuration.profiles[0], sorters)
        except ConfigError as error:
            yield Finding("queue-sort", f"profiles[{i}].plugins.queueSort", *split_error(error))


def _is_inside(path: str, known: set[str]) -> bool:
    return any(path == one or one.startswith((f"{path}.", f"{path}[")) for one in known)


def _args_findings(
    profile: KubeSchedulerProfile, number: int, document: Mapping[str, Any], registry: Registry
) -> Iterator[Finding]:
    """Plugins that do not start with their arguments."""
    given = {entry.name: entry.args for entry in profile.plugin_config}
    for plugin in registry.those(profile.plugins.enabled_names):
        entry = entry_path(document, "pluginConfig", plugin.name)
        path = f"profiles[{number}].{entry}.args" if entry else f"profiles[{number}].plugins"
        try:
            build_plugin(plugin.plugin_class, given.get(plugin.name))
        except ConfigError as error:
            yield from _start_findings(plugin.plugin_class, given.get(plugin.name), path, error)


def _start_findings(
    plugin_class: type[Plugin], given: PluginArgs | bytes | None, path: str, error: ConfigError
) -> Iterator[Finding]:
    """One finding for each argument that is not valid; if all are, the error itself."""
    prefix = f'initializing plugin "{plugin_class.name}": '
    try:
        args = typed_args(plugin_class, given)
        pairs = zip(args.validate(path), args.validate(""), strict=True)
        findings = [field_finding(located, f"{prefix}{short}") for located, short in pairs]
    except (ConfigError, *HOOK_FAULTS):
        findings = []
    yield from findings or [Finding("plugin-init", path, *split_error(error))]


def _point_findings(
    profile: KubeSchedulerProfile, number: int, document: Mapping[str, Any], registry: Registry
) -> Iterator[Finding]:
    """Plugins that cannot be enabled where they are; one finding for an entry, not for each extension point."""
    seen = set()
    for fault in point_faults(profile.plugins, registry, "plugins"):
        entry = entry_path(document, f"{fault.path}.enabled", fault.plugin, last=fault.rule == "duplicate-plugin")
        path = f"profiles[{number}].{entry or fault.path}"
        if not fault.plugin and not entry:  # the entry itself has a wrong type
            continue
        if path not in seen:
            seen.add(path)
            yield Finding(fault.rule, f"{path}.name" if entry else path, fault.text, fault.help)


def _whole_findings(
    profile: KubeSchedulerProfile, path: str, points: Mapping[str, tuple[str, ...]], registry: Registry
) -> Iterator[Finding]:
    """What a profile must have once, and the sum of its weights."""
    name = profile.scheduler_name
    for rule, where, check in (
        ("queue-sort", f"{path}.queueSort", lambda: check_queue_sort(name, points, path)),
        ("no-bind-plugin", f"{path}.bind", lambda: check_bind(name, points, path)),
        ("weight-overflow", f"{path}.score", lambda: score_weights(profile.plugins, registry, path)),
    ):
        try:
            check()
        except ConfigError as error:
            yield Finding(rule, where, *split_error(error))


def _review(configuration: KubeSchedulerConfiguration, document: dict[str, Any], registry: Registry) -> Review:
    profiles = []
    for i, profile in enumerate(configuration.profiles):
        points = expand_known(profile.plugins, registry)
        profiles.append(
            ReviewedProfile(
                f"profiles[{i}]", profile, _profile_document(document, i), points, _weights(profile, points)
            )
        )
    return Review(configuration, document, tuple(profiles), lambda name: _facts(name, registry))


def _own_plugins(
    configuration: KubeSchedulerConfiguration, document: Mapping[str, Any], registry: Registry
) -> Iterator[Finding]:
    """The plugins that the file names and that are known only because the user brings or has installed them."""
    for i, profile in enumerate(configuration.profiles):
        for plugin in registry.those(profile.plugins.enabled_names):
            entries = (
                entry_path(_profile_document(document, i), f"plugins.{point}.enabled", plugin.name)
                for point in profile.plugins.by_point()
            )
            if plugin.origin != IN_TREE and (entry := next(filter(None, entries), "")):
                message = f"{plugin.name} comes from {plugin.origin}; a stock kube-scheduler does not have it"
                advice = "kube-scheduler needs a plugin of this name in Go; `kubesched scheduler` runs yours"
                yield Finding("own-plugin", f"profiles[{i}].{entry}.name", message, advice)


def _weights(profile: KubeSchedulerProfile, points: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """As score_weights gives them, also where their sum overflows."""
    entries = (*reversed(profile.plugins.multi_point.enabled), *reversed(profile.plugins.score.enabled))
    return {entry.name: entry.weight or 1 for entry in entries if entry.name in points["score"]}


def _facts(name: str, registry: Registry) -> PluginFacts | None:
    if name not in registry:
        return None
    try:
        points = registry[name].plugin_class.extension_points()
    except PluginDefinitionError:  # an installed plugin that nothing enables
        points = frozenset()
    return PluginFacts(points)


def _profile_document(document: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    profiles = document.get("profiles")
    profile = profiles[number] if isinstance(profiles, list) and number < len(profiles) else None
    return profile if isinstance(profile, dict) else {}
