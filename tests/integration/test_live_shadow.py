"""With rights to read alone: a dry run writes nothing, and shadow mode agrees with kube-scheduler on every binding."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run
from tests.docs.pages import ROOT, read_blocks
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until
from tests.integration.random_cluster import random_nodes, random_pods, random_services

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
ALL_NODES = {"percentageOfNodesToScore": 100}
OPEN_METRICS = ("--authorization-always-allow-paths", "/metrics")
N_PODS = 100
GUIDE = ROOT / "docs" / "guides" / "scheduler.md"


@pytest.fixture
def reader(cluster: ControlPlane, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Fields of a configuration for an account that may read what the guide says, and nothing else."""
    api, name = cluster.client, {"metadata": {"name": "reader"}}
    (rules,) = [
        yaml.safe_load(block.text)["rules"]
        for block in read_blocks(GUIDE.read_text())
        if block.options.get("file") == "reader.yaml"
    ]
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "default"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    api.call("POST", ACCOUNTS, name)
    api.call("POST", f"{RBAC}/clusterroles", {**name, "rules": rules})
    api.call("POST", f"{RBAC}/clusterrolebindings", {**name, "roleRef": role, "subjects": [subject]})
    token = api.call("POST", f"{ACCOUNTS}/reader/token", {"spec": {}})["status"]["token"]
    kubeconfig = cluster.kubeconfig(tmp_path / "reader")
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"][0]["user"] = {"token": token}
    kubeconfig.write_text(yaml.safe_dump(document))
    yield {"clientConnection": {"kubeconfig": str(kubeconfig)}}
    for path in (f"{RBAC}/clusterrolebindings", f"{RBAC}/clusterroles", ACCOUNTS):
        api.call("DELETE", f"{path}/reader")


def n_refused(api: ApiClient) -> float:
    """How many requests the API server has refused, as it refuses every write of an account that may only read."""
    page = api.text("/metrics")
    return sum(float(n) for n in re.findall(r'^apiserver_request_total\{code="403".*\} (\S+)$', page, re.MULTILINE))


def nodes_of_pods(api: ApiClient) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in api.read_all("Pod", "default")}


def stopped(shadow: LiveProcess) -> dict[str, int]:
    """End a shadow. Returns: the counts of its summary."""
    shadow.stop()
    summary = [line for line in shadow.logs() if "bindings judged" in line][-1]
    return {name: int(n) for n, name in re.findall(r"(\d+) (\w+)", summary.partition("judged:")[2])}


def test_a_dry_run_decides_for_all_and_writes_nothing(
    cluster: ControlPlane, reader: dict[str, Any], tmp_path: Path
) -> None:
    api = cluster.client
    api.create_all([make_node(f"n{i}", allocatable={"cpu": "4", "memory": "8Gi", "pods": "20"}) for i in range(2)])
    before = n_refused(api)
    live = LiveProcess(cluster, tmp_path, {**reader, "leaderElection": {"leaderElect": True}}, "--dry-run")
    try:
        api.create_all([make_pod(f"p{i}", requests={"cpu": "1"}) for i in range(9)])
        wait_until(lambda: sum("unschedulable" in line for line in live.logs()), "the ninth pod, which has no room")
        wait_until(lambda: sum("would bind" in line for line in live.logs()) == 8, "eight decisions")
    finally:
        live.stop()
    assert set(nodes_of_pods(api).values()) == {""}
    assert n_refused(api) == before
    assert not any(pod["status"].get("conditions") for pod in api.read_all("Pod", "default"))


def test_shadow_agrees_with_kube_scheduler_on_every_pod(
    cluster: ControlPlane, reader: dict[str, Any], start_scheduler: StartScheduler, tmp_path: Path
) -> None:
    api, random = cluster.client, Random(7)
    api.create_all([*random_nodes(random, 60), *random_services()])
    start_scheduler(ALL_NODES)
    before = n_refused(api)
    shadow = LiveProcess(cluster, tmp_path, {**reader, **ALL_NODES}, "--shadow", *OPEN_METRICS)
    try:
        for pod in random_pods(random, N_PODS):
            api.create(pod)
            wait_until(lambda name=pod.name: nodes_of_pods(api)[name], f"a node for {pod.name}")
        page = wait_until(lambda: counted(shadow), "all verdicts")
    finally:
        counts = stopped(shadow)
    assert counts["agreed"] + counts["tie"] == N_PODS
    assert counts["disagreed"] == counts["sampled"] == counts["order"] == 0
    assert page['kubesched_shadow_decisions_total{class="agreed",profile="default-scheduler"}'] == counts["agreed"]
    assert n_refused(api) == before


def counted(shadow: LiveProcess) -> dict[str, float] | None:
    """The metrics, once all pods have been judged."""
    page = shadow.metrics()
    n = sum(value for name, value in page.items() if name.startswith("kubesched_shadow_decisions_total"))
    return page if n == N_PODS else None


def test_pods_that_come_together_are_no_disagreement(
    cluster: ControlPlane, reader: dict[str, Any], start_scheduler: StartScheduler, tmp_path: Path
) -> None:
    api, random = cluster.client, Random(8)
    api.create_all([*random_nodes(random, 60), *random_services()])
    start_scheduler(ALL_NODES)
    shadow = LiveProcess(cluster, tmp_path, {**reader, **ALL_NODES}, "--shadow", *OPEN_METRICS)
    try:
        api.create_all(random_pods(random, N_PODS))
        wait_until(lambda: counted(shadow), "all verdicts")
    finally:
        counts = stopped(shadow)
    assert (counts["disagreed"], counts["sampled"], counts["unseen"]) == (0, 0, 0)


def test_a_plugin_that_differs_is_named_and_explained(
    cluster: ControlPlane, reader: dict[str, Any], start_scheduler: StartScheduler, tmp_path: Path
) -> None:
    api = cluster.client
    api.create_all([make_node(f"n{i}", taints=["worn:PreferNoSchedule"] if i == 0 else []) for i in range(3)])
    weights = {"score": {"disabled": [{"name": "TaintToleration"}]}}
    start_scheduler({**ALL_NODES, "profiles": [{"schedulerName": "default-scheduler", "plugins": weights}]})
    folder = tmp_path / "found"
    shadow = LiveProcess(cluster, tmp_path, {**reader, **ALL_NODES}, "--shadow", "--shadow-dir", str(folder))
    try:
        api.create_all([make_pod(f"p{i}", requests={"cpu": "1"}) for i in range(6)])
        wait_until(lambda: (folder / "disagreements.jsonl").read_text(), "a disagreement")
        wait_until(lambda: list(folder.glob("*.gz")), "its snapshot")
    finally:
        counts = stopped(shadow)
    assert counts["disagreed"] >= 1
    lines = map(json.loads, (folder / "disagreements.jsonl").read_text().splitlines())
    line = next(line for line in lines if line.get("snapshot"))  # of those that came meanwhile there is none
    assert (line["plugin"], line["node"]) == ("TaintToleration", "n0")
    assert line["points"] > 0
    result = run("explain", folder / line["snapshot"], "--pod", line["pod"], "--node", line["node"])
    assert result.exit_code == 0, result.output
    assert f" to {line['ours']}: " in result.stdout.splitlines()[0]
