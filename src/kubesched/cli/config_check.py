"""`kubesched config check`: what kube-scheduler prints, and what a reviewer should know, with line and column."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kubesched.cli.config_sources import files_argument, reader_option, sources_in
from kubesched.cli.output import print_document, print_text
from kubesched.cli.plugins import plugin_option
from kubesched.cli.reading_release import reading_release
from kubesched.cli.release_options import reader_version_options
from kubesched.cli.reports import note_versions, print_report, report_output_option
from kubesched.errors import InputError

if TYPE_CHECKING:
    from kubesched.config import ConfigSource, Finding
    from kubesched.pages.configurations import CheckedFile
    from kubesched.review import Checked


@click.command()
@files_argument
@plugin_option
@report_output_option("sarif", "github", default="text")
@reader_option
@reader_version_options
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option(
    "--probe", is_flag=True, help="Also call each verb of each configured extender, for a pod that does not exist."
)
def check(
    files: tuple[Path, ...],
    references: tuple[str, ...],
    output: str,
    reader: str,
    kubernetes_version: str | None,
    feature_gates: tuple[str, ...],
    strict: bool,
    probe: bool,
) -> None:
    """Check whether kube-scheduler (or, with --for, kubesched) would accept each FILE, and review it.

    --kubernetes-version says which kube-scheduler. A field, plugin or extension point of a later version is an error.

    Prints what kube-scheduler would print, with our help on indented lines, then every finding with its line: errors,
    which kube-scheduler rejects, and warnings and notes on what is accepted but risky. A comment `# kubesched: ignore
    RULE` silences a warning or note on its line and the next one, or in the whole file above the first key.

    FILE can also be a ConfigMap, Helm values, or a Pod or workload that runs a scheduler, with what it names; - reads
    standard input. Exits with 0 if kube-scheduler accepts all configurations, with 1 if it does not. Exits with 2 if a
    file cannot be read or a plugin cannot be loaded. The command does not check files that FILE refers to, such as a
    kubeconfig.

    With --probe, exits with 1 also if an extender does not answer, or not as the protocol demands. Its bind verb is
    called for a pod default/kubesched-probe, which an extender cannot bind. Extenders of a configuration that is
    rejected are not called, and a note says so.
    """
    from kubesched.pages.configurations import CheckedFile, as_github, as_sarif, as_text, findings_page
    from kubesched.review import check_configuration

    release = reading_release(kubernetes_version, feature_gates)

    def check_one(source: "ConfigSource") -> "Checked":
        return check_configuration(source, references, kube_scheduler=reader == "kube-scheduler", release=release)

    every = [CheckedFile(source, check_one(source), release=release) for source in _sources(files, reader)]
    checked = _compared([_with_calls(file) if probe else file for file in every])
    failing = ("error", "warning") if strict else ("error",)
    if output == "sarif":
        print_document(as_sarif(checked))
    elif output in ("text", "github"):
        if output == "github":
            from kubesched.release import ReadingVersion

            note_versions([ReadingVersion(release)])
        for file in checked:
            print_text(as_text(file) if output == "text" else as_github(file), nl=False)
    else:
        print_report(findings_page(checked, failing), output)
    if any(finding.severity in failing for file in checked for finding in file.findings):
        raise click.exceptions.Exit(1)


def _sources(files: Iterable[Path], reader: str) -> "tuple[ConfigSource, ...]":
    """The configurations in the files; a single file with another object is judged itself, in kube-scheduler's words.

    Raises:
        InputError: there is none, as in a file with all objects of a chart.
    """
    from kubesched.config import ConfigSource, read_text
    from kubesched.documents import locate

    files = tuple(files)
    try:
        return sources_in(files, reader)
    except InputError as error:
        if len(files) != 1 or not str(error).startswith(f"{files[0]}: no scheduler configuration: "):
            raise
        text = read_text(files[0])
        if len(locate(text).documents) > 1:
            raise
    return (ConfigSource(str(files[0]), text, str(files[0])),)


def _with_calls(file: "CheckedFile") -> "CheckedFile":
    """The result with the calls of --probe."""
    from msgspec.structs import replace

    if file.checked.error:
        return file.with_further([_not_probed(file.checked)])
    calls, failed = _probed(file.checked)
    return replace(file, calls=calls).with_further(failed)


def _not_probed(checked: "Checked") -> "Finding":
    from kubesched.config import Finding

    is_older = any(finding.rule == "old-version" for finding in checked.findings)
    advice = "correct the errors first"
    if is_older:
        advice = "probe the output of `kubesched config convert FILE`, or this file with --for kubesched"
    return Finding("not-probed", "", "--probe called no extender, because the configuration is rejected", advice)


def _compared(checked: "list[CheckedFile]") -> "list[CheckedFile]":
    """The results with what only several configurations show together."""
    from kubesched.review import ignored_document, shared_leases

    configurations = {one.name: one.checked.configuration for one in checked if one.checked.configuration is not None}
    shared = shared_leases(configurations)
    compared, seen = [], set()
    for one in checked:
        further = shared.get(one.name, [])
        if one.source.is_verbatim and one.source.column == 1:  # a document of the file, not a text inside one
            further += [ignored_document()] if one.source.file in seen else []
            seen.add(one.source.file)
        compared.append(one.with_further(further))
    return compared


def _probed(checked: "Checked") -> tuple[list[dict[str, Any]], list["Finding"]]:
    """What became of each call, and a finding for each that failed."""
    import asyncio

    import msgspec

    from kubesched.config import Finding
    from kubesched.errors import ConfigError
    from kubesched.extender_client import probe

    calls, failed = [], []
    for i, extender in enumerate(checked.configuration.extenders if checked.configuration else ()):
        try:
            probed = asyncio.run(probe((extender,)))
        except ConfigError as error:
            failed.append(Finding("extender-probe", f"extenders[{i}]", str(error)))
            continue
        for call in probed:
            calls.append(msgspec.to_builtins(call))
            if call.error:
                path = f"extenders[{i}].{call.verb}Verb"
                failed.append(Finding("extender-probe", path, f"{call.url}: {call.error}"))
    return calls, failed
