"""What docs/guides/two-schedulers.md says about nodes that two schedulers share, and about nodes of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.testing import make_node, make_pod
from tests.docs.pages import ROOT, read_blocks
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

BLOCKS = read_blocks((ROOT / "docs/guides/two-schedulers.md").read_text(encoding="utf-8"))
StartLive = Callable[[dict[str, Any]], LiveProcess]


@pytest.fixture
def start_live(cluster: ControlPlane, tmp_path: Path) -> Iterator[StartLive]:
    started: list[LiveProcess] = []

    def start(config: dict[str, Any]) -> LiveProcess:
        started.append(LiveProcess(cluster, tmp_path, config))
        return started[-1]

    yield start
    for live in started:
        live.stop()


def node_of(client: ApiClient, pod: str) -> str:
    return client.get("Pod", pod)["spec"].get("nodeName", "")


def reason_of(client: ApiClient, pod: str) -> str:
    conditions = client.get("Pod", pod)["status"].get("conditions", [])
    return next((condition["message"] for condition in conditions if condition["type"] == "PodScheduled"), "")


@pytest.mark.parametrize("scheduler", ["kube-scheduler", "kubesched"])
def test_a_pod_without_room_counts_until_the_kubelet_rejects_it(
    scheduler: str, cluster: ControlPlane, start_scheduler: StartScheduler, start_live: StartLive
) -> None:
    client = cluster.client
    client.create(make_node("n1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "9"}))
    client.create_all([make_pod("first", requests={"cpu": "1"}), make_pod("second", requests={"cpu": "2"})])
    client.bind("first", "n1")
    client.bind("second", "n1")  # accepted, although it does not fit
    if scheduler == "kubesched":
        start_live({})
    else:
        start_scheduler()
    client.create(make_pod("third", requests={"cpu": "1"}))
    wait_until(lambda: "1 Insufficient cpu" in reason_of(client, "third"), "the reason why the pod is pending")
    client.patch("Pod", "second", {"status": {"phase": "Failed", "reason": "OutOfcpu"}}, part="status")
    wait_until(lambda: node_of(client, "third") == "n1", "the pod on the node that has room again", seconds=30)


def test_with_nodes_of_their_own_no_pod_goes_to_the_other_scheduler_s_nodes(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_live: StartLive
) -> None:
    """With the configuration, the taint, the label and the toleration of the page."""
    client = cluster.client
    (config,) = [yaml.safe_load(block.text) for block in BLOCKS if block.options.get("file") == "own-nodes.yaml"]
    (spec,) = [yaml.safe_load(block.text)["spec"] for block in BLOCKS if block.text.startswith("spec:")]
    taint, label = [
        line.split()[4]
        for block in BLOCKS
        for line in block.text.splitlines()
        if line.startswith(("kubectl taint node", "kubectl label node"))
    ]
    taint_key, _, taint_value = taint.removesuffix(":NoSchedule").partition("=")
    taints = [{"key": taint_key, "value": taint_value, "effect": "NoSchedule"}]
    size = {"cpu": "8", "memory": "8Gi", "pods": "20"}
    client.create_all(
        [
            make_node("shared", allocatable=size),
            make_node("own", allocatable=size, labels=dict([label.split("=")]), spec={"taints": taints}),
        ]
    )
    start_scheduler()
    start_live({"profiles": config["profiles"]})
    selected, tolerating = spec, {name: value for name, value in spec.items() if name != "nodeSelector"}
    specs = {"a": {}, "b": selected, "c": tolerating, "d": {}, "e": selected, "f": tolerating}
    client.create_all([make_pod(name, requests={"cpu": "1"}, spec=specs[name]) for name in specs])
    wait_until(lambda: all(node_of(client, name) for name in specs), "all pods")
    wanted = {name: "own" if "schedulerName" in specs[name] else "shared" for name in specs}
    assert {name: node_of(client, name) for name in specs} == wanted
