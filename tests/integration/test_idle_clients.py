"""A kubelet's probes are answered while hundreds of clients hold connections to a scheduler and say nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaigns.idle.campaign import Port, clients
from campaigns.idle.probes import send_probes
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

N_CLIENTS = 250
N_PROBES = 30
PATIENCE = 5.0  # seconds for each probe: the machine may be busy, and the kubelet asks three times


@pytest.fixture
def scheduler(cluster: ControlPlane, tmp_path: Path) -> Iterator[LiveProcess]:
    live = LiveProcess(cluster, tmp_path)
    yield live
    live.stop()


@pytest.mark.parametrize("kind", ["silent", "half a handshake", "slow headers"])
def test_silent_clients_do_not_keep_probes_from_the_scheduler(scheduler: LiveProcess, kind: str) -> None:
    port = Port("scheduler", scheduler.port, scheduler.process.pid)
    files = Path(f"/proc/{port.pid}/fd")
    before = len(list(files.iterdir()))
    with clients(kind, port, N_CLIENTS):
        wait_until(lambda: len(list(files.iterdir())) >= before + N_CLIENTS * 4 // 5, "the clients", seconds=30)
        probes = send_probes(port.number, N_PROBES, is_encrypted=True, every=0.1, seconds=PATIENCE)
    assert (probes.n, probes.failed) == (N_PROBES, 0)
    wait_until(lambda: len(list(files.iterdir())) <= before + 5, "the end of their connections", seconds=30)
    assert not [line for line in scheduler.logs() if "Traceback" in line]
