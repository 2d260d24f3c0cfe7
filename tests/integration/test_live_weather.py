"""A live scheduler behind an API server that is busy, that forgets, that sends nonsense; and one that is stopped."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGCONT, SIGSEGV, SIGSTOP, SIGUSR2
from typing import Any

import pytest
from aiohttp import web

from campaigns.faults.fault import Fault
from campaigns.faults.fault_proxy import FaultProxy
from campaigns.faults.proxied_plane import ProxiedPlane
from kubesched.testing import make_node, make_pod
from tests.cluster.fake_api_server import line
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until
from tests.serving.certificates import Authority

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

LEASE_SECONDS = 3.0
N_PODS = 200  # more than requests in flight
SHORT_LEASE = {
    "leaderElection": {
        "leaderElect": True,
        "leaseDuration": f"{LEASE_SECONDS:g}s",
        "renewDeadline": "2s",
        "retryPeriod": "500ms",
        "resourceName": "kubesched",
    }
}
PERMITS = """
import asyncio
from kubesched import Plugin, Wait

class Permits(Plugin):
    def permit(self, state, pod, node):
        return Wait(60.0)

    async def start(self, handle):
        async def allow():
            while True:
                await asyncio.sleep(1.0)
                for waiting in handle.waiting_pods().values():
                    waiting.allow("Permits")
        self.task = asyncio.create_task(allow())
"""
BUSY = {"Retry-After": "1"}
GHOST = {
    "metadata": {"name": "ghost", "namespace": "default", "uid": "ghost", "resourceVersion": "1"},
    "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "main", "image": "none"}]},
}
GREEDY = {
    "metadata": {"name": "greedy", "namespace": "default", "uid": "greedy", "resourceVersion": "1"},
    "spec": {
        "schedulerName": "default-scheduler",
        "containers": [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "much"}}}],
    },
}
NOT_EVENTS = {
    "html": b"<html>502 Bad Gateway</html>",
    "half an object": b'{"type":"ADDED","object":{"kind":"Pod","apiVers',
    "a node": line("ADDED", {"kind": "Node", "apiVersion": "v1", **GHOST}).strip(),
    "a pod from the future": line("ADDED", {"kind": "Pod", "apiVersion": "v2", **GHOST}).strip(),
    "an unknown type": line("PATCHED", {"kind": "Pod", "apiVersion": "v1", **GHOST}).strip(),
    "a bookmark without metadata": line("BOOKMARK", {"kind": "Pod", "apiVersion": "v1"}).strip(),
    "a pod without a name": line("ADDED", {"kind": "Pod", "apiVersion": "v1", "metadata": {}}).strip(),
    "a pod that requests much": line("ADDED", {"kind": "Pod", "apiVersion": "v1", **GREEDY}).strip(),
    "a line of 32 MiB": b"a" * 2**25,
}


class Stage:
    """A scheduler behind a proxy, and a cluster with one node."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.client = plane.client
        self._plane = plane
        self._folder = folder
        self.client.create(make_node("node-1", allocatable={"cpu": "32", "memory": "64Gi", "pods": "1000"}))

    def start(self, tls: ssl.SSLContext | None = None) -> None:
        """Start the proxy."""
        self.proxy = FaultProxy(self._plane.url, tls=tls)
        self.proxy.__enter__()
        self.view = ProxiedPlane(self._plane, self.proxy)

    def run(self, config: dict[str, Any] | None = None, *options: str) -> None:
        """Start the scheduler."""
        self.live = LiveProcess(self.view, self._folder, config or {}, *options)  # type: ignore[arg-type]

    def stop(self) -> None:
        if hasattr(self, "live"):
            self.live.process.send(SIGCONT)
            self.live.stop()
        self.proxy.__exit__()

    def place(self, name: str, seconds: float = 10.0) -> None:
        self.client.create(make_pod(name))
        self.until_placed(name, seconds)

    def until_placed(self, name: str, seconds: float = 10.0) -> None:
        wait_until(lambda: self.client.get("Pod", name)["spec"].get("nodeName"), f"{name} on a node", seconds=seconds)

    def compare(self) -> list[str]:
        """What differs between the cache and the API server."""
        n = len(self.live.logs())
        self.live.process.send(SIGUSR2)
        found = lambda: [text for text in self.live.logs()[n:] if "cache comparison" in text]  # noqa: E731
        return [text for text in wait_until(found, "the comparison") if "no differences" not in text]


@pytest.fixture
def stage(cluster: ControlPlane, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(cluster, tmp_path)
    stage.start()
    yield stage
    stage.stop()


def test_nothing_but_pods_comes_from_the_watch_of_pods(stage: Stage) -> None:
    stage.run()
    for name, text in NOT_EVENTS.items():
        wait_until(lambda text=text: stage.proxy.say("pods", text), f"a watch to say {name} into")
        stage.place(name.replace(" ", "-").lower())
    assert {sent.pod for sent in stage.proxy.bindings} == {name.replace(" ", "-").lower() for name in NOT_EVENTS}
    assert stage.compare() == []


def test_an_api_server_that_repeats_itself_is_not_asked_without_pause(stage: Stage) -> None:
    stage.run()
    stage.place("first")
    version = stage.client.get("Pod", "first")["metadata"]["resourceVersion"]
    same = line("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": version}})
    repeats = stage.proxy.make(Fault("watch", "pods", status=200, body=same))
    stage.proxy.cut_watches()
    time.sleep(3.0)
    assert 1 <= repeats.made <= 4
    stage.proxy.calm()
    stage.place("second", seconds=20)


