"""A scheduler whose API server takes events slowly: those of bindings arrive, and what is missing is counted."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubesched.cluster import event_recorder
from kubesched.live import SchedulerOptions, run_scheduler
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.cluster.fake_api_server import says
from tests.cluster.fake_timing import run
from tests.live.read_only import kubeconfig_of, read_only_server

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
PODS = "/api/v1/namespaces/default/pods"
CONFIG = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
"""
N_FIT, N_LARGE = 20, 400


async def burst(folder: Path) -> list[Any]:
    """Decide all pods while the API server holds events back. Returns: the events that it took."""
    fit = [make_pod(f"fits-{i}", metadata={"uid": f"f{i}"}) for i in range(N_FIT)]
    large = [make_pod(f"large-{i}", metadata={"uid": f"l{i}"}, requests={"cpu": "100"}) for i in range(N_LARGE)]
    half = N_LARGE // 2
    server = read_only_server(
        make_node("n1", allocatable={"cpu": "4", "pods": "100"}), *large[:half], *fit, *large[half:]
    )
    is_slow = asyncio.Event()

    async def held_back(request: web.Request) -> web.StreamResponse:
        await is_slow.wait()
        return web.json_response({}, status=201)

    server.on("POST", EVENTS, held_back)
    for pod in fit:
        server.on("POST", f"{PODS}/{pod.name}/binding", says({}, 201))
    for pod in large:
        server.on("PATCH", f"{PODS}/{pod.name}/status", says({}))
    async with server, asyncio.timeout(50):
        stop = asyncio.Event()
        options: SchedulerOptions = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, folder))
        running = asyncio.create_task(run_scheduler(set_up(CONFIG), options, stop=stop, on_ready=lambda live: None))
        await server.until_asked("PATCH", N_LARGE)
        await asyncio.gather(*(server.until_asked("POST", 1, f"{PODS}/{pod.name}/binding") for pod in fit))
        is_slow.set()
        stop.set()
        await running
    return [asked.body for asked in server.asked_for("POST", EVENTS)]


def test_bindings_keep_their_events_and_the_log_counts_the_missing_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_recorder, "_MAX_WAITING", 100)
    taken = run(burst(tmp_path))
    scheduled = {event["regarding"]["name"] for event in taken if event["reason"] == "Scheduled"}
    n_failed = sum(event["reason"] == "FailedScheduling" for event in taken)
    assert scheduled == {f"fits-{i}" for i in range(N_FIT)}
    logged = re.findall(r"(\d+) events are discarded, (\d+) since the start", caplog.text)
    assert logged == [(str(N_LARGE - n_failed),) * 2]
    assert 0 < n_failed < N_LARGE
