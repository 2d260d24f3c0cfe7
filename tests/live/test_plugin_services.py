"""What a live scheduler offers to plugins: events and requests reach the API server, and a dry run writes none."""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kubesched.errors import ClusterError
from kubesched.framework import CycleState, Plugin, Status
from kubesched.live import SchedulerOptions, run_scheduler
from kubesched.metrics import SchedulerMetrics, ShadowMetrics
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.cluster.fake_api_server import says
from tests.cluster.fake_timing import run
from tests.live.leases import PATH, LeaseServer
from tests.live.read_only import kubeconfig_of, read_only_server
from tests.live.test_scheduler_process import answering

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
POD = "/api/v1/namespaces/default/pods/p"
QUOTA = "/apis/example.com/v1/quotas/q"
CONFIG = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
"""


class Writes(Plugin):
    """Tells users of each node, and marks the pod that it bound."""

    name = "my-plugin"
    refused = ""

    async def start(self, handle: Any) -> None:
        assert await handle.client.request("GET", QUOTA) == {"spec": {"left": 3}}
        try:
            await handle.client.patch(QUOTA, {"spec": {"left": 2}})
        except ClusterError as error:
            Writes.refused = str(error)

    def filter(self, state: CycleState, pod: Any, node: Any) -> Status:
        self.handle.event(pod, "Warning", "NoLicense", f"No license for {node.name}.")
        self.handle.event(node, "Normal", "Looked", "A pod was here.")
        return Status.SUCCESS

    async def post_bind(self, state: CycleState, pod: Any, node_name: str) -> None:
        await self.handle.client.patch(POD, {"metadata": {"annotations": {"node": node_name}}})


async def until_logged(logger: str, message: str) -> None:
    """Wait for a line of the log."""
    is_logged = asyncio.Event()

    def note(record: logging.LogRecord) -> bool:
        if record.getMessage() == message:
            is_logged.set()
        return True

    logging.getLogger(logger).addFilter(note)
    try:
        await is_logged.wait()
    finally:
        logging.getLogger(logger).removeFilter(note)


async def lived(folder: Path, *, dry_run: bool = False) -> list[Any]:
    """The requests of a scheduler that change something, until it has bound the pod."""
    server = read_only_server(make_node("n1"), make_pod("p", metadata={"uid": "u"}))
    server.on("GET", QUOTA, says({"spec": {"left": 3}}))
    for method, path in (("POST", EVENTS), ("POST", f"{POD}/binding"), ("PATCH", POD), ("PATCH", QUOTA)):
        server.on(method, path, says({}, 201))
    setup = set_up(CONFIG, plugins=[Writes])
    stop = asyncio.Event()
    async with server, asyncio.timeout(20):
        options: SchedulerOptions = SchedulerOptions(
            endpoints=None, kubeconfig=kubeconfig_of(server, folder), dry_run=dry_run
        )
        running = asyncio.create_task(run_scheduler(setup, options, stop=stop, on_ready=lambda live: None))
        if dry_run:
            await until_logged("kubesched.dryrun", "would bind")
        else:
            await server.until_asked("PATCH", 2)
            await server.until_asked("POST", 4)
        stop.set()
        await running
    return [asked for asked in server.asked if asked.method not in ("GET", "LIST", "WATCH")]


def test_events_and_requests_reach_the_api_server(tmp_path: Path) -> None:
    changes = run(lived(tmp_path))
    events = {asked.body["reason"]: asked.body for asked in changes if asked.path == EVENTS}
    assert events.keys() == {"NoLicense", "Looked", "Scheduled"}
    told = events["NoLicense"]
    assert (told["reportingController"], told["action"], told["type"]) == ("default-scheduler", "my-plugin", "Warning")
    assert told["note"] == "No license for n1."
    looked = events["Looked"]["regarding"]
    assert (looked["kind"], looked["name"], "namespace" in looked) == ("Node", "n1", False)
    patches = {asked.path: asked for asked in changes if asked.method == "PATCH"}
    assert patches[POD].body == {"metadata": {"annotations": {"node": "n1"}}}
    assert patches[QUOTA].headers["Content-Type"] == "application/merge-patch+json"


def test_a_dry_run_writes_neither_events_nor_requests(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert run(lived(tmp_path, dry_run=True)) == []
    assert Writes.refused == f"PATCH {QUOTA}: not sent, because a dry run writes nothing"
    assert "event NoLicense of default/p: No license for n1." in caplog.messages


@pytest.mark.parametrize("metrics", [SchedulerMetrics(), ShadowMetrics()])
def test_metrics_of_plugins_are_on_the_page_of_the_scheduler(metrics: Any) -> None:
    metrics.plugins.of("Mine").counter("calls", "Calls.").add()
    assert "kubesched_plugin_Mine_calls" in {family.name for family in metrics.collect()}


class WritesLater(Plugin):
    """Tries to write in `start`, and again in a task until the write is through."""

    refused: list[str]
    is_through: asyncio.Event

    async def start(self, handle: Any) -> None:
        try:
            await handle.client.patch(QUOTA, {"spec": {"left": 2}})
        except ClusterError as error:
            self.refused.append(str(error))
        self.task = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while not self.is_through.is_set():
            with suppress(ClusterError):
                await self.handle.client.patch(QUOTA, {"spec": {"left": 2}})
                self.is_through.set()
            await asyncio.sleep(0.01)

    def filter(self, state: CycleState, pod: Any, node: Any) -> Status:
        return Status.SUCCESS


def test_a_write_before_the_first_lease_is_refused_with_what_to_do_and_a_later_one_is_sent(tmp_path: Path) -> None:
    lease, server = LeaseServer(), read_only_server(make_node("n1"))
    for method, path in (("GET", PATH), ("PUT", PATH), ("POST", PATH.rpartition("/")[0])):
        server.on(method, path, answering(lease))
    server.on("PATCH", QUOTA, says({}))

    async def story() -> None:
        WritesLater.refused, WritesLater.is_through = [], asyncio.Event()
        setup = set_up(CONFIG.replace(b"leaderElect: false", b"resourceName: kubesched"), plugins=[WritesLater])
        stop = asyncio.Event()
        async with server, asyncio.timeout(20):
            options: SchedulerOptions = SchedulerOptions(
                endpoints=None, kubeconfig=kubeconfig_of(server, tmp_path), replaces=True
            )
            running = asyncio.create_task(run_scheduler(setup, options, stop=stop, on_ready=lambda live: None))
            await WritesLater.is_through.wait()
            stop.set()
            await running

    run(story())
    (refused,) = WritesLater.refused
    reason = "this process does not lead yet; write in a task that start makes, and try again after this ClusterError"
    assert refused == f"PATCH {QUOTA}: not sent, because {reason}"
    assert len(server.asked_for("PATCH", QUOTA)) == 1
