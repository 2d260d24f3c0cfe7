"""Plays the same weather to kube-scheduler and to kubesched, and prints what came of it at each of the two as a table.

python -m campaigns.faults.compared [--only WORD ...] [--src DIR]

Each case has a cluster with one node, a scheduler behind the fault proxy, and a pod that is created when the fault
begins. The time is that until the pod is bound. --src takes kubesched from the source of another commit.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGCONT
from typing import Any

from campaigns.faults.fault_proxy import FaultProxy
from campaigns.faults.proxied_plane import ProxiedPlane
from kubesched.testing import make_node, make_pod
from tests.integration.build import find_binary
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import NotInTime, Process, wait_until
from tests.integration.scheduler_process import SchedulerProcess

SCHEDULERS = ("kube-scheduler", "kubesched")
PATIENCE = 40.0
JSON = {"contentType": "application/json", "acceptContentTypes": "application/json"}


@dataclass
class Stage:
    """One scheduler behind a proxy.

    Attributes:
        began: when the fault began, in seconds since 1970.
        user, cluster: of its kubeconfig, where they are not those of the control plane.
    """

    name: str
    plane: ControlPlane
    proxy: FaultProxy
    folder: Path
    began: float = 0.0
    user: Mapping[str, Any] = field(default_factory=dict)
    cluster: Mapping[str, Any] = field(default_factory=dict)
    process: Process | None = None
    scheduler: LiveProcess | SchedulerProcess | None = None

    def start(self, config: Mapping[str, Any] | None = None) -> None:
        """Start the scheduler, and wait until it has bound a pod."""
        self.launch(config)
        self.place("first")

    def launch(self, config: Mapping[str, Any] | None = None) -> None:
        """Start the scheduler."""
        view = ProxiedPlane(self.plane, self.proxy)
        view.user, view.cluster = dict(self.user) or view.user, view.cluster | self.cluster
        folder = self.folder / "scheduler"
        folder.mkdir()
        ready = "acquire" if config else ""  # with a lease of somebody else it does not schedule
        if self.name == "kubesched":
            self.scheduler = LiveProcess(view, folder, config or {}, ready=ready)  # type: ignore[arg-type]
        else:
            connection = {"kubeconfig": str(folder / "kubeconfig"), "qps": 5000, "burst": 5000, **JSON}
            self.scheduler = SchedulerProcess(view, folder, {**(config or {}), "clientConnection": connection})  # type: ignore[arg-type]
        self.process = self.scheduler.process

    def place(self, name: str = "pod", patience: float = PATIENCE) -> str:
        """Create a pod and wait until it is bound. Returns: what came of it, in words."""
        self.plane.client.create(make_pod(name))
        return self.bound(name, patience)

    def bound(self, name: str, patience: float = PATIENCE) -> str:
        began = time.monotonic()
        process = self.process
        assert process is not None

        def is_bound() -> str:
            node = self.plane.client.get("Pod", name)["spec"].get("nodeName")
            return "bound" if node else "" if process.is_running else "ended"

        try:
            outcome = wait_until(is_bound, name, seconds=patience)
        except NotInTime:
            return f"not bound in {patience:g} s"
        return outcome if outcome == "ended" else f"{time.monotonic() - began:.1f} s"

    def until_bound(self, name: str) -> str:
        """The same, and whether the process runs some seconds later."""
        outcome = self.bound(name)
        time.sleep(5.0)
        assert self.process is not None
        return outcome if self.process.is_running or outcome == "ended" else f"{outcome}, then ended"

    def count(self, verb: str, resource: str) -> int:
        """The requests of a kind since the fault began."""
        return sum(1 for call in self.proxy.called(verb, resource) if call.at >= self.began)

    def begin(self) -> None:
        """Note that the fault begins now."""
        self.began = time.time()

    def stop(self) -> None:
        if self.scheduler is not None:
            self.scheduler.process.send(SIGCONT)
            self.scheduler.stop()


@dataclass(frozen=True)
class Case:
    """Some weather.

    Attributes:
        title: for the table.
        play: plays it. Returns: what came of it.
    """

    title: str
    play: Callable[[Stage], str]


def played(case: Case, name: str, plane: ControlPlane) -> str:
    """Play a case to one scheduler on an empty cluster."""
    clear(plane.client)
    plane.client.create(make_node("node-1", allocatable={"cpu": "32", "memory": "64Gi", "pods": "1000"}))
    with tempfile.TemporaryDirectory() as folder:
        tls = case.play.tls(Path(folder)) if hasattr(case.play, "tls") else None
        with FaultProxy(plane.url, tls=tls) as proxy:
            stage = Stage(name, plane, proxy, Path(folder))
            try:
                return case.play(stage)
            except NotInTime as error:
                return f"FAULT {str(error).splitlines()[0][:60]}"
            finally:
                stage.stop()


def main() -> int:
    from campaigns.faults.weather_cases import CASES

    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", nargs="*", default=[], help="words of titles")
    p.add_argument("--src", type=Path, help="the src of another commit, for kubesched; kube-scheduler is left out")
    options = p.parse_args()
    if options.src:
        os.environ["PYTHONPATH"] = str(options.src)
    names = ("kubesched",) if options.src else SCHEDULERS
    cases = [case for case in CASES if not options.only or any(word in case.title for word in options.only)]
    print("\n".join([f"| weather | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]), flush=True)
    with tempfile.TemporaryDirectory() as folder, ControlPlane(find_binary(print), Path(folder) / "plane") as plane:
        for case in cases:
            print(f"| {case.title} | {' | '.join(played(case, name, plane) for name in names)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
