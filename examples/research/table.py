"""Runs the six policies on pod lists of the openb trace, and prints their figures beside the published ones.

    python table.py --nodes openb_node_list_gpu_node.csv --published published.csv --results runs.jsonl \\
        default=openb_pod_list_default.csv cpu250=openb_pod_list_cpu250.csv

A run takes seconds, and its result is appended to a file at once. Started again, the program goes on where it was.
"""

import argparse
import csv
import itertools
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from experiment import POLICIES, Run, run

from kubesched import read_trace

SEEDS = range(42, 52)
SHOWN = ((130, "gpu_allocation"), (90, "fragmentation_ratio"), (90, "fragmented_gpus"))


class Row(msgspec.Struct, frozen=True):
    """A run on one of the lists."""

    workload: str
    run: Run


def known(path: Path) -> list[Row]:
    """The runs of a file; a line that was cut off is left out."""
    found = []
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            found.append(msgspec.json.decode(line, type=Row))
        except msgspec.DecodeError:
            continue
    return found


def complete(path: Path, nodes: str, lists: dict[str, str], policies: Sequence[str], seeds: Iterable[int]) -> None:
    """Run what the file does not have yet."""
    done = {(row.workload, row.run.policy, row.run.seed) for row in known(path)}
    traces = {workload: read_trace(nodes, file, gpu_shares=True) for workload, file in lists.items()}
    for seed, workload, policy in itertools.product(seeds, lists, policies):  # a table of few seeds is a table
        if (workload, policy, seed) not in done:
            row = Row(workload, run(traces[workload], policy, seed))
            with path.open("ab") as file:
                file.write(b"\n" * (not _ends_with_line(path)) + msgspec.json.encode(row) + b"\n")


def _ends_with_line(path: Path) -> bool:
    content = path.read_bytes()
    return not content or content.endswith(b"\n")


Published = dict[tuple[str, str, int, str], tuple[float, float]]


def published(path: Path) -> Published:
    """Mean and standard deviation by workload, policy, load and figure."""
    with path.open(encoding="utf-8") as file:
        return {
            (
                row["workload"],
                row["policy"].partition("-")[2],
                int(row["arrived_load_percent"]),
                row["figure"].removesuffix("_percent"),
            ): (float(row["mean"]), float(row["standard_deviation"]))
            for row in csv.DictReader(file)
        }


def table(rows: list[Row], theirs: Published) -> Iterable[str]:
    """A line of the table for each list and policy."""
    head = " | ".join(f"{figure.replace('_', ' ')} at {load} %: theirs | ours | off by" for load, figure in SHOWN)
    yield f"| pods | policy | {head} |"
    yield "|---|---|" + "---|" * 3 * len(SHOWN)
    for workload in dict.fromkeys(row.workload for row in rows):
        for policy in POLICIES:
            of_policy = [row.run for row in rows if (row.workload, row.run.policy) == (workload, policy)]
            if of_policy:
                cells = [_cells(of_policy, theirs.get((workload, policy, *shown)), *shown) for shown in SHOWN]
                yield f"| {workload} | {policy} | {' | '.join(cells)} |"


def _cells(runs: list[Run], theirs: tuple[float, float] | None, load: int, figure: str) -> str:
    ours = [getattr(one.figures[load], figure) for one in runs]
    mean = statistics.mean(ours)
    own = f"{mean:.2f} ± {statistics.stdev(ours) if len(ours) > 1 else 0:.2f}"
    if theirs is None:
        return f"| {own} |"
    off = f"{mean - theirs[0]:+.2f}"
    is_within = abs(mean - theirs[0]) <= theirs[1]
    return f"{theirs[0]:.2f} ± {theirs[1]:.2f} | {own} | {off if is_within else f'**{off}**'}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="+", metavar="NAME=FILE", help="a list of pods, and its name in the table")
    parser.add_argument("--nodes", required=True, help="the list of nodes")
    parser.add_argument("--published", type=Path, help="the figures of the authors")
    parser.add_argument("--results", type=Path, default=Path("runs.jsonl"), help="where results are kept")
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many seeds")
    options = parser.parse_args(arguments)
    lists = {name: file for name, _, file in (text.partition("=") for text in options.lists)}
    complete(options.results, options.nodes, lists, options.policies.split(","), SEEDS[: options.seeds])
    rows = [row for row in known(options.results) if row.workload in lists]
    print("\n".join(table(rows, published(options.published) if options.published else {})))
    print(f"\n{len(rows)} runs, {sum(row.run.cpu_seconds for row in rows) / 60:.0f} minutes of CPU")


if __name__ == "__main__":
    main()
