"""Devices behind a stock kube-scheduler: one pod each, free when it ends, known to an extender that starts again."""

import pytest

from kubesched.testing import make_node, make_pod
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartExtender, StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import wait_until
from tests.integration.scheduler_process import retrying
from tests.integration.test_extender import placed, scheduled_condition

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

QUICK_RETRY = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}


def nodes_of(client: ApiClient, *pods: str) -> list[str]:
    """The nodes of some pods, once all have one, sorted.

    kube-scheduler may ask before the extender's watch has shown that a device is free, so it is made to ask again.
    """
    are_placed = retrying(client, "node-0", lambda: set(pods) <= placed(client).keys())
    wait_until(are_placed, f"{' and '.join(pods)} on nodes", seconds=30)
    return sorted(placed(client)[pod] for pod in pods)


def test_a_device_serves_one_pod_after_another_also_when_the_extender_starts_again(
    cluster: ControlPlane, start_scheduler: StartScheduler, start_extender: StartExtender
) -> None:
    client = cluster.client
    client.create_all([make_node(f"node-{i}") for i in range(2)])
    extender = start_extender("names", ["OneDevice"])
    start_scheduler({"extenders": [extender.stanza], **QUICK_RETRY})
    client.create_all([make_pod("a"), make_pod("b")])
    assert nodes_of(client, "a", "b") == ["node-0", "node-1"]
    extender.stop()
    start_extender("names", ["OneDevice"], port=extender.port)
    client.create(make_pod("c"))
    condition = wait_until(lambda: scheduled_condition(client, "c"), "a condition")
    assert "2 the device is taken" in condition["message"]
    a = placed(client)["a"]
    client.patch("Pod", "a", {"status": {"phase": "Succeeded"}}, part="status")
    assert nodes_of(client, "c") == [a]
    client.delete("Pod", "b")
    client.create(make_pod("d"))
    assert nodes_of(client, "c", "d") == ["node-0", "node-1"]
