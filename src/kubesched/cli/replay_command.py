"""`kubesched replay`: have the pods of a trace come and end on a cluster, in virtual time."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.cluster import note, read_both, read_setup
from kubesched.cli.completion import complete_files
from kubesched.cli.inputs import InputOptions, with_inputs
from kubesched.cli.options import deciding_options, live_source_options, skip_bad_objects_option, tie_options
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import Seconds
from kubesched.cli.release_options import release_for
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.standard_streams import standard_output
from kubesched.cli.trace_recording import record

if TYPE_CHECKING:
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects
    from kubesched.traces import Trace

_PARQUET: Final = "parquet"


@click.command()
@with_inputs()
@click.argument("traces", metavar="[TRACE...]", nargs=-1, shell_complete=complete_files)
@click.option(
    "--nodes",
    "snapshots",
    metavar="FILE",
    multiple=True,
    shell_complete=complete_files,
    help="The nodes: a list of nodes of a trace, or a snapshot. Repeatable.  [default: the nodes of the trace]",
)
@skip_bad_objects_option
@deciding_options
@tie_options
@click.option(
    "--gpu-shares",
    is_flag=True,
    help="Let pods that ask for a part of a GPU request no whole one, for plugins that share GPUs.",
)
@click.option(
    "--every", type=Seconds(), metavar="DURATION", help="Time between two samples.  [default: some 400 samples]"
)
@click.option(
    "--record",
    "recorded",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Instead of a replay, write what happens in a live cluster as a trace: .jsonl, also .gz or .zst.",
)
@click.option(
    "--for", "seconds", type=Seconds(), metavar="DURATION", help="With --record: how long.  [default: until Ctrl-C]"
)
@click.option("--anonymize", is_flag=True, help="With --record: replace names, as `kubesched snapshot` does.")
@live_source_options
@report_output_option(_PARQUET)
def replay(
    inputs: InputOptions,
    traces: tuple[str, ...],
    gpu_shares: bool,
    every: float | None,
    recorded: Path | None,
    seconds: float | None,
    anonymize: bool,
    output: str,
) -> None:
    """Have the pods of a trace come and end on a cluster, in virtual time.

    Each pod waits in the queue, with backoff and preemption, until it is bound; then it runs for its duration. Nodes
    come and go as the trace has it. The report has utilization, allocation, fragmentation, waiting times and evictions
    over time. If a plugin fails, the command exits with 1.

    \b
    Examples:
      kubesched replay pods.csv --nodes nodes.csv
      kubesched replay openb_pod_list_default.csv.gz --nodes cluster.json.gz -o html > replay.html
      kubesched replay --record day.jsonl.gz --for 24h --anonymize
      kubesched replay day.jsonl.gz --config scheduler.yaml --plugin team_zone.py:TeamZone --every 5m -o csv

    TRACE is a file of a trace, also compressed; docs/reference/traces.md describes the formats. Of the pods of a
    snapshot, only those stay that belong to their node, such as those of DaemonSets.
    """  # noqa: D301
    from kubesched.pages.replays import replay_page
    from kubesched.replay import replay as run

    if recorded is not None:
        record(inputs, recorded, seconds, is_anonymous=anonymize)
        return
    trace, cluster, setup = _read(inputs, traces, gpu_shares=gpu_shares)
    seed = inputs.seed or 0
    with noting_slow_plugins(setup) as watched, progress_bar("replaying") as progress:
        answer = run(trace, cluster, watched, every=every, tie_break=inputs.ties, seed=seed, progress=progress)
    if output == _PARQUET:
        from kubesched.shown import parquet_of

        standard_output().buffer.write(parquet_of(answer.to_frame()))
    else:
        print_report(replay_page(answer), output)
    if answer.faults:
        raise click.exceptions.Exit(1)


def _read(
    inputs: InputOptions, traces: tuple[str, ...], *, gpu_shares: bool
) -> "tuple[Trace, ClusterObjects | tuple[()], Setup]":
    """The trace, the cluster of a snapshot, if one is named, and what decides."""
    from kubesched.traces import is_trace, read_trace

    lists = [file for file in inputs.snapshots if is_trace(file)]
    snapshots = tuple(file for file in inputs.snapshots if file not in lists)
    trace = read_trace(*traces, *lists, gpu_shares=gpu_shares)
    if snapshots:
        cluster, setup = read_both(inputs._replace(snapshots=snapshots))
        return trace, cluster, setup
    release, about_version = release_for(None, inputs.setup, inputs.setup.kubernetes_version)
    if about_version:
        note(about_version)
    return trace, (), read_setup(inputs.setup, release=release)
