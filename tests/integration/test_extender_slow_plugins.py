"""A plugin takes longer than kube-scheduler waits: its pods say so, and nobody takes the extender for dead."""

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartExtender, StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.processes import wait_until
from tests.integration.test_extender import placed, scheduled_condition

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

LATE = "kubesched extender: no answer within 0.8s"
TIMEOUTS = 'kubesched_extender_requests_total{outcome="timeout",verb="filter"}'
NAMES = [f"node-{i}" for i in range(6)]


def events_of(client: ApiClient, pod: str) -> list[str]:
    """What its events say of scheduling that failed."""
    events = [event for event in client.read_all("Event") if event["regarding"]["name"] == pod]
    return [event["note"] for event in events if event["reason"] == "FailedScheduling"]


def is_alive_during_a_call(extender: ExtenderProcess) -> bool:
    """Wait for the next filter call. Returns: whether /livez is answered before the call is."""
    n_ended = extender.metric(TIMEOUTS)

    def n_begun() -> int:
        return sum("begins with web" in line for line in extender.process.logs())

    wait_until(lambda: n_begun() > n_ended, "the next filter call")
    return extender.get("/livez") == "ok" and extender.metric(TIMEOUTS) == n_ended


def test_a_filter_that_sleeps_is_a_timeout_and_the_pod_is_placed_once_it_is_fast(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create_all([make_node(name, labels={"sleep": "0.4"}) for name in NAMES])
    extender = start_extender("names", ["Sleepy"], "--http-timeout", "1s", record=False)
    assert extender.stanza["httpTimeout"] == "1s"
    start_scheduler({"extenders": [extender.stanza], "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1})
    client.create(make_pod("web"))
    wait_until(lambda: is_alive_during_a_call(extender), "an answer of /livez during a call")
    notes = wait_until(lambda: events_of(client, "web"), "an event")
    assert all(LATE in note for note in notes)
    condition = scheduled_condition(client, "web")
    assert (condition["reason"], LATE in condition["message"]) == ("SchedulerError", True)
    assert placed(client) == {}
    for name in NAMES:
        client.patch("Node", name, {"metadata": {"labels": {"sleep": "0"}}})
    wait_until(lambda: placed(client).get("web") in NAMES, "the pod on a node", seconds=30)
    assert extender.metric(TIMEOUTS) >= 1
    assert f"filter default/web: {LATE}" in "\n".join(extender.process.logs())
