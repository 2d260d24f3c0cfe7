"""Behind a proxy that changes `/version` alone, kubesched decides as that version, live and from a snapshot."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaigns.faults.fault import Fault
from campaigns.faults.fault_proxy import FaultProxy
from campaigns.faults.proxied_plane import ProxiedPlane
from kubesched.api import KubeObject
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

ROOM = {"cpu": "10", "memory": "10Gi", "pods": "20"}
# With the pod, the empty node is the more balanced one; the pod makes up for what the other one's pod has unbalanced.
CLUSTER: tuple[KubeObject, ...] = (
    make_node("balanced", allocatable=ROOM),
    make_node("corrected", allocatable=ROOM),
    make_pod("there", node="corrected", requests={"cpu": "100m", "memory": "8Gi"}),
)
NEW: tuple[KubeObject, ...] = (
    make_pod("p", requests={"cpu": "3", "memory": "1Gi"}),
    make_pod("large", requests={"cpu": "11"}),
)
ONE_SCORE = {
    "profiles": [
        {"plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesBalancedAllocation"}]}}}
    ]
}
GONE_IN_37 = "no new claims to deallocate"


@pytest.fixture
def proxy(cluster: ControlPlane) -> Iterator[FaultProxy]:
    cluster.client.create_all([*CLUSTER, *NEW])
    with FaultProxy(cluster.url) as proxy:
        yield proxy


def answer(version: str | None) -> Fault:
    """What a server at `/version` answers; None for nothing."""
    body = None if version is None else json.dumps({"gitVersion": version}).encode()
    return Fault(resource="version", status=404 if version is None else 200, body=body)


@pytest.mark.parametrize(
    ("version", "options", "sentence", "node", "is_37"),
    [
        ("v1.35.4", (), "decides as kube-scheduler v1.35; the API server is v1.35.4", "balanced", False),
        ("v1.37.2", (), "decides as kube-scheduler v1.37; the API server is v1.37.2", "corrected", True),
        ("v1.40.0", (), "is decided as v1.37; the API server is v1.40.0, and a kube-", "corrected", True),
        (None, (), "decides as kube-scheduler v1.36; the API server does not answer what its", "corrected", False),
        ("main", (), "the API server reports the version 'main'; decided as v1.36", "corrected", False),
        (
            "v1.36.3",
            ("--kubernetes-version", "1.35"),
            "v1.35; the API server is v1.36.3, and ",
            "balanced",
            False,
        ),
    ],
)
def test_the_version_that_the_server_names_decides(
    cluster: ControlPlane,
    proxy: FaultProxy,
    tmp_path: Path,
    version: str | None,
    options: tuple[str, ...],
    sentence: str,
    node: str,
    is_37: bool,
) -> None:
    proxy.make(answer(version))
    plane, path, config = ProxiedPlane(cluster, proxy), tmp_path / "cluster.json", tmp_path / "config.yaml"
    saved = run("snapshot", "--kubeconfig", plane.kubeconfig(tmp_path / "kubeconfig"), "-o", path)
    assert saved.exit_code == 0, saved.output
    live = LiveProcess(plane, tmp_path, ONE_SCORE, *options)
    try:
        wait_until(lambda: node_of(cluster, "p") and condition_of(cluster, "large"), "the decisions", seconds=30)
        assert sentence in next(line for line in live.logs() if "decide" in line)
    finally:
        live.stop()
    message = condition_of(cluster, "large")
    assert (node_of(cluster, "p"), GONE_IN_37 not in message) == (node, is_37)
    simulated = run("simulate", path, "--config", config, *options, "-o", "json")
    by_name = {pod["pod"].rpartition("/")[2]: pod for pod in json.loads(simulated.stdout)["pods"]}
    assert by_name["p"]["node"] == node
    assert by_name["large"]["message"] == message


def pod_of(cluster: ControlPlane, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.client.call("GET", f"/api/v1/namespaces/default/pods/{name}")
    return found


def node_of(cluster: ControlPlane, name: str) -> str:
    return str(pod_of(cluster, name)["spec"].get("nodeName", ""))


def condition_of(cluster: ControlPlane, name: str) -> str:
    """The message of the condition PodScheduled."""
    conditions = pod_of(cluster, name).get("status", {}).get("conditions", ())
    return next((one["message"] for one in conditions if one["type"] == "PodScheduled" and "message" in one), "")
