"""A `kubesched scheduler` that would be a second default scheduler stops, beside a real kube-scheduler."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

Start = Callable[..., Process]
ELECTS = {"leaderElection": {"leaderElect": True}}


@pytest.fixture
def start(cluster: ControlPlane, tmp_path: Path) -> Iterator[Start]:
    """Starts `kubesched scheduler` without a configuration; it ends with the test."""
    started: list[Process] = []
    kubeconfig = cluster.kubeconfig(tmp_path / "kubeconfig")

    def begin(*options: str) -> Process:
        command = [sys.executable, "-m", "kubesched", "scheduler", "--kubeconfig", kubeconfig, "--secure-port", "0"]
        started.append(Process("kubesched scheduler", [*command, *options], tmp_path / f"{len(started)}.log"))
        return started[-1]

    yield begin
    for process in started:
        process.kill()


def log(process: Process) -> str:
    return "\n".join(process.logs())


def says(process: Process, text: str) -> Callable[[], bool]:
    return lambda: text in log(process)


def test_it_stops_beside_a_kube_scheduler_that_elects(start_scheduler: StartScheduler, start: Start) -> None:
    start_scheduler(ELECTS)
    for options in ((), ("--leader-elect=false",), ("--leader-elect-resource-name=kube-scheduler",)):
        process = start(*options)
        assert process.exit_code(seconds=30) == 2
        assert "kubesched: error: another scheduler serves default-scheduler: " in log(process)
        assert "renews the Lease kube-system/kube-scheduler" in log(process)
        assert "schedules pods" not in log(process)


def test_it_stops_beside_a_kube_scheduler_that_binds(
    cluster: ControlPlane, start_scheduler: StartScheduler, start: Start
) -> None:
    start_scheduler()  # without leader election, as in minikube
    cluster.client.create(make_node("n1", allocatable={"cpu": "8", "memory": "8Gi", "pods": "500"}))
    process = start("--leader-elect=false")
    n_pods = 0
    while process.is_running and n_pods < 200:
        cluster.client.create(make_pod(f"web-{n_pods}"))
        n_pods += 1
        time.sleep(0.1)
    assert process.exit_code(seconds=10) == 2
    assert "it bound pod default/web-" in log(process)


def test_with_replace_it_waits_and_takes_over(
    cluster: ControlPlane, start_scheduler: StartScheduler, start: Start
) -> None:
    stock = start_scheduler(ELECTS)
    first, second = start("--replace"), start("--replace")
    for process in (first, second):
        process.wait_until(
            says(process, "Attempting to acquire leader lease kube-system/kube-scheduler"), "a candidate"
        )
    stock.stop()
    wait_until(lambda: says(first, "schedules pods")() or says(second, "schedules pods")(), "a leader", seconds=40)
    third = start("--leader-elect-resource-name=kube-scheduler")  # a replica, without the word
    third.wait_until(says(third, "Attempting to acquire"), "one more candidate")
    cluster.client.create_all([make_node("n1"), make_pod("web")])
    wait_until(lambda: node_of(cluster.client, "web"), "the pod on a node", seconds=30)


def test_a_lease_that_a_removed_kube_scheduler_left_stops_nobody(
    cluster: ControlPlane, start_scheduler: StartScheduler, start: Start
) -> None:
    start_scheduler(
        {"leaderElection": {"leaderElect": True, "leaseDuration": "6s", "renewDeadline": "4s"}}
    ).process.kill()
    process = start()
    process.wait_until(says(process, "schedules pods of default-scheduler"), "that it schedules", seconds=40)
    process.kill()
    again = start()  # its own old Lease, and that of kube-scheduler
    again.wait_until(says(again, "schedules pods of default-scheduler"), "that it schedules again", seconds=60)


def node_of(client: ApiClient, pod: str) -> str:
    node: str = client.get("Pod", pod)["spec"].get("nodeName", "")
    return node
