"""`kubesched scheduler` as a process of its own, for tests."""

import json
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from kubesched.version import VERSION
from tests.integration.api_client import ApiClient
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process, free_port
from tests.integration.scheduler_process import parsed_metrics

NO_FIELDS: Mapping[str, Any] = {}


class LiveProcess:
    """A running scheduler.

    Attributes:
        port: of its HTTPS endpoints on 127.0.0.1.
        ca_file: the certificate that they show.
    """

    def __init__(
        self,
        control_plane: ControlPlane,
        folder: Path,
        config: Mapping[str, Any] = NO_FIELDS,
        *options: str,
        ready: str = f"note: kubesched {VERSION} ",
    ) -> None:
        """Start it and wait until it schedules.

        Args:
            folder: takes its files.
            config: fields of the KubeSchedulerConfiguration besides the usual ones; no leader election.
            options: further ones of the command.
            ready: what its log has then; another text for one that does not schedule.
        """
        kubeconfig = control_plane.kubeconfig(folder / "kubeconfig")
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(kubeconfig)},
            **config,
        }
        config_file = folder / "config.yaml"
        config_file.write_text(json.dumps(document))
        self.port, self.ca_file = free_port(), folder / "certificates" / "kube-scheduler.crt"
        own = ["--config", str(config_file), "--secure-port", str(self.port), "--cert-dir", str(self.ca_file.parent)]
        command = [sys.executable, "-m", "kubesched", "scheduler", *own, *options]
        self.process = Process("kubesched scheduler", command, folder / "kubesched.log")
        try:
            self.process.wait_until(lambda: ready in "".join(self.process.logs()), "its cache")
        except BaseException:
            self.process.stop()
            raise

    def stop(self) -> None:
        self.process.stop()

    def logs(self) -> list[str]:
        """The lines it has written so far."""
        return self.process.logs()

    def metrics(self, token: str = "") -> dict[str, float]:
        """Its metrics by name with labels."""
        client = ApiClient(f"https://localhost:{self.port}", token=token, ca_file=self.ca_file, connections=1)
        with closing(client):
            return parsed_metrics(client.text("/metrics"))
