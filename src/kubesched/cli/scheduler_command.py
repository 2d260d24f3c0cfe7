"""`kubesched scheduler`: schedule the pods of a live cluster."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kubesched.cli.cluster import note
from kubesched.cli.endpoints import endpoint_options
from kubesched.cli.ignored_flags import given_ignored_flags, ignored_flags
from kubesched.cli.inputs import SetupOptions, with_setup
from kubesched.cli.leader_election import leader_election_options
from kubesched.cli.options import deciding_options
from kubesched.cli.output import print_verbatim
from kubesched.cli.parameters import Command, Seconds, gathered, option_words
from kubesched.cli.program_version import program_version
from kubesched.cli.release_options import release_for
from kubesched.cli.scheduler_differences import differences
from kubesched.cli.scheduler_manifests import manifests
from kubesched.errors import InputError, LeaseLostError
from kubesched.version import VERSION

if TYPE_CHECKING:
    from kubesched.live import LiveScheduler, SchedulerOptions
    from kubesched.setup import Setup
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
        print_verbatim(f"{program_version()}\n")
        ctx.exit()


class Log(NamedTuple):
    """-v, --log-json and --logging-format."""

    verbosity: int | None
    log_json: bool
    logging_format: str

    def set_up(self) -> Callable[[str], None]:
        """Log as the options say. Returns: what takes notes; readers of JSON lines read every line."""
        import logging
        import os

        from kubesched.live import ATTEMPT_LOG
        from kubesched.serving import set_up_logging

        environ = dict(os.environ)
        if self.verbosity is not None:
            environ["LOG_LEVEL"] = "debug" if self.verbosity >= _DEBUG else "info"
        is_json = self.log_json or self.logging_format == "json"
        set_up_logging(environ, as_json=is_json)
        if self.verbosity is not None and self.verbosity >= _ATTEMPTS:
            ATTEMPT_LOG.setLevel("DEBUG")
        return logging.getLogger("kubesched.scheduler").info if is_json else note


def _ignoring_sigusr2(command: Command) -> Command:
    """Before anything is loaded: its default action would end the process."""

    @wraps(command)
    def call(*arguments: Any, **values: Any) -> Any:
        from kubesched.signals import ignoring_sigusr2

        with ignoring_sigusr2():
            return command(*arguments, **values)

    return call


@click.group(invoke_without_command=True)
@_ignoring_sigusr2
@with_setup
@ignored_flags
@deciding_options
@click.option("--kubeconfig", default="", metavar="FILE", help="The cluster. In a pod, the cluster that it runs in.")
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
@endpoint_options
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
@gathered("log", Log)
def scheduler(
    setup_options: SetupOptions,
    log: Log,
    election: Mapping[str, Any],
    shadow: bool,
    shadow_dir: Path | None,
    write_config_to: Path | None,
    tie_break: str,
    **fields: Any,
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
    from kubesched.live import SchedulerOptions
    from kubesched.programs import ask_version, lease_note
    from kubesched.scheduler import TieBreak

    options = SchedulerOptions(tie_break=TieBreak(tie_break), **fields)
    report = log.set_up()
    server = None if write_config_to else ask_version(setup_options.config, options)
    setup, notes = _deciding(setup_options, options, election, server, is_shadow=shadow)
    if write_config_to is not None:
        _write_configuration(setup, write_config_to)
        for text in notes:
            note(text)
        return
    if not (options.dry_run or shadow) and (text := lease_note(setup, "give --replace")):
        notes.append(text)
    run = _Run(setup, options, notes, report, not server and setup_options.kubernetes_version is None)
    try:
        is_interrupted = run.compare(shadow_dir, option_words(setup_options.given())) if shadow else run.schedule()
    except LeaseLostError:  # the log says so; the kubelet starts the process again
        raise click.exceptions.Exit(1) from None
    if is_interrupted:
        raise click.Abort


def _deciding(
    given: SetupOptions,
    options: "SchedulerOptions",
    election: Mapping[str, Any],
    server: str | None,
    *,
    is_shadow: bool,
) -> "tuple[Setup, list[str]]":
    """What decides, and how that differs from kube-scheduler.

    Args:
        server: what the API server says of its version; None where it is not asked.
    """
    from kubesched.config import read_feature_gates, without_effect
    from kubesched.live import start_sentence
    from kubesched.programs import set_up_scheduler
    from kubesched.snapshot import ClusterObjects, version_of

    cluster = ClusterObjects((), server_version=server or "")
    release, about_version = release_for(cluster, given, given.kubernetes_version)
    setup = set_up_scheduler(*given[:3], replaces=options.replaces, election=election, release=release)
    gates = without_effect(read_feature_gates(given.feature_gates, release))
    differing = differences(setup, options, given_ignored_flags(), ignored_gates=gates, is_shadow=is_shadow)
    if server is not None:
        about_it = about_version if given.kubernetes_version else version_of(cluster).note
        about_version = start_sentence(release, server, about_it)
    notes = [about_version] if about_version else []
    return setup, [*notes, *(f"differs from kube-scheduler: {difference}" for difference in differing)]


class _Run(NamedTuple):
    """A run until a signal asks for the end.

    Attributes:
        notes: what `report` gets when it has started; not before: an error at the start is the only message.
        checks_version: as for live.run_scheduler.
    """

    setup: "Setup"
    options: "SchedulerOptions"
    notes: Sequence[str]
    report: Callable[[str], None]
    checks_version: bool

    def schedule(self) -> bool:
        """Schedule. Returns: whether Ctrl-C was among the signals."""
        from kubesched.programs import schedule_until_told

        what = "decides in a dry run for pods" if self.options.dry_run else "schedules pods"
        on_ready = partial(self._on_ready, what)
        return schedule_until_told(
            self.setup,
            self.options,
            on_started=self._on_started,
            on_ready=on_ready,
            checks_version=self.checks_version,
        )

    def compare(self, folder: Path | None, explain_options: Sequence[str]) -> bool:
        """Compare bindings. Returns: whether Ctrl-C was among the signals."""
        from kubesched.live import with_kubeconfig
        from kubesched.shadow import run_shadow
        from kubesched.signals import ending_on_signals, run_until_told

        async def compare_bindings() -> bool:
            with ending_on_signals() as ending:
                await run_shadow(
                    self.setup,
                    with_kubeconfig(self.options, self.setup),
                    folder,
                    explain_options,
                    stop=ending.stop,
                    on_started=self._on_started,
                    on_ready=partial(self._on_ready, "compares bindings"),
                    checks_version=self.checks_version,
                )
            return ending.is_interrupted

        return run_until_told(compare_bindings())

    def _on_started(self) -> None:
        for text in self.notes:
            self.report(text)

    def _on_ready(self, what: str, live: "LiveScheduler | Shadow") -> None:
        names = ", ".join(profile.scheduler_name for profile in self.setup.profiles)
        self.report(f"kubesched {VERSION} {what} of {names} on {live.cluster_state.columns.n_nodes} nodes")


def _write_configuration(setup: "Setup", file: Path) -> None:
    from kubesched.config import effective
    from kubesched.documents import write_yaml

    try:
        file.write_text(write_yaml(effective(setup.configuration, setup.release)))
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror}); give a file that can") from error
    note(f"Wrote configuration to {file}")


scheduler.add_command(manifests)
