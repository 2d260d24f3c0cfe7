"""etcd and kube-apiserver for tests, on loopback, with ports, keys and a folder of their own."""

import base64
import json
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from kubesched.api import KINDS
from tests.integration.api_client import ApiClient, ApiError
from tests.integration.audit_log import AuditLog
from tests.integration.processes import Process, free_port, wait_until

MAX_PUTS = 100  # etcd takes 128 operations and 1.5 MB at once
STORED_AS = {"Node": "minions", "Service": "services/specs"}
ENDS_WITH_US = {"CONTROLPLANE_ENDS_WITH_STDIN": "1"}

# ServiceAccount and TaintNodesByCondition wait for controllers: every pod would need a token, and every node would get
# the not-ready taint. StorageObjectInUseProtection adds finalizers to volumes and claims that nobody would take off.
ADMISSION_LEFT_OUT = "ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection"


class ControlPlane:
    """An etcd and an API server that has no controllers and no kubelets: objects stay as tests make them.

    It runs inside `with`, or from `start` to `stop`.

    Attributes:
        url: of the API server.
        token: of a user who may do everything.
        ca_file: the certificate that the API server shows.
        client: asks the API server as that user.
        audit_log: what is written to the API server; None where nobody asked for it.
    """

    def __init__(
        self, binary: Path, folder: Path, *, admission_left_out: str = ADMISSION_LEFT_OUT, is_audited: bool = False
    ) -> None:
        """Prepare one in a folder that is empty or does not exist; nothing is started."""
        self._admission_left_out = admission_left_out
        self.binary = binary
        self.folder = folder
        self.token = secrets.token_hex(16)
        self.ca_file = folder / "certificates" / "apiserver.crt"
        self.audit_log = AuditLog(folder) if is_audited else None
        self._port = free_port()
        self._etcd_url = f"http://127.0.0.1:{free_port()}"
        self._peer_url = f"http://127.0.0.1:{free_port()}"
        self._key_file = folder / "service-account.key"
        self._data = folder / "etcd"
        self._etcd: Process | None = None
        self._api_server: Process | None = None
        self._client: ApiClient | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def client(self) -> ApiClient:
        if self._client is None:
            self._client = self.new_client()
        return self._client

    def new_client(self, connections: int = 64) -> ApiClient:
        """A client with connections of its own, to be closed by who asked for it."""
        return ApiClient(self.url, token=self.token, ca_file=self.ca_file, connections=connections)

    def start(self) -> None:
        """Start all, and wait until the API server is ready."""
        self.folder.mkdir(exist_ok=True)
        self._write_secrets()
        self._start_etcd()
        self.start_api_server()
        wait_until(lambda: self.client.is_up("/api/v1/namespaces/default"), "the namespace default")

    def stop(self) -> None:
        """End all, in order; `start` would go on with the same data."""
        if self._client:
            self._client.close()
            self._client = None
        for process in (self._api_server, self._etcd):
            if process:
                process.kill()  # the data are thrown away, so there is no reason to wait for a clean end

    def start_api_server(self) -> None:
        """Start the API server on its port and the data that etcd has, and wait until it is ready."""
        self._api_server = self._run("kube-apiserver", *self._api_server_flags())
        self._api_server.wait_until(lambda: is_certificate(self.ca_file), "its certificate")
        self._api_server.wait_until(lambda: self.client.is_up("/readyz"), "/readyz", seconds=60)

    def stop_api_server(self) -> None:
        """Take the API server away as a crash does: connections break, etcd keeps what was stored."""
        assert self._api_server
        self._api_server.kill()

    def restart_api_server(self) -> None:
        self.stop_api_server()
        self.start_api_server()

    def compact(self) -> int:
        """Have etcd forget all versions before the newest one; gives that version.

        The API server may still answer older watches from its own cache; `forget_history` ends that, too.
        """
        etcd = ApiClient(self._etcd_url)
        try:
            anything = base64.b64encode(b"/").decode()
            revision = int(etcd.call("POST", "/v3/kv/range", {"key": anything})["header"]["revision"])
            etcd.call("POST", "/v3/kv/compaction", {"revision": revision, "physical": True})
        finally:
            etcd.close()
        return revision

    def store(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Put objects of kinds that a scheduler reads into etcd, a hundred at once: many times as fast as requests.

        They stay as they are, with uid, times and status: no admission, no validation.

        What is put at once has one resourceVersion. A client that listed while the API server's cache has a part of it
        would watch from that version on and never see the rest. So one object of each kind is put once more, alone,
        and this waits until the cache has it. One object by itself is put once.
        """
        etcd = ApiClient(self._etcd_url)
        puts = [(document["kind"], stored(document)) for document in documents]
        requests = [{"requestPut": put} for _, put in puts] if len(puts) > 1 else []
        try:
            for i in range(0, len(requests), MAX_PUTS):
                etcd.call("POST", "/v3/kv/txn", {"success": requests[i : i + MAX_PUTS]})
            for kind, last in dict(puts).items():
                version = etcd.call("POST", "/v3/kv/put", last)["header"]["revision"]
                wait_until(partial(self._shows, kind, version), f"{kind} in the version {version}", seconds=120)
        finally:
            etcd.close()

    def _shows(self, kind: str, version: str) -> bool:
        """Whether the API server's cache has this version of a kind within 3 s."""
        try:
            self.client.read_list(kind, limit="1", resourceVersion=version, resourceVersionMatch="NotOlderThan")
        except ApiError as error:
            if error.status != HTTPStatus.GATEWAY_TIMEOUT:
                raise
            return False
        return True

    def forget_history(self) -> None:
        """Make everything that lists or watches from an older resourceVersion be answered 410."""
        self.stop_api_server()
        self.compact()
        self.start_api_server()

    def back_up(self, folder: Path) -> None:
        """Copy etcd's data into a new folder, for `restore`; all is stopped and started again for it."""
        self.stop()
        shutil.copytree(self._data, folder)
        self.start()

    def restore(self, folder: Path | None = None) -> None:
        """Stop all and start again with the data of a backup, or without any: resourceVersions go back."""
        self.stop()
        shutil.rmtree(self._data)
        if folder:
            shutil.copytree(folder, self._data)
        self.start()

    def logs(self) -> list[str]:
        """What the API server has written, over all restarts."""
        assert self._api_server
        return self._api_server.logs()

    def kubeconfig(self, path: Path, token: str = "") -> Path:
        """Write a kubeconfig file for this cluster, and give its path back; with a token, for its user."""
        path.write_text(yaml.safe_dump(self._kubeconfig(token or self.token)))
        return path

    def _kubeconfig(self, token: str) -> dict[str, Any]:
        cluster = {"server": self.url, "certificate-authority": str(self.ca_file)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }

    def _write_secrets(self) -> None:
        if not self._key_file.exists():
            made = subprocess.run([self.binary, "rsa-key"], check=True, capture_output=True)
            self._key_file.write_bytes(made.stdout)
        (self.folder / "tokens.csv").write_text(f'{self.token},admin,admin,"system:masters"\n')

    def _start_etcd(self) -> None:
        self._etcd = self._run(
            "etcd",
            f"--data-dir={self._data}",
            f"--listen-client-urls={self._etcd_url}",
            f"--advertise-client-urls={self._etcd_url}",
            f"--listen-peer-urls={self._peer_url}",
            f"--initial-advertise-peer-urls={self._peer_url}",
            f"--initial-cluster=default={self._peer_url}",
            "--unsafe-no-fsync",
        )
        client = ApiClient(self._etcd_url)
        try:
            self._etcd.wait_until(lambda: client.is_up("/health"), "/health")
        finally:
            client.close()

    def _api_server_flags(self) -> tuple[str, ...]:
        return (
            f"--etcd-servers={self._etcd_url}",
            f"--secure-port={self._port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.ca_file.parent}",
            "--service-account-issuer=https://localhost",
            f"--service-account-key-file={self._key_file}",
            f"--service-account-signing-key-file={self._key_file}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--disable-admission-plugins={self._admission_left_out}",
            "--max-requests-inflight=3000",
            "--max-mutating-requests-inflight=1000",
            "--enable-priority-and-fairness=false",
            "--delete-collection-workers=8",  # between two tests thousands of objects go
            *(self.audit_log.flags() if self.audit_log else ()),
        )

    def _run(self, component: str, *flags: str) -> Process:
        log = self.folder / f"{component}.log"
        return Process(component, [self.binary, component, *flags], log, env=ENDS_WITH_US)


def stored(document: Mapping[str, Any]) -> dict[str, str]:
    """Key and value of an object in etcd, in base64, as etcd's gateway takes them."""
    metadata = {key: value for key, value in document["metadata"].items() if key != "resourceVersion"}
    kind = KINDS[document["kind"]]
    folder = STORED_AS.get(kind.name, kind.plural)
    place = "/".join(part for part in (folder, metadata.get("namespace", ""), metadata["name"]) if part)
    value = json.dumps({**document, "metadata": metadata}, separators=(",", ":"))  # fields of any JSON stay as written
    return {
        "key": base64.b64encode(f"/registry/{place}".encode()).decode(),
        "value": base64.b64encode(value.encode()).decode(),
    }


def is_certificate(file: Path) -> bool:
    """Whether a server has finished writing its certificate."""
    return file.exists() and file.read_text().endswith("-----END CERTIFICATE-----\n")
