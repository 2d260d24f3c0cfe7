"""`kubesched scheduler`: schedule the pods of a live cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kubesched.cli.cluster import note
from kubesched.cli.leader_election import leader_election_flags, leader_election_options, lease_note
from kubesched.cli.options import setup_options
from kubesched.errors import LeaseLostError
from kubesched.version import VERSION

if TYPE_CHECKING:
    from kubesched.live import LiveScheduler


@click.command()
@setup_options
@click.option("--kubeconfig", metavar="FILE", help="The cluster. In a pod, the cluster that it runs in.")
@click.option("--context", default="", metavar="NAME", help="Context in the kubeconfig.")
@click.option("--in-cluster", is_flag=True, help="The cluster that this pod runs in.")
@click.option(
    "--tie-break",
    type=click.Choice(["upstream", "first", "random"]),
    default="upstream",
    show_default=True,
    help="Which of several equally good nodes to take.",
)
@leader_election_options
@click.option("--log-json", is_flag=True, help="Log JSON lines. LOG_LEVEL is debug, info, warning or error.")
def scheduler(
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    kubeconfig: str | None,
    context: str,
    in_cluster: bool,
    tie_break: str,
    log_json: bool,
    **election_flags: Any,
) -> None:
    """Schedule the pods of a live cluster, in place of kube-scheduler or beside it.

    \b
    Examples:
      kubesched scheduler --config scheduler.yaml
      kubesched scheduler --kubeconfig ~/.kube/config --plugin team_zone.py:TeamZone
    """  # noqa: D301
    import os

    from kubesched.cli.signals import ending_on_signals, run_until_told
    from kubesched.live import SchedulerOptions, run_scheduler
    from kubesched.scheduler import TieBreak
    from kubesched.serving import set_up_logging
    from kubesched.setup import set_up

    set_up_logging(os.environ, as_json=log_json)
    setup = set_up(config, references, plugin_args, flags=leader_election_flags(**election_flags))
    options: SchedulerOptions = SchedulerOptions(
        kubeconfig=kubeconfig or setup.configuration.client_connection.kubeconfig,
        context=context,
        in_cluster=in_cluster,
        tie_break=TieBreak(tie_break),
    )

    if text := lease_note(setup.configuration.leader_election):
        note(text)

    def on_ready(live: "LiveScheduler") -> None:
        names = ", ".join(live.scheduler.frameworks)
        note(f"kubesched {VERSION} schedules pods of {names} on {live.cluster_state.columns.n_nodes} nodes")

    async def schedule() -> bool:
        with ending_on_signals() as ending:
            await run_scheduler(setup, options, stop=ending.stop, on_ready=on_ready)
        return ending.is_interrupted

    try:
        is_interrupted = run_until_told(schedule())
    except LeaseLostError:  # the log says so; the kubelet starts the process again
        raise click.exceptions.Exit(1) from None
    if is_interrupted:
        raise click.Abort
