#!/usr/bin/env python3
"""How fast kubesched places pods, beside kube-scheduler's own plugins on the same clusters in the same run.

    python benchmarks/engine.py [--oracle PATH] [--rows NAME,...] [--repeat 5] [--nodes 5000] [--json FILE]
    python benchmarks/engine.py --profile N [--rows NAME,...] [--nodes 5000]

kubesched looks at every node, on one core: the time is that of Simulator.run, after loading. Every run has a process
of its own, pinned to one CPU, with nothing cached from an earlier one; the table shows the median, the slowest and the
fastest run, and the most memory that one of them took. The oracle (campaigns/oracle) runs kube-scheduler's plugins on
all cores: `bench` looks at every node, `bench -sample` at as few as kube-scheduler does by default. It is given fewer
pending pods, because it is slow: what is compared is pods a second. The ratio is ours to both.
The last column has the median by CPU time instead of the clock; where it is better, the machine was busy.

The targets are for 5,000 nodes; with other --nodes the clusters shrink or grow, pending pods only shrink.
--profile prints for each row the N functions that took the most time, instead of the table.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.report.machine import machine
from benchmarks.report.markdown import header
from benchmarks.rows import runs, table
from benchmarks.rows.row import NODES, Row, find_rows


def main() -> int:
    options = parsed()
    try:
        chosen = find_rows(options.rows)
        if options.oracle and not options.oracle.is_file():
            raise ValueError(f"--oracle: {options.oracle} is no file; campaigns/oracle/README.md says how to build it")
        with tempfile.TemporaryDirectory() as name:
            if options.profile:
                print_profiles(chosen, Path(name), options)
            else:
                print_table(chosen, Path(name), options)
    except (ValueError, runs.RunError) as error:
        print(f"engine.py: {error}", file=sys.stderr)
        return 2
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", type=Path, help="the oracle's program; without it only our figures")
    parser.add_argument("--rows", default="", help="names with commas; all if left out")
    parser.add_argument("--repeat", type=positive, default=5, help="runs of each row")
    parser.add_argument("--nodes", type=positive, default=NODES)
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    parser.add_argument("--profile", type=positive, help="profile instead: so many functions of each row")
    return parser.parse_args()


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def print_profiles(chosen: tuple[Row, ...], folder: Path, options: argparse.Namespace) -> None:
    for row in chosen:
        print(f"== {row.name}\n{runs.profile(row, folder, options.nodes, options.profile)}", flush=True)


def print_table(chosen: tuple[Row, ...], folder: Path, options: argparse.Namespace) -> None:
    about = machine()
    for name, value in about.items():
        print(f"{name}: {value}")
    print("", *header(table.COLUMNS), sep="\n", flush=True)
    results = []
    for row in chosen:
        results.append(runs.measure(row, folder, options.nodes, options.repeat, options.oracle))
        print(table.line(results[-1]), flush=True)
    if options.json:
        document = {"machine": about, "rows": [result.as_document() for result in results]}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
