"""`kubesched fit` for pods with resource claims: of a number of devices, and of manifests with templates."""

import json
from pathlib import Path

import pytest

from kubesched import fit, load_snapshot
from kubesched.api import KubeObject
from kubesched.errors import InputError
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.session.test_device_use import claim, device, device_class, slice_of

ROOM = {"cpu": "8", "memory": "16Gi", "pods": "110"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two nodes with two GPUs, of which one is taken, and one without."""
    return write(
        tmp_path_factory.mktemp("devices"),
        *(make_node(name, allocatable=ROOM) for name in ("n1", "n2", "plain")),
        device_class("gpu.example.com", 'device.driver == "gpu.example.com"'),
        device_class("nic", "false"),
        slice_of("n1", device("a"), device("b")),
        slice_of("n2", device("a"), device("b")),
        claim("train", {"pool": "n1", "device": "a"}, pods=["p"]),
    )


def first_line(*arguments: object) -> str:
    result = run("fit", *arguments)
    return " ".join((result.stdout.partition("\n\n")[0] or result.stderr).split())


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (("gpu.example.com=2",), "1 of 1 would fit."),
        (("gpu.example.com=2", "--replicas", "2"), "1 of 2 would fit; the 2nd: "),
        (("gpu.example.com=3",), "0 of 1 would fit: "),
        (("gpu.example.com=1", "--max"), "3 would fit; the 4th: "),
        (("gpu.example.com=1", "--resource", "cpu=5", "--max"), "2 would fit; the 3rd: "),
        (("gpu.example.com=1", "--max", "--nodes-like", "n1=2"), "7 would fit with 2 more nodes like n1; the 8th: "),
        (("gpu.example.com=2", "--replicas", "3", "--nodes-like", "n1"), "3 of 3 would fit with 2 more nodes like n1"),
        (("gpu.example.com=1", "--device", "nic=1"), "0 of 1 would fit: "),
    ],
)
def test_a_pod_with_a_number_of_devices_of_a_class(snapshot: str, options: tuple[str, ...], answer: str) -> None:
    assert first_line(snapshot, "--device", *options).startswith(answer)


def test_the_reason_is_in_terms_of_devices(snapshot: str) -> None:
    assert "request devices: all 2 devices are taken" in first_line(snapshot, "--device", "gpu.example.com=1", "--max")


def test_the_devices_are_counted_before_and_after(snapshot: str) -> None:
    rows = [
        " ".join(line.split()) for line in run("fit", snapshot, "--device", "gpu.example.com=1").stdout.splitlines()
    ]
    assert "gpu.example.com gpu.example.com A100 4 1 -> 2 3 -> 2 0" in rows
    document = json.loads(run("fit", snapshot, "--device", "gpu.example.com=1", "-o", "json").stdout)
    assert [(one["before"]["free"], one["after"]["free"]) for one in document["devices"]] == [(3, 2)]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("gpu.exampel.com=1",), 'the cluster has no DeviceClass gpu.exampel.com; did you mean "gpu.example.com"?'),
        (("fpga=1",), "the cluster has no DeviceClass fpga; found: gpu.example.com, nic"),
        (("gpu.example.com=0",), "found 'gpu.example.com=0'; write CLASS=N, such as gpu.nvidia.com=1"),
        (("gpu.example.com=some",), "found 'gpu.example.com=some'; write CLASS=N"),
        (("gpu.example.com",), "found 'gpu.example.com'; write CLASS=N"),
        (("gpu.example.com=1", "--device", "gpu.example.com=2"), "gpu.example.com is given twice"),
        (("gpu.example.com=30", "--device", "nic=3"), "found 33 devices; expected at most 32"),
        (("gpu.example.com=1", "-f", "x"), "and --device CLASS=N; both are given"),
        (("gpu.example.com=1", "--only", "deploy/web"), "--only and --device are mutually exclusive"),
        (("gpu.example.com=1", "-n", "shop"), "-n and --device are mutually exclusive"),
    ],
)
def test_devices_that_cannot_be_asked_for(snapshot: str, options: tuple[str, ...], complaint: str) -> None:
    result = run("fit", snapshot, "--device", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in " ".join(result.stderr.split())


def test_a_pod_with_devices_tolerates_the_taints_of_their_nodes(tmp_path: Path) -> None:
    def tainted(name: str, key: str, effect: str = "NoSchedule", **spec: object) -> KubeObject:
        return make_node(name, allocatable=ROOM, spec={"taints": [{"key": key, "effect": effect}], **spec})

    cordon = "node.kubernetes.io/unschedulable"
    snapshot = write(
        tmp_path,
        tainted("n1", "gpu"),
        tainted("n2", cordon, unschedulable=True),
        tainted("n3", "away", "NoExecute"),
        tainted("plain", "other"),
        device_class("gpu.example.com", 'device.driver == "gpu.example.com"'),
        *(slice_of(name, device("a")) for name in ("n1", "n2", "n3")),
    )
    result = run("fit", snapshot, "--device", "gpu.example.com=1", "--max")
    said = " ".join(result.stdout.split())
    assert said.startswith("1 would fit; ")
    assert "The pods tolerate gpu:NoSchedule, the taint of nodes with devices of gpu.example.com." in said
    assert "tolerate" not in run("fit", snapshot, "--resource", "cpu=1").stdout.partition("\n")[2]


def test_a_cluster_without_classes_says_so(tmp_path: Path) -> None:
    result = run("fit", write(tmp_path, make_node("n1")), "--device", "gpu=1")
    assert "the cluster has no DeviceClass gpu; it has no DeviceClass" in result.stderr


def test_python_asks_for_devices_too(snapshot: str) -> None:
    cluster = load_snapshot(snapshot)
    assert fit(cluster, {"cpu": 1}, devices={"gpu.example.com": 1}, maximum=True).n_fit == 3
    with pytest.raises(InputError, match="devices and manifests are mutually exclusive"):
        fit(cluster, "pod.yaml", devices={"gpu.example.com": 1})
    with pytest.raises(InputError, match="found 0; expected 1 or more"):
        fit(cluster, {}, devices={"gpu.example.com": 0})


TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
---
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: train, namespace: ml}
spec:
  replicas: 4
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
      containers: [{name: c, image: i, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]
"""


def test_a_workload_with_the_template_of_its_claims(snapshot: str, tmp_path: Path) -> None:
    manifest = tmp_path / "train.yaml"
    manifest.write_text(TEMPLATE + DEPLOYMENT)
    said = first_line(snapshot, "-f", manifest)
    assert said.startswith("3 of 4 would fit; the 4th: ")
    assert "request gpu: all 2 devices are taken" in said
    assert first_line(snapshot, "-f", manifest, "--max").startswith("3 would fit; the 4th: ")


def devices_line(said: str) -> str:
    rows = [" ".join(line.split()) for line in said.splitlines()]
    return next(row for row in rows if row.startswith("gpu.example.com gpu.example.com A100"))


def test_pods_get_the_devices_of_added_nodes(snapshot: str, tmp_path: Path) -> None:
    manifest = tmp_path / "train.yaml"
    manifest.write_text(TEMPLATE + DEPLOYMENT.replace("replicas: 4", "replicas: 6"))
    said = run("simulate", snapshot, "--manifest", manifest, "--add-nodes", 1, "--like", "n1").stdout
    assert "6 pending pods: 5 would be placed, 1 would stay pending." in said
    assert devices_line(said) == "gpu.example.com gpu.example.com A100 6 1 -> 6 5 -> 0 0"


def test_a_drain_gives_a_claim_back_with_the_last_pod_that_uses_it(tmp_path: Path) -> None:
    """Both pods share a device of n1; it is free when both have left, and they share another one then."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "train", "uid": "train", "controller": True}
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}
    cluster = [
        *(make_node(name, allocatable=ROOM) for name in ("n1", "n2")),
        device_class("gpu.example.com", 'device.driver == "gpu.example.com"'),
        slice_of("n1", device("a")),
        slice_of("n2", device("b")),
        make_object("StatefulSet", "train", spec={"replicas": 2}, metadata={"uid": "train"}),
        *(make_pod(f"train-{i}", node="n1", spec=spec, metadata={"ownerReferences": [owner]}) for i in (0, 1)),
        shared_claim("train-0", "train-1"),
    ]
    document = json.loads(run("drain", write(tmp_path, *cluster), "n1", "-o", "json").stdout)
    assert [(one["pod"], one["fate"], one["to"]) for one in document["pods"]] == [
        ("default/train-0", "moves", "n2"),
        ("default/train-1", "moves", "n2"),
    ]
    assert [one["after"]["taken"] for one in document["devices"]] == [1]


def shared_claim(*pods: str) -> KubeObject:
    users = [{"resource": "pods", "name": pod, "uid": make_pod(pod).uid} for pod in pods]
    on_n1 = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    result = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "a"}
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [on_n1]}}
    exactly = {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return make_object("ResourceClaim", "shared", spec=spec, status={"allocation": allocation, "reservedFor": users})


@pytest.mark.parametrize(
    "command",
    [("fit", "-f"), ("explain", "--manifest"), ("simulate", "--manifest")],
    ids=["fit", "explain", "simulate"],
)
def test_equal_pods_without_the_template_of_their_claims_share_a_row_that_says_what_to_create(
    command: tuple[str, str], snapshot: str, tmp_path: Path
) -> None:
    manifest = tmp_path / "train.yaml"
    manifest.write_text(DEPLOYMENT)
    name, option = command
    said = " ".join(run(name, snapshot, option, manifest).stdout.split())
    assert said.count("ResourceClaim not created yet") == {"fit": 2}.get(name, 1)
    assert "create ResourceClaimTemplate ml/one-gpu" in said
