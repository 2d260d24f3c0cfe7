"""Arguments and options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from kubesched.cli.bad_input import BadInput
from kubesched.cli.completion import complete_files
from kubesched.cli.general_options import GENERAL
from kubesched.cli.live_cluster import live_source_options
from kubesched.cli.plugins import plugin_option

if TYPE_CHECKING:
    from kubesched.config import ExtenderManagedResource

F = TypeVar("F", bound=Callable[..., Any])

_path: Final = click.Path(path_type=Path)


class Seconds(click.ParamType[float]):
    """A duration as configurations have it, `5s`, or a number of seconds."""

    name = "DURATION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        from kubesched.config import parse_duration

        if isinstance(value, int | float):
            return float(value)
        try:
            seconds = float(parse_duration(f"{value}s" if _is_number(value) else value))
        except ValueError:
            self.fail(f"{value!r} is not a duration; write it like 5s, 500ms or 1m30s", param, ctx)
        if seconds <= 0:
            self.fail(f"{value!r} must be more than 0", param, ctx)
        return seconds


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def common_names(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """--client-cn: common names, none of them empty."""
    for value in values:
        if not value.strip():
            advice = "give the common name of a client certificate, such as system:kube-scheduler"
            raise click.BadParameter(f"found {value!r}; {advice}")
    return values


def preemption_helps_option(command: F) -> F:
    """--preemption-helps: what kube-scheduler does with nodes that a plugin rejects."""
    return click.option(
        "--preemption-helps",
        is_flag=True,
        help="Let kube-scheduler try preemption on nodes that a plugin rejects as UNSCHEDULABLE. Without this option "
        "it does so only if the plugin defines preempt.",
    )(command)


def managed_resource_option(command: F) -> F:
    """--managed-resource: the `managedResources` of the extender's stanza."""
    return click.option(
        "--managed-resource",
        "managed_resources",
        metavar="NAME[=ignored]",
        multiple=True,
        callback=_managed_resources,
        help="Call the extender only for pods that request this extended resource. With =ignored, "
        "kube-scheduler's NodeResourcesFit does not check the resource. Repeatable.",
    )(command)


def _managed_resources(
    context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple["ExtenderManagedResource", ...]:
    """The resources, with names that kube-scheduler accepts."""
    from kubesched.config import ExtenderManagedResource, error_of, field_finding, managed_resource_errors

    resources: dict[str, ExtenderManagedResource] = {}
    errors = []
    for value in values:
        name, sign, treatment = value.partition("=")
        if sign and treatment != "ignored":
            raise click.BadParameter(f"found {value!r}; write NAME or NAME=ignored, such as example.com/gpu=ignored")
        errors += managed_resource_errors("--managed-resource", name, resources)
        resources[name] = ExtenderManagedResource(name=name, ignored_by_scheduler=bool(sign))
    if errors:
        raise BadInput(str(error_of(map(field_finding, errors))))
    return tuple(resources.values())


def snapshots_argument(command: F) -> F:
    """SNAPSHOT...: the files to read the cluster from; none for the live cluster."""
    return click.argument("snapshots", metavar="[SNAPSHOT...]", nargs=-1, shell_complete=complete_files)(command)


def skip_bad_objects_option(command: F) -> F:
    """--skip-bad-objects."""
    return click.option(
        "--skip-bad-objects",
        is_flag=True,
        help="Skip and count objects that do not decode, instead of stopping.",
    )(command)


def snapshot_options(command: F) -> F:
    """SNAPSHOT..., --skip-bad-objects, --kubeconfig, --context: the arguments of `read_cluster` without manifests."""
    return snapshots_argument(skip_bad_objects_option(live_source_options(command)))


def cluster_options(command: F) -> F:
    """SNAPSHOT..., --manifest, --skip-bad-objects: the arguments of `read_cluster`; also --kubeconfig and --context."""
    for decorate in (
        click.option(
            "--manifest",
            "manifests",
            metavar="FILE",
            multiple=True,
            shell_complete=complete_files,
            help="Add new objects that are not in the cluster yet: Pods, Deployments, Jobs and so on. Repeatable.",
        ),
        snapshot_options,
    ):
        command = decorate(command)
    return command


def setup_options(command: F) -> F:
    """--config, --plugin, --plugin-args: the arguments of `read_setup`."""
    return _with_setup(
        command,
        "KubeSchedulerConfiguration of any version or Policy, also in a ConfigMap, Helm values or the manifest of a "
        "scheduler.  [default: kube-scheduler's defaults]",
    )


def extenders_option(command: F) -> F:
    """--extenders: whether to call the extenders of the configuration; the argument of `extender_calls`."""
    return click.option(
        "--extenders",
        type=click.Choice(["call", "skip"]),
        default="skip",
        show_default=True,
        help="Whether to call the filter, prioritize and preempt verbs of the extenders in the configuration. Their "
        "bind verb is never called.",
    )(command)


def tie_options(command: F) -> F:
    """--tie-break and --seed: which of equally good nodes is taken."""
    for decorate in (
        click.option(
            "--seed",
            type=int,
            metavar="N",
            default=0,
            callback=_seed,
            help="Random seed, for random ties and for the search of preemption.",
        ),
        click.option(
            "--tie-break",
            type=click.Choice(["upstream", "first", "random"]),
            default="first",
            show_default=True,
            is_eager=True,
            help="Which node to take if several have the highest score: kube-scheduler's choice, the first in the "
            "snapshot, or a random one.",
        ),
    ):
        command = decorate(command)
    return command


def _seed(context: click.Context, option: click.Parameter, value: int) -> int:
    """The seed, which random ties need."""
    is_given = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
    if context.params.get("tie_break") == "random" and not is_given:
        raise click.UsageError("--tie-break random needs --seed N, so that the run can be repeated")
    return value


def beside_scheduler_options(command: F) -> F:
    """The same options where kube-scheduler runs the default plugins itself, and --skip-plugin."""
    command = click.option(
        "--skip-plugin",
        "skipped",
        multiple=True,
        metavar="NAME",
        help="A plugin that --config enables and that kube-scheduler runs itself, such as one in Go. Repeatable.",
    )(command)
    return _with_setup(
        command,
        "KubeSchedulerConfiguration of any version, or a Policy: of the plugins that its profiles enable, those that "
        "kube-scheduler v1.36 does not have, and their arguments. [default: one profile with the plugins of --plugin]",
    )


def _with_setup(command: F, config_help: str) -> F:
    return click.option("--config", type=_path, metavar="FILE", help=config_help)(plugin_options(command))


def plugin_options(command: F) -> F:
    """--plugin, --plugin-args: the plugins of the user."""
    for decorate in (
        click.option(
            "--plugin-args",
            "plugin_args",
            metavar="NAME=FILE",
            multiple=True,
            callback=_split,
            help="Arguments of a plugin, in YAML or JSON, if the configuration has none for it. Repeatable.",
        ),
        plugin_option,
    ):
        command = decorate(command)
    return command


def _split(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=FILE as a mapping."""
    files: dict[str, str] = {}
    for value in values:
        name, _, file = value.partition("=")
        if not name or not file:
            raise click.BadParameter(f"found {value!r}; write NAME=FILE, such as TeamZone=team_zone.yaml")
        if name in files:
            raise click.BadParameter(f"{name} is given twice; one file holds all arguments of a plugin")
        files[name] = file
    return files


def refuse_options_before(ctx: click.Context, subcommand: str) -> None:
    """Reject options of a command before a subcommand; its own options come after its name."""
    for param in ctx.command.params:
        if param not in GENERAL and ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{param.opts[0]} is before {subcommand}; write options of {subcommand} after it")
