"""One plugin with every hook, in the three ways to run: live, behind a stock kube-scheduler, and offline on a snapshot.

The pods come one after another, so that no way depends on the order in which a queue takes them. All three place every
pod on the same node and leave the same pods without one; metrics, events and writes arrive where the API server is.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kubesched import KubeObject, Simulator, load_snapshot
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import write
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until
from tests.integration.test_extender import placed, scheduled_condition

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

PLUGIN = f"{Path(__file__).with_name('every_hook.py')}:EveryHook"
PROFILE = {
    "plugins": {
        "multiPoint": {"enabled": [{"name": "every-hook", "weight": 1000}]},
        "queueSort": {"disabled": [{"name": "PrioritySort"}]},
        "bind": {"disabled": [{"name": "DefaultBinder"}]},
    }
}
FIELDS: dict[str, Any] = {"percentageOfNodesToScore": 100, "profiles": [PROFILE]}
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
BEHIND = {"start", "pre_filter", "filter", "pre_score", "score", "normalize_score", "reserve", "unreserve", "permit"}
BEHIND |= {"pre_bind", "bind", "post_bind"}
"""The hooks that run behind a kube-scheduler, in which nothing preempts."""
ALL = BEHIND | {"pre_enqueue", "less", "post_filter"}


def nodes() -> list[KubeObject]:
    room = {"cpu": "2", "memory": "8Gi", "pods": 10}
    teams = ("red", "red", "red", "blue", "blue")
    return [
        make_node(f"n{i}", labels={"team": team, "rank": str(i)}, allocatable=room) for i, team in enumerate(teams, 1)
    ]


def pods() -> list[KubeObject]:
    """Five of each team, of which the last finds no room for blue; one of no team, and one that permit refuses."""
    teams = [team for _ in range(5) for team in ("red", "blue")]
    made = [make_pod(f"p{i}", labels={"team": team}, requests={"cpu": "1"}) for i, team in enumerate(teams)]
    return [*made, make_pod("q0", labels={"team": "green"}), make_pod("q1", labels={"team": "red", "permit": "no"})]


def settle(client: ApiClient) -> dict[str, str]:
    """Create the pods, each after the one before has a node or the reason why it has none. Returns: their nodes."""
    client.create_all(nodes())
    for pod in pods():
        client.create(pod)
        wait_until(
            lambda name=pod.name: name in placed(client) or scheduled_condition(client, name), f"{pod.name} is decided"
        )
    return placed(client)


def offline(folder: Path) -> dict[str, str]:
    snapshot = load_snapshot(write(folder, *nodes(), *pods()))
    config = folder / "offline.yaml"
    config.write_text(json.dumps({**HEADER, **FIELDS}))
    simulator = Simulator(snapshot, config, [PLUGIN])
    report = simulator.run()
    assert {event.reason for event in simulator.plugin_events.events} == {"OtherTeam", "Reserved"}
    return {one.pod.removeprefix("default/"): one.node for one in report.placements if one.node}


def assert_written(client: ApiClient, at: dict[str, str]) -> None:
    """The plugin's annotation is on each placed pod, and its events are there, with its name."""
    marked = {
        pod["metadata"]["name"]
        for pod in client.read_all("Pod")
        if pod["metadata"].get("annotations", {}).get("example.com/by") == "every-hook"
    }
    assert marked == at.keys()

    def reserved() -> set[str]:
        told = [event for event in client.read_all("Event") if event["reason"] == "Reserved"]
        assert {event["action"] for event in told} <= {"every-hook"}
        return {event["regarding"]["name"] for event in told}

    wait_until(lambda: reserved() >= at.keys(), "the events of the plugin")


def counted(metrics: dict[str, float]) -> set[str]:
    return {hook for hook in ALL if metrics.get(f'kubesched_plugin_every_hook_calls_total{{hook="{hook}"}}')}


EXPECTED = {"p0": "n3", "p2": "n3", "p4": "n2", "p6": "n2", "p8": "n1", "p1": "n5", "p3": "n5", "p5": "n4", "p7": "n4"}


def test_live_every_hook_runs_and_decides_as_offline(cluster: ControlPlane, tmp_path: Path) -> None:
    live = LiveProcess(cluster, tmp_path, FIELDS, "--plugin", PLUGIN)
    try:
        at = settle(cluster.client)
        assert_written(cluster.client, at)
        crowd = [make_pod(f"r{i}", labels={"team": "green"}) for i in range(50)]  # several are in the queue at a time
        cluster.client.create_all(crowd)
        wait_until(lambda: counted(live.metrics(cluster.token)) == ALL, "a call of every hook")
    finally:
        live.stop()
    assert at == EXPECTED == offline(tmp_path)
    assert "belonged to another team" in scheduled_condition(cluster.client, "q0")["message"]
    assert "permit said no" in scheduled_condition(cluster.client, "q1")["message"]


def test_behind_a_kube_scheduler_it_decides_as_offline(
    cluster: ControlPlane, start_scheduler: StartScheduler, tmp_path: Path
) -> None:
    config = tmp_path / "extender.yaml"
    config.write_text(json.dumps({**HEADER, **FIELDS}))
    kubeconfig = cluster.kubeconfig(tmp_path / "kubeconfig")
    extender = ExtenderProcess(
        tmp_path / "extender", [PLUGIN], "--config", str(config), "--kubeconfig", str(kubeconfig)
    )
    try:
        start_scheduler({"percentageOfNodesToScore": 100, "extenders": [extender.stanza]})
        at = settle(cluster.client)
        assert_written(cluster.client, at)
        page = {hook: extender.metric(f'kubesched_plugin_every_hook_calls_total{{hook="{hook}"}}') for hook in ALL}
    finally:
        extender.stop()
    assert at == EXPECTED == offline(tmp_path)
    assert {hook for hook, n in page.items() if n} == BEHIND
    assert "belonged to another team" in scheduled_condition(cluster.client, "q0")["message"]
    assert "permit said no" in scheduled_condition(cluster.client, "q1")["message"]
