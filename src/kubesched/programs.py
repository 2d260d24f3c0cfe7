"""The scheduler and the extender as whole programs: logging, signals, exit codes. The commands run the same functions.

`run_scheduler` and `serve_extender` are for a `main()` that brings its plugins as classes.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import msgspec

from kubesched.config import (
    KUBE_SCHEDULER_LEASE,
    KubeSchedulerConfiguration,
    LeaderElectionFlags,
    dig,
    lease_name,
    parse_value,
    read_text,
)
from kubesched.documents import escape_controls
from kubesched.errors import ConfigError, InputError, KubeschedError, LeaseLostError, error_message
from kubesched.extender import Extender, ExtenderOptions, advice, run_extender
from kubesched.live import (
    LiveScheduler,
    SchedulerOptions,
    access_of,
    serves_default_scheduler,
    start_sentence,
    version_of_server,
    with_kubeconfig,
)
from kubesched.live import run_scheduler as run_live
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.serving import Server, only_json_lines, set_up_logging
from kubesched.setup import ArgsLike, ConfigurationLike, PluginLike, Setup, read_source, set_up
from kubesched.signals import ending_on_signals, ignoring_sigusr2, run_until_told
from kubesched.snapshot import ClusterObjects, version_of
from kubesched.version import VERSION

_BAD_INPUT: Final = 2
_LEASE_LOST: Final = 1
_INTERRUPTED: Final = 130
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_NO_ARGS: Final[Mapping[str, ArgsLike]] = {}
_NO_ELECTION: Final[Mapping[str, Any]] = {}
_SCHEDULER: Final[SchedulerOptions] = SchedulerOptions()
_EXTENDER: Final = ExtenderOptions()
_SCHEDULER_LOG: Final = logging.getLogger("kubesched.scheduler")
_EXTENDER_LOG: Final = logging.getLogger("kubesched.extender")


def run_scheduler(
    configuration: ConfigurationLike = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    options: SchedulerOptions = _SCHEDULER,
    release: Release | None = None,
    log_json: bool = False,
) -> None:
    """Schedule the pods of a live cluster until SIGTERM or Ctrl-C, as `kubesched scheduler` does.

    For the main thread of a process: it sets up logging (LOG_LEVEL names the level) and catches signals.

    Args:
        configuration, plugins, plugin_args: as for load_configuration. The configuration says how a leader is elected.
            The Lease is `kubesched` if the text of the configuration names none, and `kube-scheduler` with
            `options.replaces`. A KubeSchedulerConfiguration always names one.
        options: which cluster, and where health and metrics are served. By default, the cluster of the kubeconfig or of
            this pod, and the port 10259 of 127.0.0.1.
        release: the version of Kubernetes that decides; by default, that of the API server.
        log_json: log JSON lines. Standard error then has nothing else until the function returns; an exception that
            is not listed here ends the process with 1.
    Raises:
        SystemExit: 2 after invalid input, or if a plugin does not start, with one message on standard error; 1 after
            the lease is lost; 130 after Ctrl-C. After SIGTERM, the function returns.

    Example:
        def main() -> None:
            run_scheduler("scheduler.yaml", plugins=[TeamZone])
    """
    with _exit_codes(log_json=log_json), ignoring_sigusr2():
        set_up_logging(os.environ, as_json=log_json)
        server = ask_version(configuration, options)
        version = version_of(ClusterObjects((), server_version=server))
        setup = set_up_scheduler(
            configuration, plugins, plugin_args, replaces=options.replaces, release=release or version.release
        )

        def log_start() -> None:
            _SCHEDULER_LOG.info("%s", start_sentence(setup.release, server, "" if release else version.note))
            if not options.dry_run and (note := lease_note(setup, "set SchedulerOptions.replaces")):
                _SCHEDULER_LOG.info("%s", note)

        checks_version = not server and release is None
        if schedule_until_told(setup, options, on_started=log_start, checks_version=checks_version):
            raise KeyboardInterrupt


def serve_extender(
    configuration: ConfigurationLike = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    skipped: Iterable[str] = (),
    options: ExtenderOptions = _EXTENDER,
    log_json: bool = False,
) -> None:
    """Serve plugins to a stock kube-scheduler until SIGTERM or Ctrl-C, as `kubesched extender` does.

    For the main thread of a process, as run_scheduler.

    Args:
        configuration, plugins, plugin_args: as for load_configuration; the default plugins run in kube-scheduler.
        skipped: plugins of the configuration that kube-scheduler runs itself, such as one in Go.
        options: the port (8888 of 127.0.0.1 by default), and the cluster: `is_watched=True` watches one.
        log_json: as for run_scheduler.
    Raises:
        SystemExit: as run_scheduler, but for the lease.

    Example:
        def main() -> None:
            serve_extender(plugins=[TeamZone], options=ExtenderOptions(is_watched=True, kubeconfig="config"))
    """
    with _exit_codes(log_json=log_json):
        set_up_logging(os.environ, as_json=log_json)
        setup = set_up(configuration, plugins, plugin_args, default_plugins=False, skipped=skipped)
        if serve_until_told(setup, options):
            raise KeyboardInterrupt


@contextmanager
def _exit_codes(*, log_json: bool) -> Iterator[None]:
    """End the process as a command does; the message of an error is a log line where these are JSON."""
    with only_json_lines() if log_json else nullcontext():
        try:
            yield
        except LeaseLostError:  # the log says so
            raise SystemExit(_LEASE_LOST) from None
        except KubeschedError as error:
            if log_json:
                logging.getLogger("kubesched").error("%s", error)
            else:
                sys.stderr.write(f"{escape_controls(error_message(str(error)))}\n")
            raise SystemExit(_BAD_INPUT) from error
        except KeyboardInterrupt:
            raise SystemExit(_INTERRUPTED) from None


def ask_version(configuration: ConfigurationLike, options: SchedulerOptions) -> str:
    """Ask the API server for its version. Returns: what it says; empty where there is no such answer.

    The configuration may name the kubeconfig, whatever else it has: which version of it is read is not known yet.
    """
    if not options.kubeconfig:
        options = msgspec.structs.replace(options, kubeconfig=_kubeconfig_in(configuration))
    try:
        access = access_of(options)
    except ConfigError:  # raised again by the run
        return ""
    return asyncio.run(version_of_server(access))


def _kubeconfig_in(configuration: ConfigurationLike) -> str:
    if isinstance(configuration, KubeSchedulerConfiguration):
        return configuration.client_connection.kubeconfig
    source = configuration or b""
    try:
        source = read_source(Path(source)) if isinstance(source, str | os.PathLike) else source
        path = dig(parse_value(read_text(source)).value, "clientConnection", "kubeconfig")
    except KubeschedError:  # raised again by set_up
        return ""
    return path if isinstance(path, str) else ""


def set_up_scheduler(
    configuration: ConfigurationLike,
    plugins: Iterable[PluginLike],
    plugin_args: Mapping[str, ArgsLike],
    *,
    replaces: bool,
    election: Mapping[str, Any] = _NO_ELECTION,
    release: Release = DEFAULT_RELEASE,
) -> Setup:
    """Build the profiles of a live scheduler, with the Lease that `lease_name` explains.

    Args:
        replaces: whether it is to replace kube-scheduler.
        election: fields of LeaderElectionConfiguration that replace those of the file.
        release: the version of Kubernetes that decides.
    Raises:
        InputError: it replaces kube-scheduler without a profile for its pods; or a KubeSchedulerConfiguration has
            kube-scheduler's Lease although it does not; or the version allocates devices, and its API servers do not
            have the API in which claims are written.
    Rule: API servers have resource.k8s.io/v1 since v1.34.
    """
    if release.has("DynamicResourceAllocation") and release.before(34):
        raise InputError(
            f"{release}: a live scheduler writes claims as resource.k8s.io/v1, which API servers have since v1.34; "
            "leave the feature gate DynamicResourceAllocation off"
        )
    flags = LeaderElectionFlags(resource_name=lease_name(replaces=replaces), given=election)
    setup = set_up(configuration, plugins, plugin_args, flags=flags, release=release)
    names = [profile.scheduler_name for profile in setup.profiles]
    if replaces and not serves_default_scheduler(names):
        raise InputError(
            '--replace (in Python, SchedulerOptions.replaces) needs a profile "default-scheduler", which serves pods '
            "without a schedulerName; found only "
            f"{', '.join(names)}"
        )
    if isinstance(configuration, KubeSchedulerConfiguration) and not replaces and _lease(setup) == KUBE_SCHEDULER_LEASE:
        raise InputError(
            "leader_election.resource_name: found kube-scheduler, whose Lease kube-scheduler holds, so only one of the "
            f"two would schedule; give another name, such as {lease_name()}, or SchedulerOptions(replaces=True) to "
            "replace kube-scheduler"
        )
    return setup


def lease_note(setup: Setup, to_replace: str) -> str:
    """Which Lease decides who schedules, and what to change if that is not meant; "" without leader election.

    Args:
        to_replace: what to do to replace kube-scheduler, which only a scheduler of default-scheduler can do.
    """
    lease = _lease(setup)
    if not lease:
        return ""
    text = f"leader election on the Lease {'/'.join(lease)}"
    is_default = serves_default_scheduler(profile.scheduler_name for profile in setup.profiles)
    if lease == KUBE_SCHEDULER_LEASE and not is_default:
        return f"{text}, kube-scheduler's: only one of the two schedules; set another leaderElection.resourceName"
    if lease[1] != lease_name():
        return text
    if is_default:
        return f"{text}, not kube-scheduler's: to replace kube-scheduler, {to_replace}"
    return f"{text}: beside another kubesched with this Lease, set a separate leaderElection.resourceName"


def _lease(setup: Setup) -> tuple[str, ...]:
    """Namespace and name; empty without leader election."""
    election = setup.configuration.leader_election
    return (election.resource_namespace, election.resource_name) if election.leader_elect else ()


def schedule_until_told(
    setup: Setup,
    options: SchedulerOptions,
    *,
    on_started: Callable[[], None] = lambda: None,
    on_ready: Callable[[LiveScheduler], None] | None = None,
    checks_version: bool = False,
) -> bool:
    """Schedule until a signal asks for the end.

    Args:
        on_started, on_ready, checks_version: as for live.run_scheduler; by default, a log line says that the scheduler
            is ready.
    Returns: whether Ctrl-C was among the signals.
    Raises:
        LeaseLostError, KubeschedError: as live.run_scheduler.
    """
    options = with_kubeconfig(options, setup)

    def log_ready(scheduler: LiveScheduler) -> None:
        names = ", ".join(profile.scheduler_name for profile in setup.profiles)
        n_nodes = scheduler.cluster_state.columns.n_nodes
        _SCHEDULER_LOG.info("kubesched %s schedules pods of %s on %d nodes", VERSION, names, n_nodes)

    async def schedule() -> bool:
        with ending_on_signals() as ending:
            await run_live(
                setup,
                options,
                stop=ending.stop,
                on_started=on_started,
                on_ready=on_ready or log_ready,
                checks_version=checks_version,
            )
        return ending.is_interrupted

    return run_until_told(schedule())


def serve_until_told(
    setup: Setup,
    options: ExtenderOptions,
    *,
    on_listening: Callable[[Extender, Server], None] | None = None,
    on_ready: Callable[[Extender], None] | None = None,
) -> bool:
    """Serve until a signal asks for the end.

    Args:
        setup: made without default plugins.
        on_listening, on_ready: as for run_extender; by default, log lines have the address and the advice.
    Returns: whether Ctrl-C was among the signals.
    Raises:
        KubeschedError: as run_extender.
    """

    def log_address(served: Extender, server: Server) -> None:
        _EXTENDER_LOG.info("kubesched %s serves %s at %s", VERSION, ", ".join(sorted(served.singles)), server.url)

    def log_ready(served: Extender) -> None:
        for sentence in advice_on_extender(served, setup, options):
            _EXTENDER_LOG.info("%s", sentence)
        _EXTENDER_LOG.info("ready: %s", ", ".join(served.offer.verbs))

    async def serve() -> bool:
        with ending_on_signals() as ending:
            await run_extender(
                setup,
                options,
                stop=ending.stop,
                on_listening=on_listening or log_address,
                on_ready=on_ready or log_ready,
            )
        return ending.is_interrupted

    return run_until_told(serve())


def advice_on_extender(served: Extender, setup: Setup, options: ExtenderOptions) -> list[str]:
    """The advice on an extender as it is served."""
    tls = options.server.tls
    is_open = options.server.host not in _LOOPBACK and (tls is None or tls.client_ca is None)
    return list(
        advice(
            served.offer,
            setup.configuration,
            n_nodes=served.cluster_state.columns.n_nodes if options.is_watched else None,
            is_watched=options.is_watched,
            profiles=setup.profiles,
            preemption_helps=options.preemption_helps,
            is_open=is_open,
        )
    )
