"""`kubesched compare` with a trace in the place of a snapshot: each run of a side is a replay."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kubesched.cli.cluster import read_cluster
from kubesched.cli.inputs import InputOptions
from kubesched.cli.output import progress_bar
from kubesched.cli.release_options import release_for
from kubesched.cli.reports import print_report

if TYPE_CHECKING:
    from kubesched.comparison import Candidate


def compare_traces(
    inputs: InputOptions, sides: "tuple[Candidate, Candidate]", versions: Sequence[str], seeds: int, output: str
) -> None:
    """Replay the traces among the files with both sides, on the nodes of the other files, and print the report."""
    import msgspec

    from kubesched.comparison import ReadCandidate
    from kubesched.pages.replays import compared_replays_page
    from kubesched.replay import compare_replays
    from kubesched.traces import is_trace, read_trace

    traces = tuple(filter(is_trace, inputs.snapshots))
    others = tuple(file for file in inputs.snapshots if file not in traces)
    trace = read_trace(*traces)
    cluster = read_cluster(inputs._replace(snapshots=others)) if others else None
    asked = (*[None] * (len(sides) - len(versions)), *versions)
    read = []
    for side, version in zip(sides, asked, strict=True):
        release, _ = release_for(cluster, inputs.setup, version)
        named = f"{side.name} on {release}" if versions else side.name
        read.append(ReadCandidate(msgspec.structs.replace(side, name=named, release=release), release))
    a, b = read
    with progress_bar("comparing") as progress:
        answer = compare_replays(
            trace, cluster or (), a=a.set_up, b=b.set_up, names=(a.name, b.name), seeds=seeds, progress=progress
        )
    page = compared_replays_page(answer)
    print_report(page, output)
    if page.faults:
        raise click.exceptions.Exit(1)
