"""The events of a pod that fails repeatedly are kube-scheduler's, and a stop counts those that it does not write."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from kubesched.testing import make_pod
from tests.integration.api_client import ApiClient, Document
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until
from tests.integration.scheduler_process import SchedulerProcess

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

DEVICE = "example.com/device"
QUICK = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}
NO_ROOM = {"cpu": "1000"}
STOPPED = re.compile(r"(\d+) events are discarded, \d+ since the start: \d+ because the process ended")


def node(name: str, cpu: str, **labels: str) -> Document:
    amounts = {"cpu": cpu, "pods": "110", DEVICE: "1"}
    status = {"allocatable": amounts, "capacity": amounts}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def resize(client: ApiClient, n_devices: int) -> None:
    """Wake a pod: the node that its selector does not match gets more of what it requests."""
    amounts = {DEVICE: str(n_devices)}
    client.patch("Node", "big", {"status": {"allocatable": amounts, "capacity": amounts}}, part="status")


def events(client: ApiClient, reason: str = "FailedScheduling") -> list[Document]:
    return [event for event in client.read_all("Event", "default") if event["reason"] == reason]


def count(event: Document) -> int:
    return int(event.get("series", {}).get("count", 1))


def fails_five_times(plane: ControlPlane) -> tuple[list[Any], list[Any]]:
    """Create a pod that fits nowhere and wake it four times.

    Returns: what its events say in the order in which they came, and the writes to events.
    """
    assert plane.audit_log
    client, start = plane.client, plane.audit_log.end()
    client.create_all([node("small", "0", disk="ssd"), node("big", "4")])
    both = {"requests": {"cpu": "1", DEVICE: "1"}, "limits": {DEVICE: "1"}}
    container = {"name": "c", "image": "i", "resources": both}
    client.create(make_pod("web", spec={"nodeSelector": {"disk": "ssd"}, "containers": [container]}))
    wait_until(lambda: len(events(client)) == 1, "the first event")
    resize(client, 2)
    wait_until(lambda: len(events(client)) == 2, "an event of the pod that got a condition")
    resize(client, 3)
    wait_until(lambda: max(map(count, events(client))) == 2, "a series")
    for n_devices in (4, 5):
        resize(client, n_devices)
        time.sleep(1.5)  # longer than the backoff; nothing is to be written
    found = sorted(events(client), key=lambda event: event["eventTime"])
    assert len({event["regarding"]["resourceVersion"] for event in found}) == len(found)
    fields = ("type", "reason", "action", "note", "reportingController", "regarding", "related")
    facts = [({name: event.get(name) for name in fields}, count(event)) for event in found]
    for fact, _ in facts:
        for name in ("uid", "resourceVersion"):
            fact["regarding"].pop(name)
    agents = ("kube-scheduler", "kubesched")
    return facts, [write for write in plane.audit_log.writes(start, agents) if write[1] == "events"]


def test_a_pod_that_fails_repeatedly_has_the_events_of_kube_scheduler(cluster: ControlPlane, tmp_path: Path) -> None:
    theirs = SchedulerProcess(cluster, tmp_path, QUICK)
    try:
        expected = fails_five_times(cluster)
    finally:
        theirs.stop()
    assert [n for _, n in expected[0]] == [1, 2]
    clear(cluster.client)
    ours = LiveProcess(cluster, tmp_path, QUICK)
    try:
        assert fails_five_times(cluster) == expected
        discarded = {name: n for name, n in ours.metrics(cluster.token).items() if "events_discarded_total" in name}
    finally:
        ours.stop()
    assert len(discarded) == 6
    assert not any(discarded.values())


def test_a_stop_writes_events_for_five_seconds_and_counts_the_others(cluster: ControlPlane, tmp_path: Path) -> None:
    client = cluster.client
    client.create(node("n1", "4"))
    ours = LiveProcess(cluster, tmp_path, {"clientConnection": {**slow(cluster, tmp_path)}})
    try:
        client.create_all([make_pod(f"fits-{i}", requests={"cpu": "100m"}) for i in range(10)])
        client.create_all([make_pod(f"large-{i}", requests=NO_ROOM) for i in range(1000)])
        failed = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"}'
        wait_until(lambda: ours.metrics(cluster.token).get(failed, 0) >= 1000, "all to be tried")
        n_failed = ours.metrics(cluster.token)[failed]
    finally:
        ours.process.stop(seconds=30)
    found = [match for line in ours.logs() if (match := STOPPED.search(line))]
    assert len(found) == 1, ours.logs()
    n_lost = int(found[0][1])
    assert n_lost > 0
    assert sum(map(count, events(client))) + n_lost == n_failed
    assert len(events(client, "Scheduled")) == 10


def slow(plane: ControlPlane, folder: Path) -> dict[str, object]:
    """A client that sends 20 events in a second."""
    return {"kubeconfig": str(plane.kubeconfig(folder / "kubeconfig")), "qps": 20, "burst": 20}
