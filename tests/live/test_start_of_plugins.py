"""Plugins of a live scheduler start on a loaded cluster, before any hook is called for a pod."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubesched.api import KubeObject, Pod
from kubesched.framework import CycleState, Plugin, QueuedPodInfo, Status
from kubesched.live import SchedulerOptions, run_scheduler
from kubesched.setup import set_up
from kubesched.shadow import run_shadow
from kubesched.state import NodeInfo
from kubesched.testing import make_node, make_pod
from tests.cluster.fake_api_server import Answer, FakeApiServer, line, says, stream
from tests.cluster.fake_timing import run
from tests.live.read_only import kubeconfig_of, read_only_server

CONFIG = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort: {enabled: [{name: Prepares}], disabled: [{name: "*"}]}
    multiPoint: {enabled: [{name: Prepares}]}
"""


class Prepares(Plugin):
    """Prepares in `start`, slowly, what its other hooks use.

    Attributes:
        calls: what was called, for which pod.
        is_starting: set when `start` has begun.
    """

    calls: list[str]
    is_starting: asyncio.Event

    async def start(self, handle: Any) -> None:
        self.calls.append(f"start with {','.join(node.name for node in handle.list('Node'))}")
        self.is_starting.set()
        await asyncio.sleep(0.2)  # the watch shows more in the meantime
        self.places = {"first": 0, "second": 1, "later": 2}
        self.calls.append("started")

    def pre_enqueue(self, pod: Pod) -> Status:
        self.calls.append(f"pre_enqueue {pod.name} {self.places[pod.name]}")
        return Status.SUCCESS

    def sort_key(self, queued: QueuedPodInfo) -> tuple[object, ...]:
        self.calls.append(f"sort_key {queued.pod.name}")
        return (self.places[queued.pod.name],)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        self.calls.append(f"filter {pod.name} on {node.name}")
        return Status.SUCCESS if pod.name in self.places else Status.unschedulable("not known")


def while_starting(*events: tuple[str, KubeObject]) -> Answer:
    """A watch that shows events while the plugin starts."""
    shown = stream(*(line(type_, {**obj.document, "kind": type(obj).__name__}) for type_, obj in events))

    async def answer(request: web.Request) -> web.StreamResponse:
        await Prepares.is_starting.wait()
        return await shown(request)

    return answer


def waiting(name: str, version: str = "1") -> Pod:
    return make_pod(name, metadata={"uid": name, "resourceVersion": version})


def lived(
    folder: Path,
    server: FakeApiServer,
    start: Callable[..., Awaitable[None]],
    until: Callable[[], bool],
    **options: Any,
) -> list[str]:
    """What was called until a condition held."""

    async def story() -> None:
        Prepares.calls, Prepares.is_starting = [], asyncio.Event()
        stop = asyncio.Event()
        async with server, asyncio.timeout(20):
            running = asyncio.ensure_future(
                start(
                    set_up(CONFIG, plugins=[Prepares]),
                    SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, folder), **options),
                    stop=stop,
                    on_ready=lambda live: None,
                )
            )
            while not until():
                assert not running.done(), await running
                await asyncio.sleep(0.01)
            stop.set()
            await running

    run(story())
    return Prepares.calls


def in_order(calls: list[str]) -> tuple[list[str], set[str]]:
    """What was called until the plugin had started, and the pods that it was called for then."""
    end = calls.index("started")
    return calls[:end], {call.split()[1] for call in calls[end + 1 :]}


POD_WATCH = ("ADDED", waiting("later", "20")), ("DELETED", waiting("second", "21"))


def test_start_comes_before_all_hooks_and_nothing_is_lost_that_comes_meanwhile(tmp_path: Path) -> None:
    server = read_only_server(
        make_node("n1"),
        waiting("first"),
        waiting("second"),
        pod_watch=while_starting(*POD_WATCH),
        node_watch=while_starting(("ADDED", make_node("n2"))),
    )
    server.on("POST", "/apis/events.k8s.io/v1/namespaces/default/events", says({}, 201))
    bindings = [f"/api/v1/namespaces/default/pods/{name}/binding" for name in ("first", "later")]
    for path in bindings:
        server.on("POST", path, says({}, 201))

    def both_bound() -> bool:
        return all(server.asked_for("POST", path) for path in bindings)

    calls = lived(tmp_path, server, run_scheduler, both_bound)
    before, pods = in_order(calls)
    assert before == ["start with n1"]
    assert pods == {"first", "second", "later"}
    assert not any(call.startswith("filter second") for call in calls)  # it was deleted meanwhile
    assert "filter first on n2" in calls  # which came meanwhile
    assert not server.asked_for("PATCH")


def test_a_dry_run_starts_plugins_in_the_same_order(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server = read_only_server(
        make_node("n1"), waiting("first"), waiting("second"), pod_watch=while_starting(*POD_WATCH)
    )
    calls = lived(tmp_path, server, run_scheduler, lambda: caplog.messages.count("would bind") == 2, dry_run=True)
    assert in_order(calls) == (["start with n1"], {"first", "second", "later"})


def test_shadow_mode_judges_no_binding_before_the_plugins_have_started(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="kubesched.shadow")
    bound = make_pod("first", node="n1", metadata={"uid": "first", "resourceVersion": "20"})
    server = read_only_server(make_node("n1"), waiting("first"), pod_watch=while_starting(("MODIFIED", bound)))
    calls = lived(
        tmp_path, server, partial(run_shadow, folder=None), lambda: Prepares.calls[-1:] == ["filter first on n1"]
    )
    assert calls == ["start with n1", "started", "filter first on n1"]
    assert caplog.messages[-1].startswith("1 bindings judged: 1 agreed")
