"""The manifests of a live scheduler on the test bed: applied, and run as the Deployment would run them."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.integration.api_client import ApiClient, ApiError, applied_path
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process, free_port

Document = dict[str, Any]


def apply_all(client: ApiClient, documents: Iterable[Document]) -> None:
    """Apply documents, in their order.

    Raises:
        ApiError: the API server refuses one, also for a field that it does not know.
    """
    for document in documents:
        client.apply(document)


def delete_all(client: ApiClient, documents: Iterable[Document]) -> None:
    """Delete what was applied; namespaces are left to `clear`."""
    for document in documents:
        if document["kind"] != "Namespace":
            with suppress(ApiError):
                client.call("DELETE", applied_path(document))


class InstalledScheduler:
    """A process with the command, the files and the rights of the container of a Deployment.

    There are no kubelets: instead of --in-cluster, the process gets a kubeconfig with a token of the service account.

    Attributes:
        port: of its HTTPS endpoints.
        ca_file: the certificate that they show.
        token: of its service account.
    """

    def __init__(self, control_plane: ControlPlane, folder: Path, documents: Iterable[Document]) -> None:
        """Start it. The documents are applied already.

        Args:
            folder: empty; takes its files.
        """
        by_kind = {document["kind"]: document for document in documents}
        pod = by_kind["Deployment"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        for name, text in by_kind["ConfigMap"]["data"].items():
            (folder / name).write_text(text)
        namespace = by_kind["Deployment"]["metadata"]["namespace"]
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts/{pod['serviceAccountName']}"
        self.token = control_plane.client.call("POST", f"{account}/token", {"spec": {}})["status"]["token"]
        self.port, self.ca_file = free_port(), folder / "certificates" / "kube-scheduler.crt"
        kubeconfig = control_plane.kubeconfig(folder / "kubeconfig", self.token)
        (mount,) = container["volumeMounts"]
        other = {
            "--in-cluster": f"--kubeconfig={kubeconfig}",
            "--secure-port=10259": f"--secure-port={self.port}",
            "--log-json": f"--cert-dir={self.ca_file.parent}",
        }
        words = [other.get(word, word).replace(mount["mountPath"], str(folder)) for word in container["command"]]
        assert words[0] == "kubesched"
        command = [sys.executable, "-m", *words, "-v=4"]
        self.process = Process("kubesched scheduler", command, folder / "kubesched.log")

    def wait_until_it_schedules(self) -> None:
        self.process.wait_until(lambda: self.says("schedules pods"), "its cache and its lease")

    def says(self, words: str) -> bool:
        """Whether it has logged these words."""
        return any(words in line for line in self.process.logs())

    def stop(self) -> None:
        self.process.stop()
