"""A sweep of 4 snapshots x 5 configurations x 10 seeds: in one process, on cores, on Dask; a worker killed; resumed.

    python -m benchmarks.sweep [--snapshots FILE...] [--seeds 10] [--pods pending] [--processes 2]

Prints a JSON line for each way, each of which runs in a new process: its rows and their digest without durations, wall
time, CPU time and largest resident memory of this process and of the workers, and the load of the machine. The exit
code is 1 if the digests differ.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from kubesched import Candidate, Sweep, packed, sweep

EXAMPLES = Path(__file__).parents[1] / "examples"
SNAPSHOTS = [EXAMPLES / "shop/cluster.json.gz", *sorted((EXAMPLES / "clusters").glob("*.json.gz"))]
HEADER = b"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
WITHOUT = b"profiles:\n- plugins:\n    multiPoint:\n      disabled:\n      - name: %s\n"
CONFIGURATIONS = [
    Candidate("defaults"),
    packed(Candidate("packed")),
    *(
        Candidate(f"without {name}", HEADER + WITHOUT % name.encode())
        for name in ("ImageLocality", "NodeResourcesBalancedAllocation", "TaintToleration")
    ),
]
TICKS = os.sysconf("SC_CLK_TCK")
Way = Callable[..., Sweep]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapshots", type=Path, nargs="+", default=SNAPSHOTS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--pods", default="pending")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way is not None:
        print(json.dumps(measured(given)), flush=True)
        return
    digests = set()
    for way in WAYS:
        command = [sys.executable, "-m", "benchmarks.sweep", *sys.argv[1:], "--way", way]
        line = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        print(line, end="", flush=True)
        digests.add(json.loads(line)["digest"])
    if len(digests) > 1:
        raise SystemExit(1)


def measured(given: argparse.Namespace) -> dict[str, Any]:
    """What one way takes, and the digest of its rows."""

    def run(**how: Any) -> Sweep:
        return sweep(given.snapshots, CONFIGURATIONS, seeds=given.seeds, pods=given.pods, **how)

    with WAYS[given.way](given.processes) as way:
        began = time.perf_counter()
        result = way(run)
        wall = time.perf_counter() - began
        workers = [*descendants(os.getpid())]
    rows = [msgspec.structs.replace(row, seconds=0.0) for row in result.rows]
    return {
        "way": given.way,
        "rows": len(rows),
        "kept": result.n_kept,
        "failed": len(result.failed),
        "digest": hashlib.sha256(msgspec.json.encode(rows, order="sorted")).hexdigest()[:16],
        "wall": round(wall, 1),
        "runs": round(sum(row.seconds for row in result.rows), 1),
        "cpu": round(time.process_time(), 1),
        "workerCpu": [cpu for _, cpu, _ in workers],
        "peakMiB": used("self")[2],
        "workerPeakMiB": [peak for _, _, peak in workers],
        "load": round(os.getloadavg()[0], 1),
    }


@contextmanager
def here(processes: int) -> Iterator[Way]:
    with n_cores(1):
        yield lambda run: run()


@contextmanager
def on_cores(processes: int) -> Iterator[Way]:
    with n_cores(processes):
        yield lambda run: run()


@contextmanager
def on_cores_killed(processes: int) -> Iterator[Way]:
    def kill(n_done: int, n_rows: int) -> None:
        workers = [*descendants(os.getpid())] if n_done == n_rows // 2 else []
        if workers:  # a short sweep has none
            os.kill(workers[0][0], signal.SIGKILL)

    with n_cores(processes):
        yield lambda run: run(progress=kill)


@contextmanager
def on_dask(processes: int, is_killed: bool = False) -> Iterator[Way]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=processes, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:

        def kill(n_done: int, n_rows: int) -> None:
            if is_killed and n_done == n_rows // 2:
                os.kill(next(iter(cluster.workers.values())).process.process.pid, signal.SIGKILL)

        yield lambda run: run(on=cluster.scheduler_address, progress=kill)


@contextmanager
def resumed(processes: int) -> Iterator[Way]:
    """Interrupted by Ctrl-C once half of the rows are there; what is measured is the rest."""

    def stop(n_done: int, n_rows: int) -> None:
        if n_done == n_rows // 2:
            raise KeyboardInterrupt

    def way(run: Way) -> Sweep:
        try:
            run(rows=file, progress=stop)
        except KeyboardInterrupt:
            return run(rows=file)
        raise AssertionError("the sweep was not interrupted")

    with tempfile.TemporaryDirectory() as folder, n_cores(processes):
        file = Path(folder) / "rows.parquet"
        yield way


@contextmanager
def n_cores(n: int) -> Iterator[None]:
    from kubesched.parallel import carried_out

    carried_out.n_cores = lambda: n
    yield


WAYS = {
    "one process": here,
    "cores": on_cores,
    "cores, one worker killed": on_cores_killed,
    "dask": on_dask,
    "dask, one worker killed": lambda processes: on_dask(processes, is_killed=True),
    "cores, interrupted and resumed": resumed,
}


def used(process: int | str) -> tuple[int, float, int]:
    """The parent of a process, its CPU time so far, and its largest resident memory in MiB."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{process}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) >> 10 if "VmHWM:" in status else 0
    return int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS, peak


def descendants(process: int) -> Iterator[tuple[int, float, int]]:
    """The processes that a process has started, and these in turn, that work: each with its CPU time and peak."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent, cpu, peak = used(folder.name)
            is_tracker = b"resource_tracker" in (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == process and not is_tracker:
            yield int(folder.name), cpu, peak
            yield from descendants(int(folder.name))


if __name__ == "__main__":
    main()
