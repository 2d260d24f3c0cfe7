"""Judges a configuration: what kube-scheduler prints, and every finding about the text, its plugins and its risks."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubesched.config import (
    REPLACED_FLAGS,
    ConfigSource,
    FieldFlag,
    Finding,
    KubeSchedulerConfiguration,
    ReadingStage,
    ToV1,
    did_you_mean,
    dig,
    effective,
    entry_path,
    error_of,
    not_convertible,
    only_v1,
    profile_document,
)
from kubesched.documents import locate
from kubesched.errors import ConfigError, InputError
from kubesched.known_flags import FLAGS
from kubesched.legacy import convert_configuration, is_older
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.review.checked import Checked
from kubesched.review.judge import Judged, judge
from kubesched.review.silencing import read_silences
from kubesched.setup import IN_TREE, PluginLike, Registry, find_plugins, older_versions


def check_configuration(
    source: ConfigSource | str,
    plugins: Iterable[PluginLike] = (),
    *,
    kube_scheduler: bool = True,
    release: Release = DEFAULT_RELEASE,
) -> Checked:
    """Judge a configuration.

    Args:
        source: its text, or a source with its text and the flags of its scheduler; lines are those of the text.
        plugins: your plugins; as for load_configuration.
        kube_scheduler: whether it is for kube-scheduler, which has no legacy plugins and reads only v1. Of an older
            version, only errors are found then.
        release: the version of kube-scheduler, or the one as which kubesched decides.
    Raises:
        PluginDefinitionError: a plugin does not load.

    Example:
        checked = check_configuration("kind: KubeSchedulerConfiguration")
        assert [(finding.rule, finding.line) for finding in checked.findings] == [("type-meta", 1)]
    """
    if isinstance(source, str):
        source = ConfigSource("", source, "")
    registry = find_plugins(plugins, legacy=not kube_scheduler, release=release)
    judged = judge(source, registry, only_v1 if kube_scheduler else _converting(source))
    unknown_flags = source.unknown_flags if kube_scheduler else ()
    of_flags = list(flag_findings(unknown_flags, has_file=not source.is_generated))
    rejecting = [finding for finding in (*of_flags, *judged.findings) if finding.stage < ReadingStage.ADVICE]
    error = str(error_of(rejecting)) if rejecting else ""
    findings = [*judged.located, *of_flags]
    if not kube_scheduler or (source.is_generated and of_flags):  # the version of the text stands for those flags
        findings = [finding for finding in findings if finding.rule != "old-version"]
    if kube_scheduler:
        findings += _own_plugins(judged, registry)
        findings += _ignored_flags(source, judged, release)
        if not of_flags and is_older(judged.reading.document):
            findings += _older_errors(source, registry, find_plugins(plugins, release=release))
    is_kept = not (error and judged.reading.is_converted)
    return _checked(source, error, judged.configuration if is_kept else None, findings)


def _checked(
    source: ConfigSource, error: str, configuration: KubeSchedulerConfiguration | None, findings: list[Finding]
) -> Checked:
    """Everything that is found, each with its line, but no advice on a field that kube-scheduler rejects."""
    places = locate(source.text)
    silences = read_silences(source.text, places.root.line)
    rejected = {finding.path for finding in findings if finding.severity == "error"}
    kept = [finding for finding in findings if finding.severity == "error" or finding.path not in rejected]
    if all(finding.stage is not ReadingStage.SYNTAX for finding in findings):
        kept += [ignored_document(place.line, place.column) for place in places.documents[1:2]]
    checked = Checked(error, configuration, places, silences).with_further((*kept, *silences.findings))
    if error and not checked.has_error:
        message, _, advice = error.partition("\n  ")
        checked = checked.with_further([Finding("rejected", "", message, advice)])
    return checked


def ignored_document(line: int = 0, column: int = 0) -> Finding:
    """That another document of the file is not read.

    Args:
        line, column: where it begins, if that is not the beginning of the text.
    """
    message = "the file has another document before this one, and kube-scheduler reads only the first"
    return Finding("ignored-document", "", message, "put everything into one document, or into two files", line, column)


def _converting(source: ConfigSource) -> ToV1:
    """Converts an older version; what it needs and cannot be read is a fault of the configuration."""
    older = older_versions(source, lambda _: None)

    def to_v1(document: Any, text: str) -> Any:
        try:
            return older.to_v1(document, text)
        except InputError as error:
            raise ConfigError(str(error)) from None

    return to_v1


def _older_errors(source: ConfigSource, registry: Registry, with_legacy: Registry) -> list[Finding]:
    """What keeps a configuration of an older version from being converted, and what is wrong with the result.

    Args:
        registry: the plugins of the scheduler that is to read the result.
        with_legacy: these, and the ones that kube-scheduler no longer has.
    """
    errors = _errors(judge(source, with_legacy, _converting(source)))
    if not errors:  # only what is valid can do without legacy plugins
        older, args_types = older_versions(source, lambda _: None), with_legacy.args_types
        try:
            document = convert_configuration(source, older, args_types=args_types, kube_scheduler=True).document
        except InputError as error:
            return [not_convertible(error)]
        errors = _errors(judge(source, registry, lambda _document, _text: document))
    return errors


def _errors(judged: Judged) -> list[Finding]:
    """The errors of a conversion, without those of the text."""
    return [finding for finding in judged.located if finding.severity == "error" and not finding.line]


def _own_plugins(judged: Judged, registry: Registry) -> Iterator[Finding]:
    """The plugins that the file names and that are known only because the user brings or has installed them."""
    for i, profile in enumerate(judged.configuration.profiles if judged.configuration else ()):
        document = profile_document(judged.reading.document, i)
        for plugin in registry.those(profile.plugins.enabled_names):
            entries = (
                entry_path(document, f"plugins.{point}.enabled", plugin.name) for point in profile.plugins.by_point()
            )
            if plugin.origin != IN_TREE and (entry := next(filter(None, entries), "")):
                message = f"{plugin.name} comes from {plugin.origin}; a stock kube-scheduler does not have it"
                advice = "kube-scheduler needs a plugin of this name in Go; `kubesched scheduler` runs yours"
                yield Finding("own-plugin", f"profiles[{i}].{entry}.name", message, advice)


def _ignored_flags(source: ConfigSource, judged: Judged, release: Release) -> Iterator[Finding]:
    if judged.configuration is not None:
        findings = ignored_flag_findings(source.ignored_flags, effective(judged.configuration, release))
        yield from (finding for finding in findings if not judged.reading.is_broken(finding.path))


def flag_findings(unknown: Iterable[str], *, has_file: bool) -> Iterator[Finding]:
    """One finding for each flag that kube-scheduler does not have, in its words.

    Args:
        has_file: whether the command line has --config, beside which such a flag had no effect.
    """
    for flag in unknown:
        advice = _advice(flag, has_file)
        yield Finding("unknown-flag", "", f"unknown flag: --{flag}", advice, stage=ReadingStage.COMMAND_LINE)


def ignored_flag_findings(flags: Iterable[FieldFlag], effective: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each flag that would change the configuration, and has no effect beside --config.

    Rule: kube-scheduler v1.36: --config makes --kubeconfig, --profiling, --contention-profiling and --kube-api-*
    ineffective.

    Args:
        effective: the configuration in the file, with all defaults.
    """
    for flag in flags:
        counts = dig(effective, *flag.field.split("."))
        if counts != flag.value:
            pod = ", the service account of its pod" if flag.name == "kubeconfig" and not counts else ""
            yield Finding(
                "ignored-flag",
                flag.field,
                f"--{flag.name} has no effect beside --config",
                f"kube-scheduler uses {flag.field} of the file: {json.dumps(counts)}{pod}; write "
                f"{flag.field}: {json.dumps(flag.value)} there if you need it, and remove the flag",
            )


def _advice(flag: str, has_file: bool) -> str:
    if flag not in REPLACED_FLAGS:
        return did_you_mean(flag, FLAGS) or "remove it"
    if has_file:
        return "earlier versions had it, without effect beside --config; remove it"
    return (
        'earlier versions had it; "kubesched config convert" prints a file that says the same: give it to --config, '
        "and remove the flag"
    )
