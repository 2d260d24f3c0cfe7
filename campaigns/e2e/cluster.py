"""A cluster for Kubernetes' own tests: API server, controllers, and four nodes whose kubelets are played."""

from pathlib import Path

from campaigns.e2e.fake_kubelet import FakeKubelets
from kubesched.testing import make_node
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process, free_port

NODES = tuple(f"node-{row}" for row in range(4))
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "110", "ephemeral-storage": "50Gi"}
PLATFORM = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}


class Cluster(ControlPlane):
    """A control plane with all default admission, kube-controller-manager, and nodes that run pods in name only."""

    def __init__(self, binary: Path, folder: Path) -> None:
        """Prepare one in a folder that is empty or does not exist; nothing is started."""
        super().__init__(binary, folder, admission_left_out="")
        self._controllers: Process | None = None
        self._kubelets: FakeKubelets | None = None

    def start(self) -> None:
        """Start all, create the nodes, and wait until they are ready."""
        super().start()
        self._controllers = self._run("kube-controller-manager", *self._controller_flags())
        self._kubelets = FakeKubelets(self.url, self.token, self.ca_file)
        self.client.create_all(
            make_node(name, zone=f"zone-{row % 2}", labels=PLATFORM, allocatable=ROOM) for row, name in enumerate(NODES)
        )
        self._controllers.wait_until(self._nodes_are_ready, "nodes without the not-ready taint", seconds=60)

    def stop(self) -> None:
        """End all, in order."""
        if self._kubelets:
            self._kubelets.stop()
        if self._controllers:
            self._controllers.kill()
        super().stop()

    def _nodes_are_ready(self) -> bool:
        nodes = self.client.read_all("Node")
        return len(nodes) == len(NODES) and not any(node["spec"].get("taints") for node in nodes)

    def _controller_flags(self) -> tuple[str, ...]:
        return (
            f"--kubeconfig={self.kubeconfig(self.folder / 'controllers.kubeconfig')}",
            f"--service-account-private-key-file={self._key_file}",
            f"--root-ca-file={self.ca_file}",
            "--use-service-account-credentials=false",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}",
            f"--cert-dir={self.folder / 'controllers'}",
        )