def test_a_busy_api_server_gets_the_time_that_it_asks_for(stage: Stage) -> None:
    retried = (("list", "pods"), ("create", "pods/binding"), ("patch", "pods/status"))
    for verb, resource in (*retried, ("create", "events")):
        stage.proxy.make(Fault(verb, resource, times=2, status=429, headers=BUSY))
    stage.run()
    stage.client.create(make_pod("large", requests={"cpu": "100"}))
    stage.place("fits")
    wait_until(lambda: stage.client.get("Pod", "large")["status"].get("conditions"), "the condition of a pod")
    wait_until(lambda: any(call.status == 201 for call in stage.proxy.called("create", "events")), "an event")
    for verb, resource in retried:
        first, second, third, *_ = stage.proxy.called(verb, resource)
        assert (first.status, second.status, third.status < 300) == (429, 429, True)
        assert all(1.0 <= later.at - earlier.at < 2.0 for earlier, later in ((first, second), (second, third)))


def test_versions_that_are_gone_several_times_in_a_row_lose_nothing(stage: Stage) -> None:
    stage.run()
    stage.place("first")
    stage.proxy.make(Fault("list", "pods", times=1, status=410))
    stage.proxy.make(Fault("watch", "pods", times=2, status=410))
    stage.proxy.cut_watches()
    stage.place("second", seconds=15)
    wait_until(lambda: len(stage.proxy.called("watch", "pods")) >= 4, "the third watch", seconds=15)
    assert stage.compare() == []


@pytest.mark.parametrize("when", ["at the first Binding", "in a burst", "in Permit"])
def test_no_binding_leaves_a_process_that_was_stopped_past_its_lease(stage: Stage, tmp_path: Path, when: str) -> None:
    """The permission of the pods that wait in Permit comes in every second."""
    (tmp_path / "permits.py").write_text(PERMITS)
    options = ("--plugin", f"{tmp_path / 'permits.py'}:Permits") if when == "in Permit" else ()
    stage.run(SHORT_LEASE, *options)
    stage.place("first")
    process, is_stopped = stage.live.process, threading.Event()
    n_bindings = {"at the first Binding": 2, "in a burst": 20, "in Permit": 1}[when]

    def stop_in_time(phase: str, method: str, path: str) -> None:
        if len(stage.proxy.bindings) >= n_bindings and not is_stopped.is_set() and "/leases/" not in path:
            process.send(SIGSTOP)
            is_stopped.set()

    stage.proxy.on_request = stop_in_time  # in Permit: when the first event comes
    stage.client.create_all([make_pod(f"pod-{n}") for n in range(N_PODS)])
    if when == "in Permit":
        stage.client.create(make_pod("large", requests={"cpu": "100"}))
    assert is_stopped.wait(10)
    time.sleep(LEASE_SECONDS + 1.5)
    n_before = len(stage.proxy.bindings)
    process.send(SIGCONT)
    assert process.exit_code() in (1, -SIGSEGV)  # see ProcessEnd.after
    assert len(stage.proxy.bindings) == n_before <= N_PODS


def test_credentials_are_replaced_under_a_leader(cluster: ControlPlane, tmp_path: Path) -> None:
    """Its token and the authority, after which the old ones do not count."""
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    old, new = Authority(tmp_path / "old", "old"), Authority(tmp_path / "new", "new")
    tls = old.server_context(old.issue("server", "localhost", "127.0.0.1"))
    token, ca = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("first")
    ca.write_bytes(old.path.read_bytes())
    stage = Stage(cluster, tmp_path)
    stage.start(tls)
    try:
        stage.view.cluster["certificate-authority"] = str(ca)
        stage.view.user = {"tokenFile": str(token)}
        stage.proxy.accepts = bearer("first")
        stage.run(SHORT_LEASE)
        stage.place("one")
        token.write_text("<html>\n")  # half a replacement
        token.write_text("second")
        stage.proxy.accepts = bearer("second")
        stage.place("two")
        ca.write_bytes(new.path.read_bytes())
        tls.load_cert_chain(*new.issue("server", "localhost", "127.0.0.1"))
        stage.proxy.cut_connections()
        stage.place("three")
        time.sleep(LEASE_SECONDS)
        stage.place("four")
        assert stage.live.process.is_running
    finally:
        stage.stop()


def bearer(token: str) -> Callable[[web.Request], bool]:
    return lambda request: request.headers.get("Authorization") == f"Bearer {token}"
