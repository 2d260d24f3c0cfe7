"""A pod that a DeviceClass serves gets the device from `kubesched scheduler` that kube-scheduler gives it."""

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


def was_disturbed(client: ApiClient, name: str) -> bool:
    """Whether preemption has begun for a pod."""
    pod = client.get("Pod", name)
    conditions = {one["type"] for one in pod["status"].get("conditions", [])}
    return "deletionTimestamp" in pod["metadata"] or "DisruptionTarget" in conditions


def message(client: ApiClient, name: str) -> str:
    conditions = client.get("Pod", name)["status"].get("conditions", [])
    return next((one["message"] for one in conditions if one["type"] == "PodScheduled"), "")


def claim_of(client: ApiClient, pod: str) -> Document:
    """The claim that a scheduler made for a pod, without what differs from claim to claim."""
    status = client.get("Pod", pod)["status"]["extendedResourceClaimStatus"]
    claim = client.get("ResourceClaim", status["resourceClaimName"])
    allocation = claim["status"]["allocation"]
    assert allocation.pop("allocationTimestamp")
    (user,) = claim["status"]["reservedFor"]
    assert user["name"] == pod
    metadata = {name: claim["metadata"].get(name) for name in ("annotations", "finalizers")}
    return {
        "metadata": metadata,
        "spec": claim["spec"],
        "allocation": allocation,
        "mappings": status["requestMappings"],
    }


def claim_metrics(page: dict[str, float]) -> dict[str, float]:
    """What a scheduler has counted of claims."""
    return {name: n for name, n in page.items() if name.startswith(("scheduler_resourceclaim_", "scheduler_dra_"))}


@pytest.mark.parametrize("resource", [GPU, IMPLICIT])
def test_a_pod_gets_the_free_device_that_kube_scheduler_gives_it(
    cluster: ControlPlane, client: ApiClient, tmp_path: Path, start_scheduler: StartScheduler, resource: str
) -> None:
    device_class(client)
    urgent = {"priorityClassName": "urgent", "priority": 100_000}
    live = LiveProcess(cluster, tmp_path, OURS)
    try:
        client.create(wants("ours", "ours", resource, **urgent))
        wait_until(lambda: client.get("Pod", "ours")["spec"].get("nodeName") == "dra-1", "the binding")
        ours = claim_of(client, "ours")
        assert ours["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
        client.create(wants("second", "ours", resource))
        wait_until(lambda: "cannot allocate all claims" in message(client, "second"), "the condition")
        counted = claim_metrics(live.metrics(cluster.token))
        client.delete("Pod", "ours")
        client.delete("Pod", "second")
    finally:
        live.stop()
    for claim in client.read_all("ResourceClaim"):  # no controller runs here
        client.patch("ResourceClaim", claim["metadata"]["name"], {"metadata": {"finalizers": None}})
        client.delete("ResourceClaim", claim["metadata"]["name"])
    theirs = start_scheduler()
    client.create(wants("stock", "default-scheduler", resource, **urgent))
    wait_until(lambda: client.get("Pod", "stock")["spec"].get("nodeName") == "dra-1", "the stock binding")
    assert claim_of(client, "stock") == ours
    assert counted == claim_metrics(theirs.metrics())
    assert not was_disturbed(client, "low")
