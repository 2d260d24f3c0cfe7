"""Runs the measuring process and the oracle, and sums up what they print."""

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.rows.row import NODES, Row

MEASURE = Path(__file__).with_name("measure.py")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


class RunError(Exception):
    """A process that was to be measured failed."""


@dataclass(frozen=True)
class Result:
    """The figures of one row.

    Attributes:
        n_nodes: the size of the cluster.
        runs: what measure.py printed, run by run.
        values: pods a second, or seconds, of each run.
        every_node, sampled: the oracle's pods a second; None where it was not asked.
    """

    row: Row
    n_nodes: int
    runs: list[dict[str, Any]]
    values: list[float]
    every_node: float | None
    sampled: float | None

    @property
    def median(self) -> float:
        return float(statistics.median(self.values))

    @property
    def peak_mib(self) -> float:
        return max(float(run["peakMib"]) for run in self.runs)

    @property
    def in_cpu_time(self) -> float:
        """The median by CPU time; better than the other where the process had to share its CPU."""
        return float(statistics.median(_value(self.row, run, "cpuSeconds") for run in self.runs))

    @property
    def share(self) -> float | None:
        """The rate with churn as a share of the rate without, by CPU time; None for rows without churn."""
        if "quietCpuSeconds" not in self.runs[0]:
            return None
        return float(statistics.median(run["quietCpuSeconds"] / run["cpuSeconds"] for run in self.runs))

    @property
    def is_met(self) -> bool | None:
        """Whether the median and the memory reach the targets; None where there are none or for another size."""
        row = self.row
        if self.share is not None and row.target_share is not None and self.n_nodes == NODES:
            return self.share >= row.target_share
        if row.target is None or self.n_nodes != sized(row, NODES):
            return None
        is_fast = self.median >= row.target if row.is_rate else self.median <= row.target
        return is_fast and (row.target_mib is None or self.peak_mib <= row.target_mib)

    def as_document(self) -> dict[str, Any]:
        """All figures, for --json."""
        row = self.row
        return {
            "name": row.name,
            "unit": "pods/s" if row.is_rate else "s",
            "nodes": self.n_nodes,
            "median": self.median,
            "least": min(self.values),
            "most": max(self.values),
            "oracleEveryNode": self.every_node,
            "oracleSampled": self.sampled,
            "target": row.target,
            "targetMib": row.target_mib,
            "isMet": self.is_met,
            "share": self.share,
            "peakMib": self.peak_mib,
            "inCpuTime": self.in_cpu_time,
            "runs": self.runs,
        }


def measure(row: Row, folder: Path, n_nodes: int, repeat: int, oracle: Path | None) -> Result:
    """Measure one row: each run in a process of its own, then the oracle on the same cluster with fewer pods."""
    size, snapshot = sized(row, n_nodes), folder / "cluster.json"
    row.write(snapshot, size, scaled(row.pending, n_nodes))
    runs = [json.loads(_run(command(row, folder, snapshot))) for _ in range(repeat)]
    values = [_value(row, run, "seconds") for run in runs]
    every_node = sampled = None
    if oracle is not None and row.oracle_pending:
        row.write(snapshot, size, scaled(row.oracle_pending, n_nodes))
        every_node, sampled = (_oracle_rate(row, folder, oracle, snapshot, how) for how in ([], ["-sample"]))
    snapshot.unlink()
    return Result(row, size, runs, values, every_node, sampled)


def profile(row: Row, folder: Path, n_nodes: int, n_functions: int) -> str:
    """Where the time of one run goes: the functions that took the most themselves."""
    snapshot = folder / "cluster.json"
    row.write(snapshot, sized(row, n_nodes), scaled(row.pending, n_nodes))
    return _run([*command(row, folder, snapshot), "--profile", str(n_functions)])


def sized(row: Row, n_nodes: int) -> int:
    """The nodes of a row where others have so many."""
    return max(1, round(n_nodes * row.n_times))


def scaled(n_pods: int, n_nodes: int) -> int:
    """So many pods are for NODES nodes; fewer for fewer."""
    return min(n_pods, -(-n_pods * n_nodes // NODES))


def command(row: Row, folder: Path, snapshot: Path) -> list[str]:
    """How measure.py is called for a row."""
    found = [sys.executable, str(MEASURE), row.task.value, str(snapshot)]
    if row.config:
        found += ["--config", str(_written(folder / "config.yaml", row.config))]
    if row.plugin:
        found += ["--plugin", row.plugin]
    if row.tie_break:
        found += ["--tie-break", row.tie_break]
    return found


def _value(row: Row, run: dict[str, Any], seconds: str) -> float:
    taken = float(run[seconds])
    return run["pods"] / taken if row.is_rate else taken


def _oracle_rate(row: Row, folder: Path, oracle: Path, snapshot: Path, how: list[str]) -> float:
    config = ["-config", str(_written(folder / "oracle.yaml", row.oracle_config))] if row.oracle_config else []
    found = json.loads(_run([str(oracle), "bench", *how, *config, str(snapshot)]))
    return float(found["podsPerSecond"])


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _run(arguments: list[str]) -> str:
    done = subprocess.run(arguments, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout
