"""Plugins that read further kinds: a custom resource, and the usage of nodes from an aggregated API.

Each plugin runs in a live scheduler, behind a stock kube-scheduler and offline, and decides the same.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kubesched import explain, load_snapshot
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run
from tests.integration.api_client import ApiClient, ApiError
from tests.integration.conftest import StartExtender, StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.metrics_server import MetricsServer, aggregated_metrics
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

GROUP = "scheduling.example.com"
QUOTAS = f"/apis/{GROUP}/v1/namespaces/default/quotas"
PLUGIN = '''
from kubesched import ActionType, ClusterEvent, EventRegistration, Plugin, Status


class NodeQuota(Plugin):
    """Keep a pod on the nodes of its quota."""

    reads = ("scheduling.example.com/v1/Quota?",)

    def events_to_register(self):
        changed = ActionType.ADD | ActionType.UPDATE
        return [EventRegistration(ClusterEvent("quotas.v1.scheduling.example.com", changed))]

    def filter(self, state, pod, node):
        quota = self.handle.get("scheduling.example.com/v1/Quota", pod.namespace, pod.labels.get("team", ""))
        fits = quota is not None and node.name in quota.document["spec"]["nodes"]
        return Status.SUCCESS if fits else Status.unresolvable("node(s) were not in the quota")
'''
NAMES = ("n1", "n2", "n3")


def nodes() -> list[Any]:
    return [make_node(name, allocatable={"cpu": "4", "memory": "8Gi", "pods": "110"}) for name in NAMES]


def node_of(client: ApiClient, name: str) -> str:
    node: str = client.get("Pod", name)["spec"].get("nodeName", "")
    return node


def message_of(client: ApiClient, name: str) -> str:
    conditions = client.get("Pod", name)["status"].get("conditions", [])
    return next((condition["message"] for condition in conditions if condition["type"] == "PodScheduled"), "")


@contextmanager
def definition(client: ApiClient) -> Iterator[None]:
    """The custom resource Quota, for the time of the block."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Quota", "plural": "quotas", "singular": "quota", "listKind": "QuotaList"}
    document = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"quotas.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    client.call("POST", path, document)
    try:
        wait_until(lambda: client.is_up(QUOTAS), "the custom resource", seconds=60)
        yield
    finally:
        client.call("DELETE", f"{path}/quotas.{GROUP}")
        wait_until(lambda: not client.is_up(QUOTAS), "the end of the custom resource", seconds=60)


def quota(client: ApiClient, name: str, *names: str) -> None:
    document = {"apiVersion": f"{GROUP}/v1", "kind": "Quota", "metadata": {"name": name}, "spec": {"nodes": names}}
    try:
        client.call("POST", QUOTAS, document)
    except ApiError:
        client.call("PATCH", f"{QUOTAS}/{name}", {"spec": {"nodes": names}})


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    (tmp_path / "quota.py").write_text(PLUGIN)
    return f"{tmp_path / 'quota.py'}:NodeQuota"


def test_a_plugin_that_reads_a_custom_resource_decides_the_same_three_ways(
    cluster: ControlPlane,
    start_extender: StartExtender,
    start_scheduler: StartScheduler,
    plugin: str,
    tmp_path: Path,
) -> None:
    client = cluster.client
    teams = {"red": ["n1"], "blue": ["n3"], "none": []}
    pods = [make_pod(team, labels={"team": team}) for team in teams]
    with definition(client):
        client.create_all(nodes())
        for team, names in teams.items():
            quota(client, team, *names)
        live = LiveProcess(cluster, tmp_path, {}, "--plugin", plugin)
        try:
            client.create_all(pods)
            wait_until(lambda: node_of(client, "red") and node_of(client, "blue"), "the pods")
            by_live = {name: node_of(client, name) for name in teams}
            wait_until(lambda: message_of(client, "none"), "the condition")
            assert "3 node(s) were not in the quota" in message_of(client, "none")
            quota(client, "none", "n2")
            wait_until(lambda: node_of(client, "none") == "n2", "the pod that an event of its quota woke")
            quota(client, "none")
        finally:
            live.stop()
        client.delete_all("Pod", "default")
        extender = start_extender("names", [plugin])
        scheduler = start_scheduler({"percentageOfNodesToScore": 100, "extenders": [extender.stanza]})
        client.create_all(pods)
        wait_until(lambda: node_of(client, "red") and node_of(client, "blue"), "the pods behind kube-scheduler")
        by_extender = {name: node_of(client, name) for name in teams}
        scheduler.stop()
        client.delete_all("Pod", "default")
        client.create_all(pods)
        saved = tmp_path / "cluster.json"
        kubeconfig = cluster.kubeconfig(tmp_path / "offline")
        run("snapshot", "--kubeconfig", kubeconfig, "--plugin", plugin, "-o", saved)
    offline = {name: "".join(explain(load_snapshot(saved), f"default/{name}", None, [plugin]).best) for name in teams}
    assert by_live == by_extender == offline == {"red": "n1", "blue": "n3", "none": ""}


def test_a_custom_resource_that_comes_later_does_not_stop_the_start(
    cluster: ControlPlane, plugin: str, tmp_path: Path
) -> None:
    cluster.client.create_all(nodes())
    live = LiveProcess(cluster, tmp_path, {}, "--plugin", plugin)
    try:
        cluster.client.create(make_pod("red", labels={"team": "red"}))
        wait_until(lambda: message_of(cluster.client, "red"), "the condition")
        said = "".join(live.logs())
        assert "watching quotas.scheduling.example.com: GET" in said
    finally:
        live.stop()


USAGE = {"n1": ("3500m", "1Gi"), "n2": ("200m", "1Gi")}  # n3 has no sample
CONFIG = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "NodeUsage", "weight": 100}]}}}]}
ARGS = "whenStale: reject\n"


@pytest.fixture
def metrics(cluster: ControlPlane, tmp_path: Path) -> Iterator[MetricsServer]:
    with aggregated_metrics(cluster.client, tmp_path / "metrics") as server:
        server.usage = dict(USAGE)
        yield server


def test_real_usage_decides_the_same_three_ways(
    cluster: ControlPlane,
    metrics: MetricsServer,
    start_extender: StartExtender,
    start_scheduler: StartScheduler,
    tmp_path: Path,
) -> None:
    client = cluster.client
    client.create_all(nodes())
    (tmp_path / "args.yaml").write_text(ARGS)
    args = ("--plugin-args", f"NodeUsage={tmp_path / 'args.yaml'}")
    live = LiveProcess(cluster, tmp_path, CONFIG, *args)
    try:
        client.create(make_pod("web"))
        wait_until(lambda: node_of(client, "web"), "the pod")
        by_live = [node_of(client, "web")]
        client.create(make_pod("only-n3", spec={"nodeSelector": {"kubernetes.io/hostname": "n3"}}))
        wait_until(lambda: "node(s) had no recent usage data" in message_of(client, "only-n3"), "the condition")
        metrics.usage["n3"] = ("1", "1Gi")
        wait_until(lambda: node_of(client, "only-n3"), "the pod after its node was measured", seconds=40)
        del metrics.usage["n3"]
    finally:
        live.stop()
    client.delete_all("Pod", "default")
    options = ("--plugin-args", f"NodeUsage={tmp_path / 'args.yaml'}")
    extender = start_extender("names", ["kubesched.usage:NodeUsage"], *options)
    profile = {"plugins": {"score": {"disabled": [{"name": "*"}]}}}
    scheduler = start_scheduler(
        {"percentageOfNodesToScore": 100, "profiles": [profile], "extenders": [extender.stanza]}
    )
    client.create(make_pod("web"))
    wait_until(lambda: node_of(client, "web"), "the pod behind kube-scheduler")
    by_extender = [node_of(client, "web")]
    scheduler.stop()
    client.delete_all("Pod", "default")
    client.create(make_pod("web"))
    saved, config = tmp_path / "cluster.json", tmp_path / "scheduler.json"
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config.write_text(json.dumps({**kind, **CONFIG}))
    kubeconfig = cluster.kubeconfig(tmp_path / "offline")
    run("snapshot", "--kubeconfig", kubeconfig, "--usage", "-o", saved)
    answer = run("explain", saved, "default/web", "--config", config, *args, "-o", "json")
    document = json.loads(answer.stdout)
    assert by_live == by_extender == [document["choice"]["best"]["node"]] == ["n2"]
    assert document["notes"][0]["text"].startswith("2 of 3 nodes have a recent sample from metrics.k8s.io")
    again = run("explain", "--kubeconfig", kubeconfig, "default/web", "--config", config, *args, "-o", "json")
    assert json.loads(again.stdout)["choice"]["best"]["node"] == "n2"
