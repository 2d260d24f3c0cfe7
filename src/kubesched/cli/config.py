"""`kubesched config`: check a KubeSchedulerConfiguration, show it with all defaults, compare two, convert to v1."""

import json
from pathlib import Path
from typing import Final

import click

from kubesched.cli.config_check import check
from kubesched.cli.config_diff import diff
from kubesched.cli.config_sources import files_argument, reader_option, sources_in, under_names
from kubesched.cli.output import output_option, print_verbatim
from kubesched.cli.plugins import plugin_option
from kubesched.cli.reading_release import reading_release
from kubesched.cli.release_options import reader_version_options

_LOSSY: Final = 3


@click.group()
def config() -> None:
    """Check, show, compare and convert KubeSchedulerConfiguration files."""


config.add_command(check)
config.add_command(diff)


@config.command()
@files_argument
@plugin_option
@reader_option
@reader_version_options
@output_option("yaml", "json", help="Format of the configuration.")
def show(
    files: tuple[Path, ...],
    references: tuple[str, ...],
    reader: str,
    kubernetes_version: str | None,
    feature_gates: tuple[str, ...],
    output: str,
) -> None:
    """Print FILE as the effective configuration, with all defaults.

    Every default of the version is filled in, and the plugins of each profile are merged with the default ones, as
    kube-scheduler's --write-config-to prints it; with --for kubesched, with its Lease. Passwords and private keys are
    printed as ***. Plugins given with --plugin are enabled if no profile names them. A FILE of an older version, or a
    Policy, is converted first, with a note. Exits with 2 if FILE is not valid.

    FILE can also be a ConfigMap, Helm values, or a Pod or workload that runs a scheduler, with what it names; - reads
    standard input. Several configurations are printed as YAML documents, or as a JSON array.
    `kubesched config diff` prints only what differs from the defaults.
    """
    from kubesched.config import effective, without_secrets
    from kubesched.documents import write_yaml
    from kubesched.setup import set_up

    release = reading_release(kubernetes_version, feature_gates)
    read = [(source, set_up(source, references, release=release)) for source in sources_in(files, reader)]
    shown = [(source, without_secrets(effective(setup.configuration, release))) for source, setup in read]
    if output == "json":
        documents = [document for _, document in shown]
        print_verbatim(json.dumps(documents if len(documents) > 1 else documents[0], indent=2) + "\n")
    else:
        print_verbatim(under_names((source, write_yaml(document)) for source, document in shown).rstrip() + "\n")


@config.command()
@files_argument
@plugin_option
@reader_option
def convert(files: tuple[Path, ...], references: tuple[str, ...], reader: str) -> None:
    """Print FILE as KubeSchedulerConfiguration v1 with the same meaning.

    FILE is a KubeSchedulerConfiguration of any version from v1alpha1 on, or a Policy, alone or in what `kubesched
    config show` reads; - reads standard input. Comments name what has changed. A v1 configuration is printed as it is;
    for kube-scheduler, without legacy plugins. Several configurations are printed as YAML documents. Exits with 3 if
    something has no equivalent any more, and with 2 if FILE is not valid.
    """
    from kubesched.setup import convert_text

    converted = [
        (source, *convert_text(source, references, kube_scheduler=reader == "kube-scheduler"))
        for source in sources_in(files)
    ]
    text = under_names((source, text) for source, text, _ in converted)
    print_verbatim(text if text.endswith("\n") else f"{text}\n")
    if any(is_lossy for _, _, is_lossy in converted):
        raise click.exceptions.Exit(_LOSSY)
