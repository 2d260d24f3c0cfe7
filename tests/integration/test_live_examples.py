"""The plugins of examples/, unchanged, in `kubesched scheduler`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.api_client import ApiClient
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

PLUGINS = Path(__file__).parents[2] / "examples" / "plugins"
Start = Callable[..., LiveProcess]


@pytest.fixture
def start(cluster: ControlPlane, tmp_path: Path) -> Iterator[Start]:
    started: list[LiveProcess] = []

    def start(file: str, name: str, args: str) -> LiveProcess:
        (tmp_path / "args.yaml").write_text(args)
        given = ("--plugin", f"{PLUGINS / file}:{name}", "--plugin-args", f"{name}={tmp_path / 'args.yaml'}")
        live = LiveProcess(cluster, tmp_path, {}, *given)
        started.append(live)
        return live

    yield start
    for live in started:
        live.stop()


def node_of(client: ApiClient, name: str) -> str:
    node: str = client.get("Pod", name)["spec"].get("nodeName", "")
    return node


def nodes_of(client: ApiClient, prefix: str) -> list[str]:
    pods = client.read_all("Pod")
    return sorted(pod["spec"].get("nodeName", "") for pod in pods if pod["metadata"]["name"].startswith(prefix))


def message_of(client: ApiClient, name: str) -> str:
    conditions = client.get("Pod", name)["status"].get("conditions", [])
    return next((condition["message"] for condition in conditions if condition["type"] == "PodScheduled"), "")


def test_a_team_stays_on_its_nodes(cluster: ControlPlane, start: Start) -> None:
    client = cluster.client
    client.create_all([make_node("r1", labels={"pool": "red"}), make_node("b1", labels={"pool": "blue"})])
    start("team_nodes.py", "TeamNodes", "pools: {shop: [green], search: [blue]}")
    client.create_all([make_pod(name, labels={"team": name}) for name in ("shop", "search")])
    wait_until(lambda: node_of(client, "search") == "b1", "the pod of search")
    wait_until(lambda: message_of(client, "shop"), "the condition of the pod of shop")
    client.create(make_node("g1", labels={"pool": "green"}))
    wait_until(lambda: node_of(client, "shop") == "g1", "the pod of shop on the new node")


def test_nodes_that_are_really_idle_are_preferred(cluster: ControlPlane, start: Start, tmp_path: Path) -> None:
    client = cluster.client
    client.create_all(
        [make_node(name, allocatable={"cpu": "4", "memory": "8Gi", "pods": "9"}) for name in ("n1", "n2")]
    )
    usage = [
        {"metadata": {"name": name}, "usage": {"cpu": cpu, "memory": "1Gi"}} for name, cpu in (("n1", "3"), ("n2", "0"))
    ]
    (tmp_path / "usage.json").write_text(f'{{"items": {usage}}}'.replace("'", '"'))
    start("usage_file.py", "FileUsage", f"path: {tmp_path / 'usage.json'}")
    client.create(make_pod("web"))
    wait_until(lambda: node_of(client, "web"), "the pod")
    assert node_of(client, "web") == "n2"


def test_a_group_gets_its_nodes_at_once_or_none(cluster: ControlPlane, start: Start) -> None:
    """The two pods that gave their nodes back wait for no event: only the third one, through `activate`, wakes them."""
    client = cluster.client
    client.create(make_node("n1", allocatable={"cpu": "2", "pods": "9"}))
    start("pod_group.py", "PodGroup", "seconds: 2")
    labels = {"example.com/pod-group": "mpi", "example.com/pod-group-min": "3"}
    client.create_all([make_pod(f"mpi-{i}", labels=labels, requests={"cpu": "1"}) for i in range(3)])
    wait_until(lambda: all(message_of(client, f"mpi-{i}") for i in range(3)), "all three to be rejected")
    assert nodes_of(client, "mpi") == ["", "", ""]
    client.create(make_node("n2", allocatable={"cpu": "1", "pods": "9"}))
    wait_until(lambda: nodes_of(client, "mpi") == ["n1", "n1", "n2"], "the whole group", seconds=30)
