"""`kubesched config`: check a KubeSchedulerConfiguration, show it with all defaults, convert older versions to v1."""

import json
import sys
from pathlib import Path
from typing import Final

import click

from kubesched.cli.bad_input import refuse_bad_input
from kubesched.cli.config_check import check
from kubesched.cli.output import output_option
from kubesched.cli.plugins import plugin_option

_LOSSY: Final = 3
_file_argument = click.argument("file", type=click.Path(path_type=Path))


@click.group()
def config() -> None:
    """Check, show and convert KubeSchedulerConfiguration files."""


config.add_command(check)


@config.command()
@_file_argument
@plugin_option
@output_option("yaml", "json", help="Format of the configuration.")
def show(file: Path, references: tuple[str, ...], output: str) -> None:
    """Print FILE as the effective configuration, with all defaults.

    Every default is filled in, and the plugins of each profile are merged with the default ones, as
    kube-scheduler's --write-config-to prints it. Plugins given with --plugin are enabled if no profile names them.
    Exits with 2 if kube-scheduler would not accept FILE.
    """
    from kubesched.config import effective
    from kubesched.documents import write_yaml
    from kubesched.setup import set_up

    with refuse_bad_input():
        shown = effective(set_up(file, references, only_v1=True).configuration)
    click.echo(json.dumps(shown, indent=2) if output == "json" else write_yaml(shown).rstrip())


@config.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@plugin_option
@click.option(
    "--for",
    "reader",
    type=click.Choice(["kube-scheduler", "kubesched"]),
    default="kube-scheduler",
    show_default=True,
    help="The scheduler that is to read the file. Only kubesched has legacy plugins, such as SelectorSpread.",
)
def convert(file: Path, references: tuple[str, ...], reader: str) -> None:
    """Print FILE as KubeSchedulerConfiguration v1 with the same meaning.

    FILE is a KubeSchedulerConfiguration of any version from v1alpha1 on, or a Policy; - reads standard input. A v1 file
    is printed as it is. Comments name what has changed. Exits with 3 if something has no equivalent any more, and with
    2 if FILE is not valid.
    """
    from kubesched.setup import convert_text

    source = sys.stdin.buffer.read() if str(file) == "-" else file
    with refuse_bad_input():
        text, is_lossy = convert_text(source, references, kube_scheduler=reader == "kube-scheduler")
    click.echo(text, nl=not text.endswith("\n"))
    if is_lossy:
        raise click.exceptions.Exit(_LOSSY)
