"""Two replicas of `kubesched scheduler` and one Lease: one schedules, and the other takes over."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.api_client import ApiClient, ApiError
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

SHORT = {"lease-duration": "3s", "renew-deadline": "2s", "retry-period": "500ms"}
LONG = {"lease-duration": "60s", "renew-deadline": "40s", "retry-period": "500ms"}
BUSY = """
import re
import time
from kubesched import Plugin, Status

class Sleeps(Plugin):
    def filter(self, state, pod, node):
        time.sleep(60)
        return Status.SUCCESS

class KeepsTheInterpreter(Plugin):
    def filter(self, state, pod, node):
        re.match(r"(a+)+$", "a" * 60 + "b")
        return Status.SUCCESS
"""


class StartReplica(Protocol):
    def __call__(self, times: dict[str, str], *options: str) -> Process: ...


@pytest.fixture
def start_replica(cluster: ControlPlane, tmp_path: Path) -> Iterator[StartReplica]:
    """Starts schedulers, which end with the test."""
    started: list[Process] = []
    kubeconfig = cluster.kubeconfig(tmp_path / "kubeconfig")

    def start(times: dict[str, str], *options: str) -> Process:
        command = [sys.executable, "-m", "kubesched", "scheduler", "--kubeconfig", kubeconfig, "--secure-port", "0"]
        flags = [f"--leader-elect-{name}={value}" for name, value in times.items()]
        log = tmp_path / f"{len(started)}.log"
        started.append(Process("kubesched scheduler", [*command, *flags, *options], log))
        return started[-1]

    yield start
    for process in started:
        process.kill()


def lease_spec(client: ApiClient) -> dict[str, Any]:
    try:
        found: dict[str, Any] = client.get("Lease", "kubesched", "kube-system")["spec"]
    except ApiError:
        return {}
    return found


def says(process: Process, text: str) -> Callable[[], bool]:
    return lambda: text in "\n".join(process.logs())


def leads(process: Process) -> None:
    process.wait_until(says(process, "schedules pods of default-scheduler"), "that it leads")


def place(client: ApiClient, name: str, *, seconds: float) -> float:
    """Create a pod and wait until it is placed. Returns: how long that took."""
    began = time.monotonic()
    client.create(make_pod(name))
    wait_until(lambda: client.get("Pod", name)["spec"].get("nodeName"), f"{name} on a node", seconds=seconds)
    return time.monotonic() - began


def follower_of(process: Process, start_replica: StartReplica, times: dict[str, str]) -> Process:
    """A second replica that has seen the first one's lease."""
    leads(process)
    follower = start_replica(times)
    follower.wait_until(says(follower, "Attempting to acquire leader lease"), "its first look")
    time.sleep(0.5)  # for that look
    assert not says(follower, "Successfully acquired")()
    return follower


def test_after_a_kill_the_other_replica_schedules_within_the_lease(
    cluster: ControlPlane, start_replica: StartReplica
) -> None:
    client = cluster.client
    client.create(make_node("node"))
    leader = start_replica(SHORT)
    follower = follower_of(leader, start_replica, SHORT)
    place(client, "before", seconds=5)
    holder = lease_spec(client)["holderIdentity"]
    leader.kill()
    # The lease, a look of the follower before the kill that is at most 1.1 s old, and some time for this machine.
    assert place(client, "after", seconds=10) < 3 + 1.1 + 1
    leads(follower)
    spec = lease_spec(client)
    assert spec["holderIdentity"] != holder
    assert (spec["leaseTransitions"], spec["leaseDurationSeconds"]) == (1, 3)
    events = [e for e in client.read_all("Event", "kube-system") if e["reason"] == "LeaderElection"]
    assert sorted(e["note"] for e in events) == sorted(
        f"{who} became leader" for who in (holder, spec["holderIdentity"])
    )
    assert {e["deprecatedSource"]["component"] for e in events} == {"default-scheduler"}


def test_a_requested_stop_gives_the_lease_back(cluster: ControlPlane, start_replica: StartReplica) -> None:
    client = cluster.client
    client.create(make_node("node"))
    leader = start_replica(LONG)
    follower_of(leader, start_replica, LONG)
    leader.terminate()
    assert leader.exit_code() == 0
    assert place(client, "after", seconds=10) < 5
    assert lease_spec(client)["leaseTransitions"] == 1


def test_a_plugin_that_blocks_keeps_the_lease_and_a_stolen_lease_ends_the_process(
    cluster: ControlPlane, start_replica: StartReplica, tmp_path: Path
) -> None:
    client = cluster.client
    (tmp_path / "busy.py").write_text(BUSY)
    leader = start_replica(SHORT, "--plugin", f"{tmp_path}/busy.py:Sleeps")
    leads(leader)
    client.create_all([make_node("node"), make_pod("web")])
    holder = lease_spec(client)["holderIdentity"]
    time.sleep(4)  # more than the lease
    spec = lease_spec(client)
    assert (spec["holderIdentity"], spec["leaseTransitions"]) == (holder, 0)
    client.patch("Lease", "kubesched", {"spec": {"holderIdentity": "thief"}}, "kube-system")
    assert leader.exit_code(seconds=4) == 1
    assert says(leader, "Leaderelection lost: lease kube-system/kubesched is held by thief")()


def test_a_plugin_that_keeps_the_interpreter_ends_the_process_with_the_lease(
    cluster: ControlPlane, start_replica: StartReplica, tmp_path: Path
) -> None:
    client = cluster.client
    (tmp_path / "busy.py").write_text(BUSY)
    leader = start_replica(SHORT, "--plugin", f"{tmp_path}/busy.py:KeepsTheInterpreter")
    leads(leader)
    client.create_all([make_node("node"), make_pod("web")])
    assert leader.exit_code(seconds=6) == 1
    assert "busy.py" in "\n".join(leader.logs())
