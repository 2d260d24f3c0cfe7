"""The plan of `drain -o runbook`, pasted into a shell, drains a node of a real API server and ends."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.clusters import run
from tests.integration.control_plane import ControlPlane
from tests.integration.test_fix_commands import Kubectl, node

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]


def pod(name: str, on: str = "", cpu: str = "1") -> dict[str, Any]:
    """A pod that no controller has; without a grace period it ends although there is no kubelet."""
    container = {"name": "app", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0, **({"nodeName": on} if on else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def test_a_runbook_ends_and_is_undone(cluster: ControlPlane, tmp_path: Path) -> None:
    """A pod without a node is expected; one whose containers never start is Pending, too, and is not waited for."""
    kubectl = Kubectl(cluster, tmp_path)
    kubectl.create(node("n1"), node("n2"), pod("old", "n1"), pod("starting", "n2"), pod("waiting", cpu="9"))
    file = tmp_path / "cluster.json"
    file.write_text(kubectl.sh("kubectl get nodes,pods -A -o json"))
    plan = run("drain", file, "n1", "-o", "runbook").stdout
    steps, undo = plan.split("# How to undo")
    kubectl.sh(f"cd {tmp_path}\n{steps}")
    assert kubectl.sh("kubectl get pods -o name").split() == ["pod/starting", "pod/waiting"]
    assert kubectl.get("Node", "n1")["spec"]["unschedulable"]
    kubectl.sh(f"cd {tmp_path}\n{undo.replace('lost-default.yaml', 'lost-default.yaml --dry-run=server')}")
    assert not kubectl.get("Node", "n1")["spec"].get("unschedulable")
