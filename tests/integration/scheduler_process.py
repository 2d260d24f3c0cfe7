"""A stock kube-scheduler for tests, with any configuration."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tests.integration.api_client import ApiClient
from tests.integration.control_plane import ENDS_WITH_US, ControlPlane, is_certificate
from tests.integration.processes import Process, free_port

T = TypeVar("T")

NO_FIELDS: Mapping[str, Any] = {}
RETRY_SECONDS = 0.5


class SchedulerProcess:
    """A running kube-scheduler.

    Attributes:
        config: the KubeSchedulerConfiguration it was started with.
        port: of its HTTPS endpoints on 127.0.0.1.
        ca_file: the certificate that they show.
    """

    def __init__(
        self, control_plane: ControlPlane, folder: Path, config: Mapping[str, Any] = NO_FIELDS, *options: str
    ) -> None:
        """Start it and wait until it is ready: it has listed all objects, and watches.

        Args:
            folder: empty; takes its files.
            config: fields of the KubeSchedulerConfiguration besides, or instead of, the usual ones: no leader
                election, and a client that is as fast as it can be.
            options: further ones of the command.
        Raises:
            NotInTime: it does not become ready; with the end of its log, which says why.
        """
        kubeconfig = control_plane.kubeconfig(folder / "kubeconfig")
        self.config = {**_usual_config(kubeconfig), **config}
        config_file = folder / "config.yaml"
        config_file.write_text(yaml.safe_dump(self.config))
        self.port, self.ca_file = free_port(), folder / "certificates" / "kube-scheduler.crt"
        command: list[str | Path] = [
            control_plane.binary,
            "kube-scheduler",
            f"--config={config_file}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--cert-dir={self.ca_file.parent}",
            "--authorization-always-allow-paths=/*",
            *options,
        ]
        self.process = Process("kube-scheduler", command, folder / "kube-scheduler.log", env=ENDS_WITH_US)
        self._client: ApiClient | None = None
        try:
            self.process.wait_until(lambda: is_certificate(self.ca_file), "its certificate")
            self._client = ApiClient(f"https://127.0.0.1:{self.port}", ca_file=self.ca_file, connections=1)
            self.process.wait_until(lambda: self._http.is_up("/readyz"), "/readyz")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self._client:
            self._client.close()
            self._client = None
        self.process.stop()

    def logs(self) -> list[str]:
        """The lines it has written so far."""
        return self.process.logs()

    def metrics(self) -> dict[str, float]:
        """Its metrics by name with labels, as in `scheduler_pending_pods{queue="active"}`."""
        return parsed_metrics(self._http.text("/metrics"))

    @property
    def _http(self) -> ApiClient:
        assert self._client, "kube-scheduler is stopped"
        return self._client


def retrying(client: ApiClient, node: str, check: Callable[[], T]) -> Callable[[], T]:
    """A check that labels a node every half second: an event after which kube-scheduler tries rejected pods again."""
    labelled_at = 0.0

    def checked() -> T:
        nonlocal labelled_at
        answer, now = check(), time.monotonic()
        if not answer and now - labelled_at >= RETRY_SECONDS:
            labelled_at = now
            client.patch("Node", node, {"metadata": {"labels": {"example.com/retry": str(time.monotonic_ns())}}})
        return answer

    return checked


def parsed_metrics(page: str) -> dict[str, float]:
    """The values of a /metrics page, by name with labels."""
    samples = (line.rpartition(" ") for line in page.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}


def _usual_config(kubeconfig: Path) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 5000},
    }
