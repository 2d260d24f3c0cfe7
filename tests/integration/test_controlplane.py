"""The test bed itself: what other integration tests build upon."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_object, make_pod
from tests.integration.api_client import ApiClient, ApiError
from tests.integration.cleaning import clear
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import wait_until
from tests.kinds import SERVED_KINDS

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


def placed(client: ApiClient) -> dict[str, str]:
    """The nodes of the pods that have one."""
    pods = client.read_all("Pod")
    return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"]}


def everything(client: ApiClient) -> set[tuple[str, str, str]]:
    """Kind, namespace and name of all objects that a scheduler reads."""
    found = ((kind, thing["metadata"]) for kind in SERVED_KINDS for thing in client.read_all(kind))
    return {(kind, about.get("namespace", ""), about["name"]) for kind, about in found}


def test_stock_scheduler_places_pods(cluster: ControlPlane, start_scheduler: StartScheduler) -> None:
    client = cluster.client
    client.create_all([make_node("small", allocatable={"cpu": "1"}), make_node("large", allocatable={"cpu": "16"})])
    scheduler = start_scheduler()
    client.create_all([make_pod(f"web-{n}", requests={"cpu": "2"}) for n in range(5)])
    wait_until(lambda: len(placed(client)) == 5, "five pods on nodes")
    assert set(placed(client).values()) == {"large"}
    key = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}'
    assert scheduler.metrics()[key] == 5


def test_scheduler_says_in_an_event_why_a_pod_fits_nowhere(
    cluster: ControlPlane, start_scheduler: StartScheduler
) -> None:
    cluster.client.create_all([make_node("n1"), make_pod("huge", requests={"cpu": "100"})])
    start_scheduler()
    (event,) = wait_until(lambda: cluster.client.read_all("Event"), "an event")
    assert event["reason"] == "FailedScheduling"
    assert "Insufficient cpu" in event["note"]


def test_scheduler_takes_the_configuration_it_is_given(cluster: ControlPlane, start_scheduler: StartScheduler) -> None:
    cluster.client.create_all([make_node("n1"), make_pod("ours", spec={"schedulerName": "other"})])
    start_scheduler({"profiles": [{"schedulerName": "other"}]})
    wait_until(lambda: placed(cluster.client) == {"ours": "n1"}, "the pod on its node")


def test_api_server_comes_back_with_its_objects(cluster: ControlPlane) -> None:
    cluster.client.create_all([make_node("n1"), make_pod("web")])
    cluster.client.bind("web", "n1")
    before = cluster.client.get("Pod", "web")
    cluster.restart_api_server()
    assert cluster.client.get("Pod", "web") == before
    assert cluster.client.create(make_pod("next"))["metadata"]["uid"]


def test_compaction_ends_watches_that_etcd_serves(cluster: ControlPlane) -> None:
    version = cluster.client.read_list("Event")["metadata"]["resourceVersion"]  # the server caches no events
    cluster.client.create_all([make_node(f"n{n}") for n in range(3)])
    assert cluster.compact() > int(version) + 1  # the version after it is the first that is asked for
    with pytest.raises(ApiError) as error:
        cluster.client.watch("Event", version, lambda event: True)
    assert (error.value.status, error.value.reason) == (410, "Expired")


def test_forgotten_history_is_answered_410(cluster: ControlPlane) -> None:
    client = cluster.client
    client.create_all([make_node(f"n{n}") for n in range(3)])
    part = client.read_list("Node", limit="1")["metadata"]
    client.create(make_node("late"))
    late = client.watch("Node", part["resourceVersion"], lambda event: True)
    assert late[0]["object"]["metadata"]["name"] == "late"
    cluster.forget_history()
    with pytest.raises(ApiError, match="too old resource version") as watching:
        client.watch("Node", part["resourceVersion"], lambda event: True)
    with pytest.raises(ApiError, match="continue parameter is too old") as listing:
        client.read_list("Node", limit="1", **{"continue": part["continue"]})
    assert (watching.value.status, listing.value.status) == (410, 410)


def test_clear_leaves_nothing_that_tests_make(cluster: ControlPlane) -> None:
    client = cluster.client
    before = everything(client)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    for thing in (
        make_object("Namespace", "team"),
        make_node("n1"),
        make_object("Service", "front", namespace="team", spec={"ports": [{"port": 80}], "selector": {"app": "web"}}),
        make_object("PriorityClass", "high", value=100),
        make_object("PersistentVolumeClaim", "data", namespace="team", spec=claim),
        make_pod("web", namespace="team"),
    ):
        client.create(thing)
    client.bind("web", "n1", namespace="team")
    assert everything(client) != before
    clear(client)
    assert everything(client) == before


def test_no_component_outlives_a_killed_test_run(control_plane: ControlPlane, tmp_path: Path) -> None:
    run = f"""
from pathlib import Path
from tests.integration.control_plane import ControlPlane
plane = ControlPlane(Path({str(control_plane.binary)!r}), Path({str(tmp_path)!r}))
plane.start()
print(plane.url, flush=True)
input()
"""
    killed = subprocess.Popen(
        [sys.executable, "-c", run], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with killed:
        assert killed.stdout
        url = killed.stdout.readline().strip()
        with closing(ApiClient(url, ca_file=tmp_path / "certificates" / "apiserver.crt")) as client:
            assert client.is_up("/readyz")
            killed.kill()
            wait_until(lambda: not client.is_up("/readyz"), "the API server to be gone")
