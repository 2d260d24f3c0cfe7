"""`kubesched scheduler`: schedule the pods of a live cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kubesched.cli.cluster import note
from kubesched.cli.endpoints import endpoint_flags, endpoint_options
from kubesched.cli.ignored_flags import given_ignored_flags, ignored_flags
from kubesched.cli.leader_election import given_fields, leader_election_options
from kubesched.cli.options import Seconds, refuse_options_before, setup_options
from kubesched.cli.output import print_verbatim
from kubesched.cli.scheduler_differences import differences
from kubesched.errors import InputError, LeaseLostError
from kubesched.version import VERSION, VERSION_TEXT

if TYPE_CHECKING:
    from kubesched.config import KubeSchedulerConfiguration
    from kubesched.live import LiveScheduler
    from kubesched.shadow import Shadow

_ATTEMPTS, _DEBUG = 2, 4  # from these verbosities on


class Verbosity(click.ParamType[int]):
    """A number after `-v`, `-v=` or `--v=`."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        text = str(value).removeprefix("=")
        if not text.isdigit():
            self.fail(f"{text!r} is not a number", param, ctx)
        return int(text)


def _print_version(ctx: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Print the version, and exit, unless the flag is false or not given."""
    if value in ("true", "raw"):
        print_verbatim(f"{VERSION_TEXT}\n")
        ctx.exit()


@click.group(invoke_without_command=True)
@ignored_flags
@setup_options
@click.option("--kubeconfig", metavar="FILE", help="The cluster. In a pod, the cluster that it runs in.")
@click.option("--context", default="", metavar="NAME", help="Context in the kubeconfig.")
@click.option("--master", default="", metavar="URL", help="API server, instead of the one in the kubeconfig.")
@click.option("--in-cluster", is_flag=True, help="The cluster that this pod runs in.")
@click.option(
    "--tie-break",
    type=click.Choice(["upstream", "first", "random"]),
    default="upstream",
    show_default=True,
    help="Which of several equally good nodes to take.",
)
@click.option(
    "--pod-max-in-unschedulable-pods-duration",
    "max_in_unschedulable",
    type=Seconds(),
    default="5m",
    show_default=True,
    help="Time after which an unschedulable pod is retried without an event.",
)
@click.option("--dry-run", is_flag=True, help="Log each decision, and write nothing. Rights to read are enough.")
@click.option(
    "--shadow",
    is_flag=True,
    help="Compare each binding of another scheduler with our decision, and write nothing. Rights to read are enough.",
)
@click.option(
    "--shadow-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="With --shadow: a folder for disagreements and for snapshots that `kubesched explain` opens.",
)
@click.option(
    "--replace",
    "replaces",
    is_flag=True,
    help="Replace kube-scheduler: serve default-scheduler although another scheduler does, and share kube-scheduler's "
    "Lease so that only one of the two schedules.",
)
@leader_election_options
@endpoint_flags
@click.option(
    "--feature-gates",
    metavar="NAME=BOOL,...",
    multiple=True,
    help="Gates of kube-scheduler. Only their defaults are supported.",
)
@click.option(
    "--write-config-to",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the configuration with all defaults, and exit.",
)
@click.option(
    "-v",
    "--v",
    "verbosity",
    type=Verbosity(),
    help="2 logs each attempt of a pod, 4 is LOG_LEVEL=debug.",
)
@click.option(
    "--version",
    type=click.Choice(["true", "raw", "false"]),
    is_flag=False,
    flag_value="true",
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version, and exit.",
)
@click.option("--log-json", is_flag=True, help="Log JSON lines. LOG_LEVEL is debug, info, warning or error.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", help="json: as --log-json.")
@click.pass_context
def scheduler(
    ctx: click.Context,
    /,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    kubeconfig: str | None,
    context: str,
    master: str,
    in_cluster: bool,
    tie_break: str,
    max_in_unschedulable: float,
    dry_run: bool,
    shadow: bool,
    shadow_dir: Path | None,
    replaces: bool,
    feature_gates: tuple[str, ...],
    write_config_to: Path | None,
    verbosity: int | None,
    log_json: bool,
    logging_format: str,
    **flags: Any,
) -> None:
    """Schedule the pods of a live cluster, in place of kube-scheduler or beside it.

    \b
    Examples:
      kubesched scheduler --config scheduler.yaml
      kubesched scheduler --kubeconfig ~/.kube/config --plugin team_zone.py:TeamZone
      kubesched scheduler --config scheduler.yaml --kubeconfig ~/.kube/config --dry-run
      kubesched scheduler --config scheduler.yaml --kubeconfig ~/.kube/config --shadow
      kubesched scheduler manifests --image registry.example.com/kubesched:1

    Further flags of kube-scheduler v1.36 are accepted and ignored, with a note.
    """  # noqa: D301
    if ctx.invoked_subcommand is not None:
        refuse_options_before(ctx, ctx.invoked_subcommand)
        return
    if dry_run and shadow:
        raise click.UsageError("--dry-run and --shadow are mutually exclusive")
    if shadow_dir is not None and not shadow:
        raise click.UsageError("--shadow-dir needs --shadow")
    import logging
    import os

    from kubesched.signals import ending_on_signals, ignoring_sigusr2, run_until_told

    ctx.with_resource(ignoring_sigusr2())
    from kubesched.config import check_feature_gates
    from kubesched.live import ATTEMPT_LOG, SchedulerOptions, with_kubeconfig
    from kubesched.programs import lease_note, schedule_until_told, set_up_scheduler
    from kubesched.scheduler import TieBreak
    from kubesched.serving import set_up_logging
    from kubesched.shadow import run_shadow

    environ = dict(os.environ)
    if verbosity is not None:
        environ["LOG_LEVEL"] = "debug" if verbosity >= _DEBUG else "info"
    is_json = log_json or logging_format == "json"
    set_up_logging(environ, as_json=is_json)
    report = logging.getLogger("kubesched.scheduler").info if is_json else note  # readers of JSON lines read every line
    if verbosity is not None and verbosity >= _ATTEMPTS:
        ATTEMPT_LOG.setLevel("DEBUG")
    ignored_gates = check_feature_gates(feature_gates)
    election = {name: flags.pop(name) for name in list(flags) if name.startswith("leader_elect")}
    endpoints = endpoint_options(**flags)
    setup = set_up_scheduler(config, references, plugin_args, replaces=replaces, election=given_fields(**election))
    options: SchedulerOptions = SchedulerOptions(
        kubeconfig=kubeconfig or "",
        context=context,
        master=master,
        in_cluster=in_cluster,
        tie_break=TieBreak(tie_break),
        max_in_unschedulable=max_in_unschedulable,
        endpoints=endpoints,
        dry_run=dry_run,
        replaces=replaces,
    )
    told = differences(setup, options, given_ignored_flags(), ignored_gates=ignored_gates, is_shadow=shadow)
    notes = [f"differs from kube-scheduler: {difference}" for difference in told]
    if write_config_to is not None:
        _write_configuration(setup.configuration, write_config_to)
        for text in notes:
            note(text)
        return
    if not (dry_run or shadow) and (text := lease_note(setup, "give --replace")):
        notes.append(text)

    def on_started() -> None:  # not before: an error at the start is the only message
        for text in notes:
            report(text)

    def on_ready(live: "LiveScheduler | Shadow") -> None:
        what = "compares bindings" if shadow else "decides in a dry run for pods" if dry_run else "schedules pods"
        names = ", ".join(profile.scheduler_name for profile in setup.profiles)
        report(f"kubesched {VERSION} {what} of {names} on {live.cluster_state.columns.n_nodes} nodes")

    async def compare_bindings() -> bool:
        explain = _explain_options(config, references, plugin_args)
        with ending_on_signals() as ending:
            await run_shadow(
                setup,
                with_kubeconfig(options, setup),
                shadow_dir,
                explain,
                stop=ending.stop,
                on_started=on_started,
                on_ready=on_ready,
            )
        return ending.is_interrupted

    try:
        if shadow:
            is_interrupted = run_until_told(compare_bindings())
        else:
            is_interrupted = schedule_until_told(setup, options, on_started=on_started, on_ready=on_ready)
    except LeaseLostError:  # the log says so; the kubelet starts the process again
        raise click.exceptions.Exit(1) from None
    if is_interrupted:
        raise click.Abort


def _explain_options(config: Path | None, references: tuple[str, ...], plugin_args: Mapping[str, str]) -> list[str]:
    """The options with which `kubesched explain` decides as this command does."""
    options = [] if config is None else ["--config", str(config)]
    options += [word for reference in references for word in ("--plugin", reference)]
    return options + [word for name, file in plugin_args.items() for word in ("--plugin-args", f"{name}={file}")]


def _write_configuration(configuration: "KubeSchedulerConfiguration", file: Path) -> None:
    from kubesched.config import effective
    from kubesched.documents import write_yaml

    try:
        file.write_text(write_yaml(effective(configuration)))
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror}); give a file that can") from error
    note(f"Wrote configuration to {file}")


def _attach() -> None:
    from kubesched.cli.scheduler_manifests import manifests

    scheduler.add_command(manifests)


_attach()
