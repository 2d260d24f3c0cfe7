#!/usr/bin/env python3
"""How many pods a second a stock kube-scheduler places alone, and with our extender: names only, and whole nodes.

    python benchmarks/extender_throughput.py [--rows alone,uncalled,bare,names,nodes] [--nodes 5000] [--pods 10000]
                            [--repeat 1] [--seconds 120] [--plugin FILE.py:Class] [--other URL] [--json FILE]

Each run has an etcd, an API server and a kube-scheduler v1.36.3 of its own, the ones of the integration tests, and all
of them share this machine. Nodes of 10 KB and pending pods of 3 KB are there before kube-scheduler starts; the time is
that from the first bound pod to the last, or --seconds where that takes longer. The table shows the run with the median
rate. `uncalled` configures an extender and gives it nothing to do, which is as fast as kube-scheduler gets with any.
`bare` sends names to one that copies them into its answers and decides nothing. `names` sends our extender the names of
nodes that it watches (nodeCacheCapable: true, the default), `nodes` whole nodes, `other` sends names to the extender at
--other, such as benchmarks/extender/goserver. kube-scheduler looks at a sample of the nodes, as it does by default; in
rows that end in -100 at all.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.report.machine import machine
from benchmarks.report.markdown import header, table_line
from benchmarks.throughput.run import ROWS, Figures, Row, RunError, run
from tests.integration.build import BuildError, find_binary
from tests.integration.processes import NotInTime

TARGETS = {"names": 200}  # pods a second, with 5,000 nodes
N_NODES = 5000
PLUGIN = Path(__file__).with_name("extender") / "fleet.py"
TITLES = (
    ("row", -9),
    ("placed", 6),
    ("pods/s", 6),
    ("least-most", 11),
    ("target", 6),
    ("filter ms", 9),
    ("prioritize ms", 13),
    ("extender's share", 16),
    ("CPU ms a pod: kube-scheduler", 28),
    ("extender", 8),
    ("API server", 10),
)


def main() -> int:
    options = parsed()
    try:
        rows = find_rows(options.rows)
        binary = find_binary(lambda line: print(line, file=sys.stderr))
        about = machine()
        print(*(f"{name}: {value}" for name, value in about.items()), "", sep="\n", flush=True)
        results: list[tuple[Row, list[Figures]]] = [(row, []) for row in rows]
        for _ in range(options.repeat):  # one run of each after the other, so that a slow quarter of an hour hits all
            for row, runs in results:
                runs.append(measured(row, binary, options))
                print(f"{row.name}: {runs[-1].pods_per_second:.1f} pods/s", file=sys.stderr, flush=True)
        print(*header(TITLES), *(line(row, runs, options.nodes) for row, runs in results), sep="\n")
        print(f"\nload average at the end: {machine()['load average']}")
        if options.json:
            written = [{"name": row.name, "runs": [one.as_document() for one in runs]} for row, runs in results]
            document = {"machine": about, "nodes": options.nodes, "pods": options.pods, "rows": written}
            options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except (ValueError, BuildError, NotInTime, RunError) as error:
        print(f"extender_throughput.py: {error}", file=sys.stderr)
        return 2
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rows", default="alone,uncalled,bare,names,nodes", help=f"of {', '.join(row.name for row in ROWS)}"
    )
    parser.add_argument("--nodes", type=int, default=N_NODES)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each row")
    parser.add_argument("--seconds", type=float, default=120.0, help="at most, of each run")
    parser.add_argument("--plugin", default=f"{PLUGIN}:Fleet", help="what the extender serves")
    parser.add_argument("--other", default="", help="URL of another extender, for the row `other`")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    return parser.parse_args()


def find_rows(names: str) -> list[Row]:
    by_name = {row.name: row for row in ROWS}
    unknown = [name for name in names.split(",") if name not in by_name]
    if unknown:
        raise ValueError(f"--rows: no row named {', '.join(unknown)}; there are {', '.join(by_name)}")
    return [by_name[name] for name in names.split(",")]


def measured(row: Row, binary: Path, options: argparse.Namespace) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder), binary, options.plugin, options.other
        return run(row, *where, options.nodes, options.pods, options.seconds)


def line(row: Row, runs: list[Figures], n_nodes: int) -> str:
    rates = [one.pods_per_second for one in runs]
    shown = next(one for one in runs if one.pods_per_second == statistics.median_low(rates))
    target = TARGETS.get(row.name) if n_nodes == N_NODES else None
    return table_line(
        TITLES,
        [
            row.name,
            f"{shown.placed:,}",
            f"{shown.pods_per_second:,.1f}",
            f"{min(rates):,.1f}-{max(rates):,.1f}",
            f">= {target}" if target else "",
            *(f"{shown.call_ms[verb]:.2f}" if verb in shown.call_ms else "" for verb in ("filter", "prioritize")),
            f"{shown.share:.0%}" if row.form else "",
            f"{shown.cpu_ms['kube-scheduler']:.2f}",
            f"{shown.cpu_ms['extender']:.2f}" if row.form else "",
            f"{shown.cpu_ms['API server']:.2f}",
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
