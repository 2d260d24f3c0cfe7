"""The servers that are measured, each a process that is started, waited for, looked at and stopped."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

FLEET = f"{Path(__file__).with_name('fleet.py')}:Fleet"
API_SERVER = Path(__file__).with_name("api_server.py")
READY_SECONDS = 60
PATIENT = ["--http-timeout", "60s"]
"""On a busy machine large requests may take longer than the usual deadline, and the Go server has none."""
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: fleet, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: nobody, user: {{}}}}]
contexts: [{{name: fleet, context: {{cluster: fleet, user: nobody}}}}]
current-context: fleet
"""


class ServerError(Exception):
    """A server did not start, or ended."""


class Server:
    """A running server on this machine.

    Attributes:
        port: where it listens.
    """

    def __init__(self, port: int, process: subprocess.Popen[str]) -> None:
        self.port = port
        self._process = process

    @property
    def resident(self) -> int:
        """Bytes of memory that it holds now."""
        return self._memory("VmRSS")

    @property
    def peak(self) -> int:
        """The most bytes of memory that it ever held."""
        return self._memory("VmHWM")

    @property
    def cpu_seconds(self) -> float:
        """CPU time that it has used, on all cores."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _memory(self, name: str) -> int:
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        found = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
        if found is None:
            raise ServerError("the server has ended")
        return 1024 * int(found[1])


@contextlib.contextmanager
def kubesched(folder: Path, kubeconfig: Path | None = None, profile: Path | None = None) -> Iterator[Server]:
    """`kubesched extender` with the plugin of fleet.py.

    Args:
        folder: for what it prints.
        kubeconfig: the cluster to watch; without one requests have to show whole nodes.
        profile: file for a profile of the whole run, which slows the server down.
    """
    profiling = ["-m", "cProfile", "-o", str(profile)] if profile else []
    watching = ["--kubeconfig", str(kubeconfig)] if kubeconfig else []
    port = _free_port()
    command = [sys.executable, *profiling, "-m", "kubesched", "extender", "--plugin", FLEET, "--port", str(port)]
    with _run([*command, *PATIENT, *watching], port, folder / "kubesched.log", "/readyz") as server:
        yield server


@contextlib.contextmanager
def go(program: Path, folder: Path) -> Iterator[Server]:
    """The server in goserver/, built."""
    port = _free_port()
    with _run([str(program), "-port", str(port)], port, folder / "go.log", "/readyz") as server:
        yield server


@contextlib.contextmanager
def api_server(folder: Path, nodes: bytes) -> Iterator[Path]:
    """An API server that lists these nodes, as a kubeconfig file."""
    port = _free_port()
    listed, kubeconfig = folder / "nodes.json", folder / "kubeconfig"
    listed.write_bytes(nodes)
    kubeconfig.write_text(KUBECONFIG.format(port=port), encoding="utf-8")
    with _run([sys.executable, str(API_SERVER), str(listed), str(port)], port, folder / "api.log", "/readyz"):
        yield kubeconfig


@contextlib.contextmanager
def _run(command: list[str], port: int, log: Path, ready_path: str) -> Iterator[Server]:
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, text=True)
        try:
            _await_ready(process, port, ready_path, log)
            yield Server(port, process)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await_ready(process: subprocess.Popen[str], port: int, path: str, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _is_ready(port, path):
            return
        time.sleep(0.05)
    raise ServerError(f"{' '.join(process.args)} is not ready: {log.read_text(encoding='utf-8')[-2000:]}")


def _is_ready(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
