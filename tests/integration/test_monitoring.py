"""The rule file and the dashboard ask for what `/metrics` of a scheduler has, by name, label and value."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kubesched.testing import make_node, make_pod
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

MONITORING = Path(__file__).parents[2] / "deploy" / "monitoring"
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
URGENT = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "urgent", "namespace": "default"},
    "spec": {
        "priorityClassName": "high",
        "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "1"}}}],
    },
}
OF_PROMETHEUS = {"job", "instance"}
NOT_YET = {"error"}  # a result that this scheduler has not had
VECTOR = re.compile(r"([a-z_]{6,})\{([^}]*)\}")
GROUPING = re.compile(r"by \(([^)]*)\)")


@pytest.fixture
def page(cluster: ControlPlane, tmp_path: Path) -> Iterator[dict[str, dict[str, set[str]]]]:
    """What a scheduler shows that has placed a pod, rejected one, and evicted one: name -> label -> values."""
    client = cluster.client
    client.create(make_node("n1", allocatable={"cpu": "1", "pods": "9"}))
    client.create(
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    )
    election = {"leaderElect": True, "resourceName": "monitored", "resourceNamespace": "default"}
    live = LiveProcess(cluster, tmp_path, {"leaderElection": election})
    try:
        large = [make_pod(f"large-{i}", requests={"cpu": "9"}) for i in range(200)]  # one cycle of ten is measured
        client.create_all([make_pod("low", requests={"cpu": "1"}), *large])
        wait_until(lambda: client.get("Pod", "low")["spec"].get("nodeName"), "the pod to be placed")
        client.create(URGENT)
        wait_until(lambda: live.metrics(cluster.token).get("scheduler_preemption_victims_count"), "a preemption")
        yield labels_of(cluster, live)
    finally:
        live.stop()


def labels_of(cluster: ControlPlane, live: LiveProcess) -> dict[str, dict[str, set[str]]]:
    shown: dict[str, dict[str, set[str]]] = {"up": {}}
    for sample in live.metrics(cluster.token):
        name, _, labels = sample.partition("{")
        values = shown.setdefault(name, {})
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            values.setdefault(label, set()).add(value)
    return shown


def expressions() -> Iterator[str]:
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads((MONITORING / "dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_every_expression_finds_its_metrics(page: dict[str, dict[str, set[str]]]) -> None:
    for expression in expressions():
        known: set[str] = set(OF_PROMETHEUS)
        for name, matchers in VECTOR.findall(expression.replace("up{", "_____up{")):
            name = name.removeprefix("_____")
            assert name in page, f"{name} in {expression}"
            known |= page[name].keys()
            for label, value in re.findall(r'(\w+)="([^"]*)"', matchers):
                assert label in OF_PROMETHEUS or value in page[name].get(label, ()) | {"error"}, (
                    f"{label} in {expression}"
                )
        for labels in GROUPING.findall(expression):
            assert set(labels.split(", ")) <= known, f"{labels} in {expression}"


def test_pods_in_the_queue_of_a_replica_that_does_not_lead_are_left_out(cluster: ControlPlane, tmp_path: Path) -> None:
    cluster.client.create(make_pod("large", requests={"cpu": "9"}))
    held = {"holderIdentity": "other", "leaseDurationSeconds": 1000}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": held}
    cluster.client.create({**lease, "metadata": {"name": "held", "namespace": "default"}})
    election = {"leaderElect": True, "resourceName": "held", "resourceNamespace": "default"}
    follower = LiveProcess(cluster, tmp_path, {"leaderElection": election}, ready="Attempting to acquire")
    try:
        waiting = 'scheduler_pending_pods{queue="active"}'
        wait_until(lambda: follower.metrics(cluster.token).get(waiting), "the follower's queue to hold the pod")
        page = follower.metrics(cluster.token)
    finally:
        follower.stop()
    assert page['leader_election_master_status{name="held"}'] == 0
    filled = {name for sample, value in page.items() if value and (name := sample.partition("{")[0]).count("_pods")}
    assert "scheduler_pending_pods" in filled
    for expression in expressions():
        names = [name for name, _ in VECTOR.findall(expression) if name in filled]
        assert expression.count("unless on (instance) leader_election_master_status") >= len(names), expression


def test_every_rule_says_what_to_do() -> None:
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            assert rule["annotations"].keys() == {"summary", "description"}, rule["alert"]
            assert rule["labels"]["severity"] in ("critical", "warning", "info")
