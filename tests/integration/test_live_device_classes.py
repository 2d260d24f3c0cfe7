"""A pod that a DeviceClass serves: `kubesched scheduler` evicts no pod for it, kube-scheduler binds it to a device."""

from pathlib import Path
from typing import Any

import pytest

from kubesched.api import Pod
from kubesched.testing import make_node, make_object, make_pod
from tests.integration.api_client import ApiClient, Document
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

GPU, DRIVER = "example.com/gpu", "gpu.example.com"
IMPLICIT = f"deviceclass.resource.kubernetes.io/{DRIVER}"
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "20"}
OURS = {"profiles": [{"schedulerName": "ours"}]}


def wants(name: str, scheduler: str, resource: str = GPU, **spec: Any) -> Pod:
    amounts = {"cpu": "1", resource: "1"}
    container = {"name": "c", "image": "app", "resources": {"requests": amounts, "limits": amounts}}
    return make_pod(name, spec={"containers": [container], "schedulerName": scheduler, **spec})


def device_class(client: ApiClient) -> None:
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    client.create(make_object("DeviceClass", DRIVER, spec={"selectors": [selector], "extendedResourceName": GPU}))


@pytest.fixture
def client(cluster: ControlPlane) -> ApiClient:
    """A device plugin whose device is taken by a pod of low priority, and a free device in a ResourceSlice."""
    client = cluster.client
    client.create(make_object("PriorityClass", "urgent", value=100_000))
    for node in (make_node("plugin-1", allocatable={**ROOM, GPU: "1"}), make_node("dra-1", allocatable=ROOM)):
        client.create(node)
    pool = {"name": "dra-1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": "dra-1", "pool": pool, "devices": [{"name": "gpu-0"}]}
    client.create(make_object("ResourceSlice", "dra-1-gpu", spec=spec))
    client.create(wants("low", "nobody"))
    client.bind("low", "plugin-1")
    return client


def condition(client: ApiClient, name: str) -> Document:
    conditions = client.get("Pod", name)["status"].get("conditions", [])
    return next((one for one in conditions if one["type"] == "PodScheduled"), {})


def was_disturbed(client: ApiClient, name: str) -> bool:
    """Whether preemption has begun for a pod."""
    pod = client.get("Pod", name)
    conditions = {one["type"] for one in pod["status"].get("conditions", [])}
    return "deletionTimestamp" in pod["metadata"] or "DisruptionTarget" in conditions


def sentence(resource: str = GPU) -> str:
    why = f"kubesched does not place pods whose {resource} is served through DeviceClass {DRIVER} yet"
    return f"0/2 nodes are available: {why}. "


@pytest.mark.parametrize("resource", [GPU, IMPLICIT])
def test_no_pod_is_evicted_where_kube_scheduler_binds_a_free_device(
    cluster: ControlPlane, client: ApiClient, tmp_path: Path, start_scheduler: StartScheduler, resource: str
) -> None:
    device_class(client)
    live = LiveProcess(cluster, tmp_path, OURS)
    try:
        client.create(wants("ours", "ours", resource, priorityClassName="urgent", priority=100_000))
        wait_until(lambda: condition(client, "ours").get("reason") == "Unschedulable", "the condition")
        assert condition(client, "ours")["message"].startswith(sentence(resource))
        notes = [one for one in client.read_all("Event") if one.get("regarding", {}).get("name") == "ours"]
        assert next(one["note"] for one in notes if one["reason"] == "FailedScheduling").startswith(sentence(resource))
        start_scheduler()
        client.create(wants("stock", "default-scheduler", resource, priorityClassName="urgent", priority=100_000))
        wait_until(lambda: client.get("Pod", "stock")["spec"].get("nodeName") == "dra-1", "the stock binding")
        assert client.get("Pod", "stock")["status"]["extendedResourceClaimStatus"]["resourceClaimName"]
        assert not was_disturbed(client, "low")
        assert "nodeName" not in client.get("Pod", "ours")["spec"]
    finally:
        live.stop()


def test_a_pod_waits_while_a_class_serves_it_and_is_placed_once_the_class_is_gone(
    cluster: ControlPlane, client: ApiClient, tmp_path: Path
) -> None:
    device_class(client)
    client.create(make_node("plugin-2", allocatable={**ROOM, GPU: "1"}))
    live = LiveProcess(cluster, tmp_path, OURS)
    try:
        client.create(wants("ours", "ours"))
        wait_until(lambda: DRIVER in condition(client, "ours").get("message", ""), "the sentence")
        client.delete("DeviceClass", DRIVER)
        wait_until(lambda: client.get("Pod", "ours")["spec"].get("nodeName") == "plugin-2", "the binding")
    finally:
        live.stop()
