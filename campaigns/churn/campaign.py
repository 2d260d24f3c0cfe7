"""Lets a cluster churn for an hour, and watches the memory and the cache of one live scheduler.

python -m campaigns.churn.campaign [--minutes 60] [--per-second 50] [--seed 1] [--out DIR]

A real API server, and `kubesched scheduler` as its only scheduler. workload.py beside this file describes what happens.
Each minute, and in the middle of a shorter run, the process gets SIGUSR2, and its log has to say that cache and queue
equal a fresh list. Harm is:

- the process ends, or its log has an error or a stack trace;
- a comparison that shows a difference, or does not come;
- memory at the end is more than 5% above memory after ten minutes, or after a third of a shorter run.

--growth sets another limit than 5%, for short runs. --out keeps the log. Needs Linux, for /proc. The exit code is 1
when there was harm.
"""

import argparse
import re
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.churn.workload import Workload
from tests.integration.build import find_binary
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import NotInTime, wait_until

CALM_MINUTES = 10.0
SAMPLE_SECONDS = 5
COMPARE_SECONDS = 60
FAULTS = re.compile(r"^\S+ (?:ERROR|CRITICAL) |Traceback \(most recent call last\)")
EQUAL = "cache comparison: no differences to the API server"
OUTCOME = "cache comparison: "


@dataclass
class Minute:
    """What was there at the end of a minute, or in the middle of a shorter run. Memory in MiB."""

    number: int
    rss: float
    pods_created: int
    pods_per_second: float
    nodes_created: int
    bound: int
    pending: int
    is_equal: bool


@dataclass
class Account:
    """What came of a run.

    Attributes:
        samples: (seconds since the start, MiB).
    """

    minutes: list[Minute] = field(default_factory=list)
    samples: list[tuple[float, float]] = field(default_factory=list)
    harm: list[str] = field(default_factory=list)

    def rss_at(self, seconds: float) -> float:
        """The median of the minute that ends there, or of a third of a shorter run."""
        span = min(60, self.samples[-1][0] / 3)
        return statistics.median([mib for at, mib in self.samples if seconds - span <= at <= seconds] or [0.0])

    def growth(self) -> float:
        """The share by which memory grew after the first ten minutes, or the first third of a shorter run."""
        end = self.samples[-1][0]
        start = min(CALM_MINUTES * 60, end / 3)
        return self.rss_at(end) / max(self.rss_at(max(start, 20)), 1.0) - 1


class Run:
    """One scheduler in a cluster that churns."""

    def __init__(self, plane: ControlPlane, folder: Path, per_second: int, seed: int) -> None:
        self.account = Account()
        self._plane = plane
        self._workload = Workload(plane.client, seed, per_second)
        self._scheduler = LiveProcess(plane, folder)

    def stop(self) -> None:
        self._scheduler.stop()
        self._workload.end()

    def churn(self, seconds: float) -> None:
        """Let the cluster churn for so long."""
        account, began = self.account, time.monotonic()
        self._workload.begin()
        second = 0
        minute_began, created = began, 0
        minute = min(COMPARE_SECONDS, seconds / 2)
        while (now := time.monotonic()) - began < seconds:
            if now < began + second:
                time.sleep(began + second - now)
            self._workload.second(second)
            if second % SAMPLE_SECONDS == 0:
                account.samples.append((time.monotonic() - began, self._rss()))
            second += 1
            if time.monotonic() - minute_began >= minute:
                rate = (self._workload.n_created - created) / (time.monotonic() - minute_began)
                minute_began, created = time.monotonic(), self._workload.n_created
                self._note_minute(rate)
            if not self._scheduler.process.is_running:
                account.harm.append("the process has ended")
                return

    def judge(self, growth: float) -> None:
        """Add to the harm what shows at the end."""
        account = self.account
        if account.growth() > growth:
            account.harm.append(f"memory grew by {account.growth():.1%}; at most {growth:.0%} is allowed")
        account.harm += [f"log: {line}" for line in self._scheduler.logs() if FAULTS.search(line)][:20]

    def _note_minute(self, rate: float) -> None:
        workload, account = self._workload, self.account
        faults = self._compare()
        account.harm += faults
        pods = self._plane.client.read_all("Pod", "default", resourceVersion="0")
        bound = sum(1 for pod in pods if pod["spec"].get("nodeName"))
        minute = Minute(
            len(account.minutes) + 1,
            self._rss(),
            workload.n_created,
            rate,
            workload.n_nodes,
            bound,
            len(pods) - bound,
            not faults,
        )
        account.minutes.append(minute)
        print(row(minute), flush=True)

    def _compare(self) -> list[str]:
        """Have the scheduler compare while the cluster goes on. Returns: what is wrong."""
        n_lines = len(self._scheduler.logs())
        self._scheduler.process.send(signal.SIGUSR2)
        n_seconds = 0

        def outcomes() -> list[str]:
            nonlocal n_seconds
            n_seconds += 1
            self._workload.second(n_seconds)
            return [line for line in self._scheduler.logs()[n_lines:] if OUTCOME in line]

        try:
            lines = wait_until(outcomes, "the comparison", seconds=40)
        except NotInTime as error:
            return [str(error)]
        return [line for line in lines if EQUAL not in line]

    def _rss(self) -> float:
        try:
            status = Path("/proc", str(self._scheduler.process.pid), "status").read_text()
        except OSError:
            return 0.0
        match = re.search(r"^VmRSS:\s+(\d+) kB", status, re.M)
        return int(match[1]) / 1024 if match else 0.0


HEAD = f"{'minute':>6}{'MiB':>9}{'pods made':>11}{'per s':>7}{'nodes made':>12}{'bound':>7}{'pending':>9}  cache"


def row(minute: Minute) -> str:
    return (
        f"{minute.number:6}{minute.rss:9.1f}{minute.pods_created:11}{minute.pods_per_second:7.1f}"
        f"{minute.nodes_created:12}{minute.bound:7}{minute.pending:9}  {'equal' if minute.is_equal else 'DIFFERS'}"
    )


def run(folder: Path, plane: ControlPlane, *, minutes: float, per_second: int, seed: int, growth: float) -> Account:
    """Run one scheduler in a cluster that churns, and judge it."""
    churning = Run(plane, folder, per_second, seed)
    try:
        churning.churn(minutes * 60)
        churning.judge(growth)
    finally:
        churning.stop()
    return churning.account


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--per-second", type=int, default=50, help="pods that come and go (default 50)")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--growth", type=float, default=0.05, help="of memory that is allowed (default 0.05)")
    p.add_argument("--out", type=Path, help="takes the log")
    options = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no process is left behind
    with tempfile.TemporaryDirectory() as name:
        folder = options.out or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        with ControlPlane(find_binary(print), Path(name) / "control-plane") as plane:
            print(HEAD, flush=True)
            account = run(
                folder,
                plane,
                minutes=options.minutes,
                per_second=options.per_second,
                seed=options.seed,
                growth=options.growth,
            )
    print(f"memory grew by {account.growth():.1%} after the first ten minutes, or the first third of a shorter run")
    print("\n".join(["harm:", *account.harm] if account.harm else ["harm: none"]))
    return 1 if account.harm else 0


if __name__ == "__main__":
    sys.exit(main())
