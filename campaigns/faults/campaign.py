"""Breaks everything around live schedulers, and looks at what really happened.

python -m campaigns.faults.campaign [--runs 100] [--first 0] [--out DIR]
python -m campaigns.faults.campaign --claims [--out DIR]

Each run has its own seed: one or two replicas of `kubesched scheduler` with short leases, a few nodes with little room,
and pods that come for six seconds, while the API server is killed, watches are cut or expire, Bindings are refused
(also after they were carried out), answers are slow, the lease is stolen, and processes are killed at every phase or
stopped for longer than their lease. Then all is calm. etcd's history shows whether

- each pod is bound once, or is pending with the right reason and fits nowhere;
- no node is over-committed, except by Bindings that had left an old leader before its lease ended;
- no Binding left a process after its lease;
- the leader's cache equals the cluster (SIGUSR2), and no log has an error.

With --claims pods have resource claims of all kinds, and a scheduler is stopped at one of its writes for them: it is
killed before the write or after it, or the answer to the write is lost. Each write has its runs. Afterwards each pod is
bound once, no device is allocated twice, and each claim has its devices as long as a pod uses it, and no longer.

--out keeps the logs. The exit code is 1 when something was wrong.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from campaigns.faults.claim_stops import stops
from campaigns.faults.run import RecordedPlane, Report, Run
from tests.integration.build import find_binary
from tests.integration.cleaning import clear


def play(plane: RecordedPlane, folder: Path, seed: int) -> Report:
    """Play one seed on an empty cluster."""
    clear(plane.client)
    folder.mkdir()
    run = Run(plane, folder, seed)
    try:
        return run.play()
    finally:
        run.stop()


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=100)
    p.add_argument("--first", type=int, default=0, help="seed of the first run")
    p.add_argument("--claims", action="store_true", help="stop at each write for pods with resource claims")
    p.add_argument("--out", type=Path, help="takes the logs")
    options = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no process is left behind
    reports: list[Report] = []
    with tempfile.TemporaryDirectory() as name:
        folder = options.out or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        with RecordedPlane(find_binary(print), Path(name) / "control-plane") as plane:
            if options.claims:
                return stop_at_each_write(plane, folder)
            for seed in range(options.first, options.first + options.runs):
                began = time.monotonic()
                reports.append(play(plane, folder / f"run-{seed}", seed))
                print(line(seed, reports[-1], time.monotonic() - began), flush=True)
    print(summary(reports))
    return 1 if any(report.harm for report in reports) else 0


def stop_at_each_write(plane: RecordedPlane, folder: Path) -> int:
    """Play all runs with claims. Returns: the exit code."""
    n_stopped = n_harmed = 0
    for number, way, stop in stops(plane, folder):
        n_stopped += bool(stop.at)
        n_harmed += bool(stop.harm)
        print(f"write {number}, {way}: {stop.at or 'no stop'}", flush=True)
        for what in stop.harm:
            print(f"  HARM {what}", flush=True)
    print(f"{n_stopped} stops, {n_harmed} runs with harm")
    return 1 if n_harmed or not n_stopped else 0


def line(seed: int, report: Report, seconds: float) -> str:
    """What came of one run."""
    faults = ", ".join(f"{name} {n}" for name, n in sorted(report.faults.items()))
    head = f"seed {seed}: {report.n_pods} pods, {report.n_bound} bound, {report.n_pending} pending"
    head += f", {report.n_starts} starts, {report.excused} excused, settled in {report.settle_seconds:.1f} s"
    head += f", {seconds:.0f} s ({faults})"
    return "\n".join([head, *(f"  HARM {what}" for what in report.harm)])


def summary(reports: list[Report]) -> str:
    """What came of all runs."""
    faults: Counter[str] = sum((report.faults for report in reports), Counter())
    n_harmed = sum(1 for report in reports if report.harm)
    pods = f"{sum(r.n_pods for r in reports)} pods, {sum(r.n_bound for r in reports)} bound"
    pods += f", {sum(r.n_pending for r in reports)} pending at the end"
    lines = [
        f"{len(reports)} runs, {n_harmed} with harm",
        f"{pods}, {sum(r.n_starts for r in reports)} processes started",
        f"{sum(r.excused for r in reports)} pods too many by Bindings that had left an old leader in time",
    ]
    return "\n".join([*lines, *(f"{n:8}  {name}" for name, n in sorted(faults.items()))])


if __name__ == "__main__":
    sys.exit(main())
