"""Arguments and options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from kubesched.cli.plugins import plugin_option

__all__ = ["cluster_options", "setup_options"]

F = TypeVar("F", bound=Callable[..., Any])

_path: Final = click.Path(path_type=Path)


def cluster_options(command: F) -> F:
    """SNAPSHOT..., --manifest, --skip-bad-objects: the arguments of `read_cluster`."""
    for decorate in (
        click.option(
            "--skip-bad-objects",
            is_flag=True,
            help="Leave out objects that do not decode, and count them, instead of stopping.",
        ),
        click.option(
            "--manifest",
            "manifests",
            metavar="FILE",
            multiple=True,
            help="Add Pods, Deployments, Jobs and the like that no API server has seen. Repeatable.",
        ),
        click.argument("snapshots", metavar="SNAPSHOT...", nargs=-1, required=True),
    ):
        command = decorate(command)
    return command


def setup_options(command: F) -> F:
    """--config, --plugin, --plugin-args: the arguments of `read_setup`."""
    for decorate in (
        click.option(
            "--plugin-args",
            "plugin_args",
            metavar="NAME=FILE",
            multiple=True,
            callback=_split,
            help="Arguments of a plugin, where the configuration has none for it. YAML or JSON; repeatable.",
        ),
        plugin_option,
        click.option(
            "--config",
            type=_path,
            metavar="FILE",
            help="KubeSchedulerConfiguration; kube-scheduler's defaults without it.",
        ),
    ):
        command = decorate(command)
    return command


def _split(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=FILE as a mapping."""
    found: dict[str, str] = {}
    for value in values:
        name, _, file = value.partition("=")
        if not name or not file:
            raise click.BadParameter(f"found {value!r}; write NAME=FILE, such as TeamZone=team_zone.yaml")
        if name in found:
            raise click.BadParameter(f"{name} is given twice; one file holds all arguments of a plugin")
        found[name] = file
    return found
