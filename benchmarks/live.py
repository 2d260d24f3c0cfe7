#!/usr/bin/env python3
"""How many pods a second kube-scheduler and kubesched place in a live cluster, and a client that decides nothing.

    python benchmarks/live.py [--rows basic,mixed,...] [--who kube-scheduler,kubesched,bare] [--nodes 5000]
                              [--repeat 1] [--seconds 300] [--json FILE]

Each run has a separate etcd and API server, the ones of the integration tests, and all share this machine. Nodes
and pods are there before the scheduler starts; the rate is that of the measured pods between the first and the last
that the API server shows on a node. The rows are the shapes of benchmarks/scheduling/shapes.py, and:

- `arriving`: 100 pods/s come for --arriving seconds; p99 of the algorithm, of an attempt and of a pod, in milliseconds,
  as the schedulers' own histograms say;
- `waiting`: 20,000 pods (--waiting) that fit nowhere wait while 200 events happen a second (--rate), of each sort in
  --storms; how long a pod that fits waits, from its creation to its binding, and what the scheduler uses meanwhile;
- `start`: 100,000 pods (--running) are on their nodes; the seconds from the start of the process to the first binding.

kube-scheduler looks at a sample of the nodes, as it does by default; kube-scheduler-100 and kubesched look at all.
`bare` binds, writes the event and watches, with the same library: nothing on it is faster. The rate limit of the
client is lifted. A ratio is that of kubesched to kube-scheduler in the same run of the same row.
"""

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.report.machine import machine
from benchmarks.report.markdown import header, table_line
from benchmarks.scheduling.run import Figures, RunError, run, run_arriving, run_start
from benchmarks.scheduling.shapes import SHAPES, nodes, placed, series
from benchmarks.scheduling.storms import STORMS
from benchmarks.scheduling.waiting import run_waiting
from tests.integration.build import BuildError, find_binary
from tests.integration.processes import NotInTime

CONTENDERS = ("kube-scheduler", "kube-scheduler-100", "kubesched", "bare")
ROWS = (*SHAPES, "arriving", "waiting", "start")
TITLES = (
    ("row", -22),
    ("who", -18),
    ("placed", 6),
    ("pods/s", 7),
    ("least-most", 13),
    ("ratio", 5),
    ("first after s", 13),
    ("CPU ms a pod", 12),
    ("MiB", 5),
    ("p99 ms: algorithm, attempt, pod", 31),
)

WAITING_TITLES = (
    ("waiting", -12),
    ("who", -18),
    ("events/s", 8),
    ("bound", 9),
    ("ms: median, p99, most", 24),
    ("% of a core", 11),
    ("MiB", 5),
)

Results = dict[str, dict[str, list[Figures]]]


def main() -> int:
    options = parsed()
    try:
        rows, contenders = chosen(options.rows, ROWS, "--rows"), chosen(options.who, CONTENDERS, "--who")
        binary = find_binary(lambda line: print(line, file=sys.stderr))
        about = machine()
        print(*(f"{name}: {value}" for name, value in about.items()), "", sep="\n", flush=True)
        print(*header(TITLES), sep="\n", flush=True)
        results: Results = {}
        waits: dict[str, dict[str, Any]] = {}
        for row in rows:
            if row == "waiting":
                waits = waiting(contenders, binary, options)
                continue
            runs = results[row] = {who: [] for who in contenders if who != "bare" or row in SHAPES}
            for _ in range(options.repeat):  # in turn, so that a slow minute hits all
                for who, figures in runs.items():
                    figures.append(measured(row, who, binary, options))
            print(*lines(row, runs), sep="\n", flush=True)
        print(f"\nload average at the end: {machine()['load average']}")
    except (ValueError, BuildError, NotInTime, RunError) as error:
        print(f"live.py: {error}", file=sys.stderr)
        return 2
    if options.json:
        written = {
            row: {who: [one.as_document() for one in figures] for who, figures in runs.items()}
            for row, runs in results.items()
        }
        document = {"machine": about, "nodes": options.nodes, "rows": written, "waiting": waits}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--who", default="kube-scheduler,kubesched,bare", help=f"of {', '.join(CONTENDERS)}")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--running", type=int, default=100_000, help="pods in the row `start`")
    parser.add_argument("--arriving", type=float, default=60.0, help="seconds in which pods come in the row `arriving`")
    parser.add_argument("--waiting", type=int, default=20_000, help="pods that wait in the row `waiting`")
    parser.add_argument("--storms", default="nodes", help=f"what happens in the row `waiting`: of {', '.join(STORMS)}")
    parser.add_argument("--rate", type=float, default=200.0, help="events a second in the row `waiting`")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each")
    parser.add_argument("--seconds", type=float, default=300.0, help="at most, of each run")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    return parser.parse_args()


