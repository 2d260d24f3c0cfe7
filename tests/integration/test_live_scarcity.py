"""Without file descriptors, or with its log on a full disk, a live scheduler waits and goes on when they are back."""

import os
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.api_client import ApiClient
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(180),
    pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process are set with prlimit"),
]
SHARE_OF_CORE = 0.5
SECONDS = 6.0


@pytest.fixture
def scheduler(cluster: ControlPlane, tmp_path: Path) -> Iterator[LiveProcess]:
    cluster.client.create_all([make_node(f"n{i}") for i in range(3)])
    running = LiveProcess(cluster, tmp_path)
    try:
        yield running
    finally:
        running.stop()


def set_limit(process: LiveProcess, what: int, value: int) -> None:
    _, hard = resource.prlimit(process.process.pid, what)
    resource.prlimit(process.process.pid, what, (value, hard))


def open_files(process: LiveProcess) -> int:
    return len(list(Path(f"/proc/{process.process.pid}/fd").iterdir()))


def cpu_seconds(process: LiveProcess) -> float:
    user, system = Path(f"/proc/{process.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def bind(cluster: ControlPlane, name: str, *, seconds: float = 60) -> None:
    cluster.client.create(make_pod(name))
    wait_until(lambda: is_bound(cluster, name), f"{name} on a node", seconds=seconds)


def is_bound(cluster: ControlPlane, name: str) -> bool:
    return bool(cluster.client.get("Pod", name)["spec"].get("nodeName"))


def is_alive(process: LiveProcess) -> bool:
    with closing(ApiClient(f"https://localhost:{process.port}", ca_file=process.ca_file, connections=1)) as client:
        return client.is_up("/livez")


def test_without_file_descriptors_it_waits_and_then_goes_on(cluster: ControlPlane, scheduler: LiveProcess) -> None:
    bind(cluster, "before")
    before = resource.prlimit(scheduler.process.pid, resource.RLIMIT_NOFILE)[0]
    set_limit(scheduler, resource.RLIMIT_NOFILE, open_files(scheduler))
    with ExitStack() as stack:
        for _ in range(40):  # more than it can accept
            stack.enter_context(socket.create_connection(("127.0.0.1", scheduler.port), timeout=5))
        cluster.restart_api_server()  # so that every watch has to connect again
        cluster.client.create_all([make_pod(f"during-{i}") for i in range(5)])
        spent, began = cpu_seconds(scheduler), time.monotonic()
        time.sleep(SECONDS)
        share = (cpu_seconds(scheduler) - spent) / (time.monotonic() - began)
        assert scheduler.process.is_running
        assert share < SHARE_OF_CORE, f"{share:.0%} of a core while nothing can be opened"
        n_lines = len(scheduler.logs())
        assert n_lines < 500, "one line for each failed call"
    set_limit(scheduler, resource.RLIMIT_NOFILE, before)
    for i in range(5):
        wait_until(lambda i=i: is_bound(cluster, f"during-{i}"), f"during-{i} on a node", seconds=60)
    wait_until(lambda: is_alive(scheduler), "its endpoints", seconds=30)
    assert not any("Traceback" in line for line in scheduler.logs())


def test_with_its_log_on_a_full_disk_it_binds_pods_and_logs_again_later(
    cluster: ControlPlane, scheduler: LiveProcess, tmp_path: Path
) -> None:
    log = tmp_path / "kubesched.log"
    set_limit(scheduler, resource.RLIMIT_FSIZE, log.stat().st_size)
    size = log.stat().st_size
    cluster.restart_api_server()  # which it logs
    bind(cluster, "during")
    assert log.stat().st_size == size
    set_limit(scheduler, resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)
    cluster.restart_api_server()
    wait_until(lambda: log.stat().st_size > size, "lines in its log")
    bind(cluster, "after")
    assert is_alive(scheduler)
