"""In which order the process of a scheduler watches and takes part in the election."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.live import SchedulerOptions, run_scheduler
from kubesched.setup import set_up
from tests.cluster.fake_api_server import FakeApiServer, says
from tests.cluster.fake_timing import run
from tests.live.leases import PATH

HELD = {"metadata": {"name": "kubesched"}, "spec": {"holderIdentity": "other", "leaseDurationSeconds": 1000}}


pytestmark = pytest.mark.usefixtures("collector")


async def ask(server: FakeApiServer, folder: Path, n_requests: int, **configuration: Any) -> set[str]:
    """Start a scheduler that can list nothing, beside another leader. Returns: the paths of its first requests."""
    election = {"retryPeriod": "20ms", "resourceName": "kubesched"}
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    setup = set_up(yaml.safe_dump({**header, "leaderElection": election, **configuration}).encode())
    kubeconfig = folder / "kubeconfig"
    stop = asyncio.Event()
    async with server:
        cluster = {"name": "c", "cluster": {"server": server.url}}
        context = {"name": "x", "context": {"cluster": "c", "user": ""}}
        kubeconfig.write_text(yaml.safe_dump({"clusters": [cluster], "contexts": [context], "current-context": "x"}))
        options: SchedulerOptions = SchedulerOptions(kubeconfig=str(kubeconfig))
        running = asyncio.create_task(run_scheduler(setup, options, stop=stop, on_ready=lambda live: None))
        while len(server.asked) < n_requests:  # noqa: ASYNC110 - requests of several methods
            await asyncio.sleep(0.01)
        stop.set()
        await running
    return {asked.path for asked in server.asked}


def test_a_process_that_cannot_read_the_cluster_does_not_take_the_lease(tmp_path: Path) -> None:
    paths = run(ask(FakeApiServer(), tmp_path, 20))
    assert "/api/v1/nodes" in paths
    assert PATH not in paths


def test_with_delay_cache_until_active_a_follower_asks_for_the_lease_alone(tmp_path: Path) -> None:
    server = FakeApiServer()
    server.on("GET", PATH, says(HELD))
    assert run(ask(server, tmp_path, 5, delayCacheUntilActive=True)) == {PATH}


def test_requests_keep_to_the_configured_rate(tmp_path: Path) -> None:
    began = time.monotonic()
    run(ask(FakeApiServer(), tmp_path, 12, clientConnection={"qps": 20, "burst": 2}))
    assert time.monotonic() - began >= (12 - 2) / 20 - 0.05
