"""`kubesched config`: check a KubeSchedulerConfiguration, and show it with all defaults."""

import json
from pathlib import Path

import click

from kubesched.cli.bad_input import refuse_bad_input
from kubesched.cli.output import output_option
from kubesched.cli.plugins import plugin_option
from kubesched.errors import ConfigError

_file_argument = click.argument("file", type=click.Path(path_type=Path))


@click.group()
def config() -> None:
    """Check and show KubeSchedulerConfiguration files."""


@config.command()
@_file_argument
@plugin_option
@output_option("text", "json", help="Format of the findings.")
def check(file: Path, references: tuple[str, ...], output: str) -> None:
    """Check whether kube-scheduler v1.36 would accept FILE.

    Exits with 0 if it would. Exits with 1 if it would not, and prints what kube-scheduler would print, with our help on
    indented lines. Exits with 2 if FILE cannot be read or a plugin cannot be loaded. The command does not check files
    that FILE refers to, such as a kubeconfig.
    """
    from kubesched.setup import set_up

    with refuse_bad_input():
        try:
            set_up(file, references, only_v1=True)
        except ConfigError as error:
            message, *advice = str(error).split("\n  ")
            click.echo(_as_json(message, advice) if output == "json" else str(error))
            raise click.exceptions.Exit(1) from None
    click.echo(_as_json(None, []) if output == "json" else f"{file}: accepted")


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


def _as_json(error: str | None, advice: list[str]) -> str:
    return json.dumps({"accepted": error is None, "error": error, "help": advice}, indent=2, sort_keys=True)
