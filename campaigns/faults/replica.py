"""One replica of `kubesched scheduler` behind a proxy of its own, started again whenever it ends, as a kubelet does."""

import json
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import yaml

from campaigns.faults.fault_proxy import FaultProxy
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process

LEASE_SECONDS = 3.0
BEGINS, LEADS = "Attempting to acquire", "schedules pods of"
ELECTION = {
    "leaderElect": True,
    "leaseDuration": f"{LEASE_SECONDS:g}s",
    "renewDeadline": "2s",
    "retryPeriod": "500ms",
    "resourceName": "kubesched",
}


class Replica:
    """Runs until `stop`.

    Attributes:
        proxy: what is between this process and the API server.
        log: the output of all its processes.
        n_starts: how often it was started.
    """

    def __init__(self, plane: ControlPlane, folder: Path, seed: int, *, elects: bool = True) -> None:
        folder.mkdir()
        self.proxy = FaultProxy(plane.url, seed)
        self.proxy.__enter__()
        self.log = folder / "kubesched.log"
        self.n_starts = 0
        self._command = self._write_files(plane, folder, elects)
        self._process: Process | None = None
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._supervise, name="supervisor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it, and the proxy."""
        self._is_stopping.set()
        self._thread.join()
        self.signal(signal.SIGCONT)
        if self._process is not None:
            self._process.kill()
        self.proxy.__exit__()

    def kill(self) -> None:
        """End the process as a crash does. It is started again."""
        self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal, if there is one now."""
        process = self._process
        if process is not None and process.is_running:
            process.send(number)

    def is_leading(self) -> bool:
        """Whether a process of this replica schedules now, as its log shows."""
        last = next((line for line in reversed(self.lines()) if LEADS in line or BEGINS in line), "")
        return LEADS in last

    def sender(self, at: float) -> str:
        """The identity under which the process that ran at a time took the Lease last."""
        return next((identity for then, identity in reversed(self.proxy.claims) if then <= at and identity), "")

    def lines(self) -> list[str]:
        """What all its processes have written."""
        return self.log.read_text(errors="replace").splitlines() if self.log.exists() else []

    def _supervise(self) -> None:
        while not self._is_stopping.is_set():
            if self._process is None or not self._process.is_running:
                if self._process is not None:
                    self._process.stop()  # it has ended; this gives back what was kept of it
                self.n_starts += 1
                self._process = Process("kubesched scheduler", self._command, self.log)
            self._is_stopping.wait(0.1)

    def _write_files(self, plane: ControlPlane, folder: Path, elects: bool) -> list[str]:
        kubeconfig: dict[str, Any] = yaml.safe_load(plane.kubeconfig(folder / "kubeconfig").read_text())
        kubeconfig["clusters"][0]["cluster"] = {"server": self.proxy.url}
        (folder / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": ELECTION if elects else {"leaderElect": False},
            "podMaxBackoffSeconds": 2,
            "clientConnection": {"kubeconfig": str(folder / "kubeconfig")},
        }
        (folder / "config.yaml").write_text(json.dumps(config))
        return [
            sys.executable,
            "-m",
            "kubesched",
            "scheduler",
            "--config",
            str(folder / "config.yaml"),
            "--secure-port=0",
            *([] if elects else ["--replace"]),  # what a killed process has bound may be seen by its successor
        ]
