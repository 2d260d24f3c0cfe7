"""The control plane as programs see it that ask a proxy in its place: for LiveProcess and SchedulerProcess."""

from pathlib import Path
from typing import Any

import yaml

from campaigns.faults.fault_proxy import FaultProxy
from tests.integration.control_plane import ControlPlane


class ProxiedPlane:
    """Attributes:
    binary: of the control plane.
    cluster, user: added to those entries of each kubeconfig; `certificate-authority` for a proxy with TLS.
    """

    def __init__(self, plane: ControlPlane, proxy: FaultProxy) -> None:
        proxy.token = plane.token
        self.binary = plane.binary
        self.cluster: dict[str, Any] = {"server": proxy.url}
        self.user: dict[str, Any] = {"token": plane.token}

    def kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig for the proxy, and give its path back."""
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": self.cluster}],
            "users": [{"name": "admin", "user": self.user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }
        path.write_text(yaml.safe_dump(document))
        return path