def chosen(names: str, known: tuple[str, ...], option: str) -> list[str]:
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise ValueError(f"{option}: nothing is named {', '.join(unknown)}; there are {', '.join(known)}")
    return names.split(",")


def measured(row: str, who: str, binary: Path, options: argparse.Namespace) -> Figures:
    n = options.nodes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if row == "arriving":
            pods = series("measured", int(100 * options.arriving))
            figures = run_arriving(who, nodes(n), pods, 100.0, folder, binary)
        elif row == "start":
            running = placed(series("running", options.running), n)
            figures = run_start(who, [*nodes(n), *running], series("measured", 2), folder, binary)
        else:
            figures = run(who, SHAPES[row](n), folder, binary, options.seconds)
    print(f"{row} {who}: {figures.pods_per_second:,.0f} pods/s", file=sys.stderr, flush=True)
    return figures


def waiting(contenders: list[str], binary: Path, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Measure and print the row `waiting`, on a hundred nodes."""
    found: dict[str, dict[str, Any]] = {}
    print("", *header(WAITING_TITLES), sep="\n", flush=True)
    for name in chosen(options.storms, tuple(STORMS), "--storms"):
        for who in contenders:
            if who == "bare":
                continue
            storm = STORMS[name](100, options.waiting)
            with tempfile.TemporaryDirectory() as folder:
                wait = run_waiting(who, storm, options.rate, min(options.seconds, 30), Path(folder), binary)
            found.setdefault(name, {})[who] = asdict(wait)
            times = ", ".join(f"{wait.quantile(share):,.0f}" for share in (0.5, 0.99, 1.0))
            bound = f"{wait.bound}/{wait.created}"
            fields = [
                name,
                who,
                f"{wait.events:,.0f}",
                bound,
                times,
                f"{100 * wait.share:.0f}",
                f"{wait.peak_mib:,.0f}",
            ]
            print(table_line(WAITING_TITLES, fields), flush=True)
    return found


def lines(row: str, runs: dict[str, list[Figures]]) -> list[str]:
    medians = {who: statistics.median_low([one.pods_per_second for one in figures]) for who, figures in runs.items()}
    base = medians.get("kube-scheduler")
    return [
        line(row, who, figures, medians[who], base if who == "kubesched" and row in SHAPES else None)
        for who, figures in runs.items()
    ]


def line(row: str, who: str, figures: list[Figures], median: float, base: float | None) -> str:
    rates = [one.pods_per_second for one in figures]
    shown = next(one for one in figures if one.pods_per_second == median)
    return table_line(
        TITLES,
        [
            row,
            who,
            f"{shown.placed:,}",
            f"{median:,.0f}",
            f"{min(rates):,.0f}-{max(rates):,.0f}",
            f"{median / base:.1f}" if base else "",
            f"{shown.first_after:.1f}",
            f"{1000 * shown.cpu_seconds / shown.placed:.2f}",
            f"{shown.peak_mib:,.0f}",
            ", ".join(f"{value:.1f}" for value in shown.quantiles.values()),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
