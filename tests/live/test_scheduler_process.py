"""In which order the process of a scheduler watches and takes part in the election."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from kubesched.api import Pod
from kubesched.cluster import list_path
from kubesched.errors import ClusterError, LeaseLostError
from kubesched.framework import CycleState, Plugin, Status
from kubesched.live import SchedulerOptions, leadership, run_scheduler, scheduler_process
from kubesched.setup import set_up
from kubesched.state import NodeInfo
from kubesched.testing import make_node, make_pod
from tests.cluster.fake_api_server import Answer, FakeApiServer, objects, says, stream
from tests.cluster.fake_timing import run
from tests.live.leases import PATH, LeaseServer

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
EAGER: dict[str, Any] = {
    "leaderElection": {"retryPeriod": "20ms", "resourceName": "kubesched"},
    "clientConnection": {"qps": 10, "burst": 30},
}
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
HELD = {"metadata": {"name": "kubesched"}, "spec": {"holderIdentity": "other", "leaseDurationSeconds": 1000}}


def kubeconfig_of(server: FakeApiServer, folder: Path) -> Path:
    """A kubeconfig for a server that asks for no credentials."""
    file = folder / "kubeconfig"
    cluster = {"name": "c", "cluster": {"server": server.url}}
    context = {"name": "x", "context": {"cluster": "c", "user": ""}}
    file.write_text(yaml.safe_dump({"clusters": [cluster], "contexts": [context], "current-context": "x"}))
    return file


class StopsSlowly(Plugin):
    """Has something to do for two seconds before it stops."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return Status.SUCCESS

    async def stop(self) -> None:
        await asyncio.sleep(2)


def answering(lease: LeaseServer) -> Answer:
    """An answer for all requests about a lease."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body: Any = json.loads(await request.read() or b"null")
        try:
            return web.json_response(lease.answer(request.method, request.path, body))
        except ClusterError as error:
            return web.json_response({"kind": "Status", "code": error.status}, status=error.status)

    return answer


async def ask(server: FakeApiServer, folder: Path, n_requests: int, **configuration: Any) -> set[str]:
    """Start a scheduler that can list nothing, beside another leader. Returns: the paths of its first requests."""
    election = {"retryPeriod": "20ms", "resourceName": "kubesched"}
    setup = set_up(yaml.safe_dump({**HEADER, "leaderElection": election, **configuration}).encode())
    stop = asyncio.Event()
    async with server:
        options: SchedulerOptions = SchedulerOptions(endpoints=None, kubeconfig=str(kubeconfig_of(server, folder)))
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
    profiles = [{"schedulerName": "gpu"}]
    assert run(ask(server, tmp_path, 5, delayCacheUntilActive=True, profiles=profiles)) == {PATH}


def test_free_memory_is_returned_regularly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    returned: list[float] = []
    monkeypatch.setattr(scheduler_process, "_TRIM_SECONDS", 0.01)
    monkeypatch.setattr(scheduler_process, "give_free_memory_back", lambda: returned.append(time.monotonic()))
    run(ask(FakeApiServer(), tmp_path, 40))
    assert len(returned) > 1


async def lose_lease_while_events_wait(server: FakeApiServer, folder: Path) -> tuple[int, int]:
    """Steal the lease of a scheduler that has 100 events to write, and a plugin that takes its time to stop.

    Returns: how many events it had written when it lost the lease, and at its end.
    """
    lease, setup = LeaseServer(), set_up(yaml.safe_dump({**HEADER, **EAGER}).encode(), [StopsSlowly])
    objects_of: dict[str, list[Any]] = {kind: [] for kind in setup.watched_kinds}
    objects_of["Node"] = [json.loads(make_node("n1", allocatable={"cpu": "1", "pods": "1"}).raw)]
    objects_of["Pod"] = [json.loads(make_pod(f"web-{i}").raw) for i in range(101)]
    for kind, items in objects_of.items():
        server.on("LIST", list_path(kind), objects(*items))
        server.on("WATCH", list_path(kind), stream())
    for method, path in (("GET", PATH), ("PUT", PATH), ("POST", PATH.rpartition("/")[0])):
        server.on(method, path, answering(lease))
    server.on("POST", EVENTS, says({}))
    async with server:
        options = SchedulerOptions(endpoints=None, kubeconfig=str(kubeconfig_of(server, folder)))
        stop, ready = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(run_scheduler(setup, options, stop=stop, on_ready=lambda live: ready.set()))
        await ready.wait()
        while len(server.asked_for("POST", EVENTS)) <= EAGER["clientConnection"]["burst"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        lease.held_by("thief")
        n_tries = len(server.asked_for("PUT", PATH))
        while len(server.asked_for("PUT", PATH)) <= n_tries:  # noqa: ASYNC110 - the one that is refused
            await asyncio.sleep(0.01)
        n_before = len(server.asked_for("POST", EVENTS))
        with pytest.raises(LeaseLostError):
            await running
    return n_before, len(server.asked_for("POST", EVENTS))


def test_no_event_leaves_after_the_lease_though_the_process_ends_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leadership.ProcessEnd, "now", lambda self: None)
    monkeypatch.setattr(leadership.ProcessEnd, "after", lambda self, seconds: None)
    n_before, n_after = run(lose_lease_while_events_wait(FakeApiServer(), tmp_path))
    assert 0 < n_before < 100
    assert n_after <= n_before + 8  # some were on their way; 20 more could leave until the end


def test_requests_keep_to_the_configured_rate(tmp_path: Path) -> None:
    began = time.monotonic()
    run(ask(FakeApiServer(), tmp_path, 12, clientConnection={"qps": 20, "burst": 2}))
    assert time.monotonic() - began >= (12 - 2) / 20 - 0.05
