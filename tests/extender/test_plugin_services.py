"""What an extender offers to plugins, with a cluster and without one: metrics, events, requests to the API server."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from kubesched.framework import Plugin, Status
from tests.cluster.fake_api_server import FakeApiServer, line, node, says, stream
from tests.extender.asking import node as whole_node
from tests.extender.asking import with_names, with_nodes
from tests.extender.test_extender_process import NAMES, NODES, Process, lived, two_nodes, watching

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
QUOTA = "/apis/example.com/v1/quotas/q"


class Tells(Plugin):
    """Counts and tells users in filter, and writes in start where it can."""

    name = "my-plugin"

    async def start(self, handle: Any) -> None:
        self.calls = handle.metrics.counter("calls", "Calls by node.", labels=("node",))
        if handle.client:
            await handle.client.patch(QUOTA, {"spec": {"left": 2}})

    def filter(self, state: Any, pod: Any, node: Any) -> Status:
        self.calls.add(node.name)
        self.handle.event(node, "Warning", "NoLicense", "No license is left.")
        return Status.SUCCESS


def test_metrics_are_on_the_page_and_events_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="kubesched.plugin")

    async def story(process: Process) -> str:
        await process.ready.wait()
        for _ in range(2):
            await process.ask("/filter", with_nodes(whole_node("n1"), whole_node("n2")))
        return (await process.ask("/metrics"))[1]

    page = lived(story, Tells)
    assert 'kubesched_plugin_my_plugin_calls_total{node="n1"} 2.0' in page
    told = [message for message in caplog.messages if "NoLicense" in message]
    assert told == ["event NoLicense of n1: No license is left.", "event NoLicense of n2: No license is left."]


def test_events_and_requests_reach_the_api_server(tmp_path: Path) -> None:
    async def story(process: Process, server: FakeApiServer) -> None:
        server.on("PATCH", QUOTA, says({}))
        server.on("POST", EVENTS, says({}, 201))
        two_nodes(server)
        await process.ready.wait()
        await process.ask("/filter", NAMES)
        await server.until_asked("POST", 2)
        seen.extend(server.asked)

    seen: list[Any] = []
    watching(tmp_path, story, Tells)
    events = [asked.body for asked in seen if asked.path == EVENTS]
    assert sorted(event["regarding"]["name"] for event in events) == ["n1", "n2"]
    assert {(event["reason"], event["action"]) for event in events} == {("NoLicense", "my-plugin")}
    assert [asked.body for asked in seen if asked.path == QUOTA] == [{"spec": {"left": 2}}]


def test_refused_events_are_counted_on_the_page(tmp_path: Path) -> None:
    async def story(process: Process, server: FakeApiServer) -> str:
        server.on("PATCH", QUOTA, says({}))
        server.on("POST", EVENTS, says({"kind": "Status", "reason": "Forbidden"}, 403))
        two_nodes(server)
        await process.ready.wait()
        await process.ask("/filter", NAMES)
        for _ in range(500):
            page = (await process.ask("/metrics"))[1]
            if 'reason="refused"} 2.0' in page:
                break
            await asyncio.sleep(0.01)
        return page

    page = watching(tmp_path, story, Tells)
    assert 'kubesched_events_discarded_total{reason="refused"} 2.0' in page
    assert 'kubesched_events_discarded_total{reason="queue_full"} 0.0' in page


class LearnsNodes(Plugin):
    """Keeps in `start` the nodes that are there, while the watch shows another one."""

    is_starting: asyncio.Event

    async def start(self, handle: Any) -> None:
        self.first = {node.name for node in handle.list("Node")}
        self.is_starting.set()
        await asyncio.sleep(0.2)
        assert {node.name for node in handle.list("Node")} == self.first

    def filter(self, state: Any, pod: Any, node: Any) -> Status:
        return Status.SUCCESS if node.name in self.first else Status.unresolvable("came later")


def test_what_comes_while_a_plugin_starts_comes_to_the_extender_after_that(tmp_path: Path) -> None:
    async def story(process: Process, server: FakeApiServer) -> tuple[str, str]:
        LearnsNodes.is_starting = asyncio.Event()

        async def meanwhile(request: Any) -> Any:
            await LearnsNodes.is_starting.wait()
            return await stream(line("ADDED", node("n3", "11")))(request)

        server.on("WATCH", NODES, meanwhile)
        two_nodes(server)
        await LearnsNodes.is_starting.wait()
        early = (await process.ask("/filter", with_names("n1", "n3")))[1]
        await process.ready.wait()
        return early, (await process.ask("/filter", with_names("n1", "n3")))[1]

    early, late = (json.loads(text) for text in watching(tmp_path, story, LearnsNodes))
    assert early["Error"] == "kubesched extender: not ready: plugins are starting"
    assert (late["NodeNames"], late["FailedAndUnresolvableNodes"]) == (["n1"], {"n3": "came later"})
