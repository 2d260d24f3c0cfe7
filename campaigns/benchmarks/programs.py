"""Each program of benchmarks/ on inputs so small that nothing is measured, only that it can be."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 900
PLACES_ALL = (
    *("basic-upstream", "preemption", "stateful", "two-profiles", "scalar-plugin"),
    *("gpu8", "gpu8-two", "gpu8-plain", "gpu8-extended", "shared", "partitions-100"),
)

Document = Mapping[str, Any]


class Program(NamedTuple):
    """A program in its smallest size.

    Attributes:
        name: of the file.
        arguments: more of them name the file of figures where `faults` reads one.
        faults: what is wrong with the figures; None where nothing is read but what is printed.
        prints: a part of it.
    """

    name: str
    arguments: str
    faults: Callable[[Document], Iterator[str]] | None = None
    prints: str = "| --"


def faults_of_rows(figures: Document) -> Iterator[str]:
    """What is wrong with the figures of benchmarks/engine.py on 30 nodes, one run of each row."""
    for row in figures["rows"]:
        name, first = row["name"], row["runs"][0]
        if not (row["median"] > 0 and row["peakMib"] > 0):
            yield f"{name}: a median of {row['median']}, {row['peakMib']} MiB"
        if name in PLACES_ALL and not first["placed"] == first["pods"] > 0:
            yield f"{name}: {first['placed']} of {first['pods']} pods are placed"
        if name == "preemption" and first["victims"] != 3 * first["pods"]:
            yield f"{name}: {first['victims']} victims of {first['pods']} pods"


def faults_of_cells(figures: Document) -> Iterator[str]:
    """What is wrong with the figures of benchmarks/extender.py."""
    for cell in figures["cells"]:
        servers = [cell[server] for server in ("ours", "go") if cell.get(server)]
        if not all(server["median"] > 0 for server in servers) or cell["ours"]["peakBytes"][0] < 2**20:
            yield f"{cell['form']}, {cell['verb']}, {cell['connections']} connections: {cell['ours']}, {cell['go']}"


def faults_of_runs(figures: Document) -> Iterator[str]:
    """What is wrong with the figures of benchmarks/extender_throughput.py."""
    for row in figures["rows"]:
        for one in row["runs"]:
            if not 0 < one["placed"] <= 300 or one["podsPerSecond"] != one["placed"] / one["seconds"]:
                yield f"{one['placed']} pods in {one['seconds']} s, {one['podsPerSecond']} a second"
            if not (0 < one["share"] < 1 and min(one["cpu_ms"].values()) > 0):
                yield f"a share of {one['share']}, CPU {one['cpu_ms']}"


PROGRAMS = (
    Program("engine", "--nodes 30 --repeat 1", faults_of_rows),
    Program("engine", "--nodes 10 --rows basic --profile 5", prints="tottime"),
    Program("extender", "--sizes 4 --seconds 0.02 --repeat 1 --requests 20", faults_of_cells),
    Program("extender", "--sizes 2 --forms nodes --seconds 0.02 --profile 5", prints="tottime"),
    Program("extender_calls", "--nodes 3 --pods 5 --repeat 2"),
    Program("extender_throughput", "--rows names,nodes --nodes 20 --pods 300", faults_of_runs),
    Program("author_lists", "--nodes 20"),
    Program("load", "--nodes 10 --pods 50 --repeat 1", prints='"seconds"'),
    Program("live", "--rows basic --nodes 20 --seconds 60"),
    Program("snapshot", "--nodes 40 --pods 100 --repeat 1", prints="{"),
)


def run(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program with this source."""
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, env=environment)


def faults(program: Program, folder: Path) -> list[str]:
    """What is wrong with a run in the smallest size."""
    figures = folder / "figures.json"
    done = run(program.name, *program.arguments.split(), *(["--json", figures] if program.faults else []))
    if done.returncode:
        return [f"exit code {done.returncode}: {done.stderr[-1000:]}"]
    if "Traceback" in done.stderr or program.prints not in done.stdout:
        return [f"prints {done.stdout[-1000:]} {done.stderr[-1000:]}"]
    return list(program.faults(json.loads(figures.read_text()))) if program.faults else []
