"""Measure one thing once, in this process, on one CPU, and print one JSON object.

    python benchmarks/rows/measure.py TASK SNAPSHOT [--config FILE] [--plugin FILE:Class] [--tie-break X] [--profile N]

The tasks:

- simulate: Simulator.run, after the snapshot and the cluster are loaded.
- load: load_snapshot and building the cluster state.
- explain: a pod against every node and plugin, with the words for all of them, after loading: the slowest of ten pods.
- churn: Simulator.run twice with events that come meanwhile (churn.py), and twice without.
- claim-churn: the same with other events.
- drain-each: draining every node alone, as `kubesched drain --each` does, after loading.

--profile prints the N functions that took the most time instead. Nothing is tuned here: the garbage collector and all
settings are as a user of the Python API has them.
"""

import argparse
import cProfile
import gc
import json
import os
import pstats
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXPLAINED = 10

Figures = dict[str, Any]


class Timer:
    """Wall and CPU seconds of a block, or of several together, and the profile of it if one is wanted."""

    def __init__(self, profile: cProfile.Profile | None = None) -> None:
        self.seconds = self.cpu_seconds = 0.0
        self._profile = profile

    def __enter__(self) -> "Timer":
        if self._profile is not None:
            self._profile.enable()
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.seconds += time.perf_counter() - self._wall
        self.cpu_seconds += time.process_time() - self._cpu
        if self._profile is not None:
            self._profile.disable()


def simulate(options: argparse.Namespace, profile: cProfile.Profile | None) -> Figures:
    from kubesched import PodState, Simulator, TieBreak, load_snapshot

    with Timer() as loading:
        snapshot = load_snapshot(options.snapshot)
    with Timer() as building:
        simulator = Simulator(snapshot, options.config, options.plugin, tie_break=TieBreak(options.tie_break))
    with Timer(profile) as run:
        report = simulator.run()
    return {
        "pods": len(report.placements),
        "placed": report.count(PodState.SCHEDULED),
        "attempts": sum(placement.attempts for placement in report.placements),
        "victims": len(report.victims),
        "seconds": run.seconds,
        "cpuSeconds": run.cpu_seconds,
        "loadSeconds": loading.seconds,
        "stateSeconds": building.seconds,
    }


def load(options: argparse.Namespace, profile: cProfile.Profile | None) -> Figures:
    from kubesched import Simulator, load_snapshot

    with Timer(profile) as whole:
        with Timer() as loading:
            snapshot = load_snapshot(options.snapshot)
        with Timer() as building:
            simulator = Simulator(snapshot, options.config, options.plugin)
    return {
        "pods": simulator.cluster_state.columns.n_pods.sum().item(),
        "seconds": whole.seconds,
        "cpuSeconds": whole.cpu_seconds,
        "loadSeconds": loading.seconds,
        "stateSeconds": building.seconds,
    }


def explain(options: argparse.Namespace, profile: cProfile.Profile | None) -> Figures:
    from kubesched import Explainer, load_snapshot, set_up
    from kubesched.pages.explanations import as_line

    with Timer() as loading:
        snapshot = load_snapshot(options.snapshot)
    with Timer() as building:
        explainer = Explainer(snapshot, set_up(options.config, options.plugin))
    pods = explainer.pending[:: max(1, len(explainer.pending) // EXPLAINED)][:EXPLAINED]
    timers, n_fit = [], 0
    for pod in pods:
        with Timer(profile) as one:
            explanation = explainer.evaluate(pod)
            as_line(explanation)
        timers.append(one)
        n_fit += explanation.fits
    slowest = max(timers, key=lambda timer: timer.seconds)
    return {
        "pods": len(pods),
        "placed": n_fit,
        "seconds": slowest.seconds,
        "cpuSeconds": slowest.cpu_seconds,
        "eachSeconds": [timer.seconds for timer in timers],
        "loadSeconds": loading.seconds,
        "stateSeconds": building.seconds,
    }


def churned(options: argparse.Namespace, profile: cProfile.Profile | None) -> Figures:
    from kubesched import Node, Pod, PodState, Simulator, load_snapshot

    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as a script this file stands outside the package
    from benchmarks.rows.churn import Churn, busy_claims, busy_cluster

    with Timer() as loading:
        snapshot = load_snapshot(options.snapshot)
    n_nodes = sum(isinstance(obj, Node) for obj in snapshot)
    n_pods = sum(isinstance(obj, Pod) and bool(obj.node_name) for obj in snapshot)
    streams = (busy_claims if options.task == "claim-churn" else busy_cluster)(n_nodes, n_pods)
    quiet, busy = Timer(), Timer(profile)
    Simulator(snapshot, options.config, options.plugin).run()  # the first run of a process is slower
    for is_busy in (False, True, True, False):  # what comes later in a process gains or loses on both sides
        gc.collect()
        simulator = Simulator(snapshot, options.config, options.plugin)
        if not is_busy:
            with quiet:
                simulator.run()
            continue
        churn = Churn(simulator, streams)
        simulator.decisions = churn.after
        with busy:
            churn.begin()
            report = simulator.run()
    return {
        "pods": 2 * len(report.placements),
        "placed": 2 * report.count(PodState.SCHEDULED),
        "events": churn.counts,
        "seconds": busy.seconds,
        "cpuSeconds": busy.cpu_seconds,
        "quietSeconds": quiet.seconds,
        "quietCpuSeconds": quiet.cpu_seconds,
        "loadSeconds": loading.seconds,
    }


def drain_each(options: argparse.Namespace, profile: cProfile.Profile | None) -> Figures:
    from kubesched import load_snapshot
    from kubesched.planning import Drainer

    with Timer() as loading:
        snapshot = load_snapshot(options.snapshot)
    with Timer() as building:
        drainer = Drainer(snapshot, options.config, options.plugin)
    with drainer, Timer(profile) as run:
        drains = list(drainer.each())
    pods = [pod for one in drains for pod in one.pods]
    return {
        "pods": len(pods),
        "placed": sum(bool(pod.to) for pod in pods),
        "drained": sum(one.can_go for one in drains),
        "seconds": run.seconds,
        "cpuSeconds": run.cpu_seconds,
        "loadSeconds": loading.seconds,
        "stateSeconds": building.seconds,
    }


TASKS: dict[str, Callable[[argparse.Namespace, cProfile.Profile | None], Figures]] = {
    "simulate": simulate,
    "load": load,
    "explain": explain,
    "churn": churned,
    "claim-churn": churned,
    "drain-each": drain_each,
}


def pin() -> None:
    """Stay on one CPU, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def peak_mib() -> float:
    """The most memory that this process ever held.

    Linux's own figure comes first: what getrusage says there begins with the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024**2 if sys.platform == "darwin" else peak / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("snapshot")
    parser.add_argument("--config")
    parser.add_argument("--plugin", action="append", default=[])
    parser.add_argument("--tie-break", default="first")
    parser.add_argument("--profile", type=int, default=0)
    options = parser.parse_args()
    pin()
    profile = cProfile.Profile() if options.profile else None
    figures = TASKS[options.task](options, profile)
    if profile is not None:
        pstats.Stats(profile).sort_stats("tottime").print_stats(options.profile)
    else:
        print(json.dumps({**figures, "peakMib": round(peak_mib(), 1)}))


if __name__ == "__main__":
    main()
