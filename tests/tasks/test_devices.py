"""GPUs through DRA beside a device plugin: each command answers as kube-scheduler v1.36.3 decides."""

import json

import pytest

from kubesched import Simulator, drain, explain, fit
from kubesched.api import KubeObject, Pod
from kubesched.session import DeviceCounts
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.device_cluster import GPU, ROOM, device_cluster

DRA = ["dra-1", "dra-2", "dra-3"]


def gpu_pod(name: str = "new", **spec: object) -> Pod:
    return make_pod(name, requests={"cpu": "1", GPU: 1}, spec=spec)


def test_a_pod_gets_a_free_device_of_a_node_without_a_device_plugin():
    (placed,) = Simulator([*device_cluster(), gpu_pod()]).run().placements
    assert placed.node in DRA
    explanation = explain([*device_cluster(), gpu_pod()], "default/new")
    assert sorted(explanation.feasible) == DRA
    assert not explanation.fixes


def test_nobody_is_evicted_for_a_device_that_is_free():
    report = Simulator([*device_cluster(), gpu_pod(priority=1000)]).run()
    assert not report.victims
    assert report.placements[0].node in DRA


def test_the_table_of_nodes_counts_no_device_of_slices_against_a_device_plugin(tmp_path):
    said = run("simulate", write(tmp_path, *device_cluster(), gpu_pod())).stdout
    assert "300%" not in said
    assert "gpu.nvidia.com gpu.nvidia.com H100 9 3 -> 4 6 -> 5 0" in " ".join(said.split())


def test_as_many_pods_fit_as_devices_are_free():
    assert fit(device_cluster(), {GPU: "1"}, maximum=True).n_fit == 6


def test_a_node_with_devices_can_be_drained_where_others_have_some():
    result = drain(device_cluster(), ["dra-1"])
    assert result.can_go
    (moved,) = result.pods
    assert moved.to in ("dra-2", "dra-3")
    (fill,) = result.devices
    assert (fill.before, fill.after) == (
        DeviceCounts(free=6, taken=3),
        DeviceCounts(free=3, taken=3),
    ) or fill.after.taken == 3


def test_a_pod_that_runs_with_its_device_fits_there():
    explanation = explain(device_cluster(), "default/on-dra-1")
    assert explanation.runs_on == "dra-1"
    assert "dra-1" in explanation.feasible


def test_the_pods_that_have_devices_of_a_plugin_are_named(tmp_path):
    path = write(tmp_path, *device_cluster())
    (row,) = (line for line in run("devices", path).stdout.splitlines() if "device plugin " in line)
    assert row.split()[-1] == "default/on-plugin"
    (plugin,) = json.loads(run("devices", path, "-o", "json").stdout)["plugins"]
    assert plugin["pods"] == ["default/on-plugin"]


# --- claims of templates ---

CLASS = make_object("DeviceClass", "gpu", spec={"selectors": [{"cel": {"expression": 'device.driver == "d"'}}]})
REQUESTS = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}


def slice_on(node: str, n: int) -> KubeObject:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"d{i}", "attributes": {"uuid": {"string": f"{node}-{i}"}}} for i in range(n)]
    return make_object("ResourceSlice", node, spec={"driver": "d", "nodeName": node, "pool": pool, "devices": devices})


def owner_of(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True}


def claimed(name: str, node: str = "", device: str = "") -> list[KubeObject]:
    """A pod of a ReplicaSet with the claim of a template; on a node with a device, or pending."""
    result = {"request": "r", "driver": "d", "pool": node, "device": device}
    where = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}
    status = {
        "allocation": {"devices": {"results": [result]}, "nodeSelector": where},
        "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
    }
    metadata = {"ownerReferences": [owner_of(name)]}
    claim = make_object("ResourceClaim", f"{name}-c", metadata=metadata, spec=REQUESTS, status=status if node else {})
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "train", "uid": "rs", "controller": True}
    pod = make_pod(
        name,
        node=node,
        metadata={"uid": name, "ownerReferences": [replica_set]},
        requests={"cpu": "1"},
        spec={"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]},
        status={"resourceClaimStatuses": [{"name": "g", "resourceClaimName": f"{name}-c"}]},
    )
    return [claim, pod]


@pytest.fixture
def two_nodes() -> list[KubeObject]:
    """Two devices on n1, of which a has one; one on n2, which b has."""
    nodes = [make_node(name, allocatable=ROOM) for name in ("n1", "n2")]
    replica_set = make_object("ReplicaSet", "train", spec={"replicas": 2})
    return [
        *nodes,
        CLASS,
        slice_on("n1", 2),
        slice_on("n2", 1),
        replica_set,
        *claimed("a", "n1", "d0"),
        *claimed("b", "n2", "d0"),
    ]


def test_a_pending_pod_gets_the_device_that_is_left_and_the_next_one_waits(two_nodes):
    report = Simulator([*two_nodes, *claimed("c"), *claimed("e")]).run()
    assert {one.pod: one.node for one in report.placements} == {"default/c": "n1", "default/e": ""}
    left = report.placements[1]
    assert left.message.startswith("0/2 nodes are available: 2 cannot allocate all claims.")


def test_a_drained_pod_takes_a_claim_of_its_own_along(two_nodes):
    result = drain(two_nodes, ["n2"])
    assert result.can_go
    assert [(one.pod, one.to) for one in result.pods] == [("default/b", "n1")]
    (fill,) = result.devices
    assert (fill.after.free, fill.after.taken) == (1, 2)
    assert not drain([*two_nodes, *claimed("c")], ["n2"]).can_go


def test_a_running_pod_with_a_claim_fits_on_its_node(two_nodes):
    explanation = explain(two_nodes, "default/b")
    assert explanation.runs_on == "n2"
    assert sorted(explanation.feasible) == ["n1", "n2"]


def test_a_comparison_places_pods_with_claims_again(two_nodes, tmp_path):
    said = json.loads(run("compare", write(tmp_path, *two_nodes), "--pack", "--pods", "all", "-o", "json").stdout)
    assert said["pods"]["count"] == 2
    figures = {one["name"]: one for one in said["figures"]}
    assert figures["placed"]["a"] == figures["placed"]["b"] == 2
    assert figures["nodesInUse"]["b"] == 1
