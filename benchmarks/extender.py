#!/usr/bin/env python3
"""How fast `kubesched extender` answers, beside the plainest Go server with the published types, in the same run.

    python benchmarks/extender.py [--go PATH] [--forms names,nodes] [--sizes 100,1000,5000] [--seconds 3] [--repeat 3]
                                  [--requests 20000] [--json FILE]
    python benchmarks/extender.py --profile N [--forms ...] [--sizes ...]

Each cell is one verb with one request on 1 or 4 connections that stay open; servers and client share two CPUs. Each
repeat starts ours and the Go server anew, one after the other, so that noise hits both: the first request is timed
alone, then as many as fit into --seconds. Times are milliseconds from the first byte sent to the last one received; the
table has the median of the repeats' medians and the worst of their p99. The ratio is the Go server's median to ours;
CPU is the CPU time of a request in the server, on both CPUs, which others on the machine change less than the clock.
--requests mixed ones to one server each show whether its memory grows; 0 leaves that out.

Ours runs a plugin with a filter and a score (extender/fleet.py); with names only it watches an API server of its own
for the nodes (extender/api_server.py). The Go server (extender/goserver) decodes, lets every node pass and encodes.
--profile prints for each request the N functions of our server that took the most time, instead of the tables.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.extender import runs, table
from benchmarks.extender.cells import NAMES, NODES, SIZES, VERBS, Endurance, Result
from benchmarks.extender.client import CallError
from benchmarks.extender.servers import ServerError
from benchmarks.report.machine import machine
from benchmarks.report.markdown import header


def main() -> int:
    options = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers end, too
    try:
        if options.go and not options.go.is_file():
            raise ValueError(f"--go: {options.go} is no file; benchmarks/README.md says how to build the Go server")
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
        with tempfile.TemporaryDirectory() as name, runs.prepared(max(options.sizes), Path(name), options.go) as bench:
            if options.profile:
                print_profiles(bench, options)
            else:
                print_tables(bench, options)
    except (ValueError, ServerError, CallError) as error:
        print(f"extender.py: {error}", file=sys.stderr)
        return 2
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--go", type=Path, help="the Go server's program; without it only our figures")
    parser.add_argument("--forms", type=forms, default=(NAMES, NODES), help="names, nodes (whole ones), or both")
    parser.add_argument("--sizes", type=sizes, default=SIZES, help="numbers of nodes in a request, with commas")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each cell and repeat")
    parser.add_argument("--repeat", type=int, default=3, help="starts of each server for each request")
    parser.add_argument("--requests", type=int, default=20_000, help="mixed requests that memory is watched over")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    parser.add_argument("--profile", type=int, help="profile instead: so many functions of each request")
    return parser.parse_args()


def forms(text: str) -> tuple[str, ...]:
    found = tuple(text.split(","))
    if not set(found) <= {NAMES, NODES}:
        raise ValueError
    return found


def sizes(text: str) -> tuple[int, ...]:
    found = tuple(sorted({int(size) for size in text.split(",")}))
    if found[0] < 1:
        raise ValueError
    return found


def print_profiles(bench: runs.Bench, options: argparse.Namespace) -> None:
    for form in options.forms:
        for n in options.sizes:
            for verb in VERBS:
                found = runs.profile(bench, form, n, verb, seconds=options.seconds, n_functions=options.profile)
                print(f"== {verb} {n} {form}: {found}", flush=True)


def print_tables(bench: runs.Bench, options: argparse.Namespace) -> None:
    known = machine()
    for name, value in known.items():
        print(f"{name}: {value}")
    print("", *header(table.COLUMNS), sep="\n", flush=True)
    results: list[Result] = []
    for form in options.forms:
        for n in options.sizes:
            for result in runs.measure(bench, form, n, seconds=options.seconds, repeat=options.repeat):
                results.append(result)
                print(table.line(result), flush=True)
    endured: list[Endurance] = []
    if options.requests:
        endured = [runs.endure(bench, form, options.sizes, options.requests) for form in options.forms]
    if lines := list(table.memory_lines(results, endured)):
        print("", *header(table.MEMORY), *lines, sep="\n")
    load_after = os.getloadavg()
    print(f"\nload average at the end: {' '.join(f'{value:.2f}' for value in load_after)}")
    if options.json:
        document = {
            "machine": {**known, "load average at the end": load_after},
            "cells": [result.as_document() for result in results],
            "endurance": [one.as_document() for one in endured],
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
