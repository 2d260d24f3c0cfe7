"""What `kubesched scheduler manifests` prints works on a real API server, with exactly the rights that it grants."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run
from tests.integration.api_client import ApiClient, ApiError, applied_path
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.installed import InstalledScheduler, apply_all, delete_all
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

Document = dict[str, Any]
Install = Callable[..., list[Document]]
Start = Callable[[list[Document]], InstalledScheduler]
OURS = {"schedulerName": "kubesched"}


@pytest.fixture
def install(cluster: ControlPlane) -> Iterator[Install]:
    """Applies what the command prints with some options."""
    applied: list[Document] = []

    def print_and_apply(*options: str) -> list[Document]:
        result = run("scheduler", "manifests", "--image", "kubesched:1", *options)
        assert result.exit_code == 0, result.output
        documents = list(yaml.safe_load_all(result.stdout))
        applied.extend(documents)
        apply_all(cluster.client, documents)
        return documents

    yield print_and_apply
    delete_all(cluster.client, applied)


@pytest.fixture
def start(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts a replica of an installation; it ends with the test."""
    started: list[InstalledScheduler] = []

    def start_one(documents: list[Document]) -> InstalledScheduler:
        started.append(InstalledScheduler(cluster, tmp_path_factory.mktemp("installed"), documents))
        return started[-1]

    yield start_one
    for scheduler in started:
        scheduler.stop()


def node_of(client: ApiClient, pod: str) -> str:
    return client.get("Pod", pod)["spec"].get("nodeName", "")


def lease_holder(client: ApiClient, name: str) -> str:
    try:
        return client.get("Lease", name, "kube-system")["spec"]["holderIdentity"]
    except ApiError:
        return ""


def page(scheduler: InstalledScheduler, path: str, token: str) -> str:
    """What a client reads; the message of the refusal if it may not."""
    url = f"https://localhost:{scheduler.port}"
    with closing(ApiClient(url, token=token, ca_file=scheduler.ca_file, connections=1)) as client:
        try:
            return client.text(path)
        except ApiError as error:
            return str(error)


def test_its_rights_are_enough_for_all_that_it_does(cluster: ControlPlane, install: Install, start: Start) -> None:
    client = cluster.client
    client.create(make_node("n1", allocatable={"cpu": "2"}))
    scheduler = start(install())
    scheduler.wait_until_it_schedules()
    assert lease_holder(client, "kubesched")

    client.create(make_pod("low", requests={"cpu": "1500m"}, spec=OURS))
    wait_until(lambda: node_of(client, "low") == "n1", "a pod on its node")

    bind_a_volume(client)
    ask_for_a_volume(client)

    client.create(make_object("PriorityClass", "high", value=1000))
    important = {**OURS, "priorityClassName": "high"}
    client.create(make_pod("high", requests={"cpu": "1500m"}, priority=1000, spec=important))
    wait_until(lambda: "deletionTimestamp" in client.get("Pod", "low")["metadata"], "the victim's deletion")
    assert client.get("Pod", "high")["status"]["nominatedNodeName"] == "n1"
    conditions = {condition["type"]: condition for condition in client.get("Pod", "low")["status"]["conditions"]}
    assert conditions["DisruptionTarget"]["reason"] == "PreemptionByScheduler"
    client.delete("Pod", "low")
    wait_until(lambda: node_of(client, "high") == "n1", "the preemptor on its node")

    use_devices(client)

    reasons = {"Scheduled", "FailedScheduling", "Preempted", "LeaderElection"}
    wait_until(lambda: reasons <= {event["reason"] for event in client.read_all("Event")}, "its events")
    assert "scheduler_pending_pods" in page(scheduler, "/metrics", cluster.token)
    assert "cannot get path" in page(scheduler, "/metrics", scheduler.token)
    scheduler.stop()
    assert [line for line in scheduler.process.logs() if "orbidden" in line] == []
    assert lease_holder(client, "kubesched") == ""


def test_the_roles_of_kube_scheduler_are_enough_too(cluster: ControlPlane, install: Install, start: Start) -> None:
    client = cluster.client
    client.create(make_node("n1"))
    documents = install()
    (binding,) = [document for document in documents if document["kind"] == "ClusterRoleBinding"]
    client.call("DELETE", applied_path(binding))
    theirs = [
        {
            **binding,
            "metadata": {"name": f"kubesched-as-{name}"},
            "roleRef": {**binding["roleRef"], "name": f"system:{name}"},
        }
        for name in ("kube-scheduler", "volume-scheduler")
    ]
    try:
        apply_all(client, theirs)
        scheduler = start(documents)
        scheduler.wait_until_it_schedules()
        bind_a_volume(client)
        scheduler.stop()
    finally:
        delete_all(client, theirs)
    assert [line for line in scheduler.process.logs() if "orbidden" in line] == []


def use_devices(client: ApiClient) -> None:
    """Every write of claims: create, finalizer, status, reservation, status of the pod, deallocation, deletion."""
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": name} for name in ("gpu-0", "gpu-1", "gpu-2")]
    slice_spec = {"driver": "gpu.example.com", "nodeName": "n1", "pool": pool, "devices": devices}
    client.create(make_object("ResourceSlice", "n1-gpu", spec=slice_spec))
    client.create(make_object("DeviceClass", "gpu", spec={"extendedResourceName": "example.com/gpu"}))
    for name in ("used", "elsewhere"):
        client.create(device_claim(name))
    on_n2 = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]}
    device = {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-2"}
    allocation = {
        "devices": {"results": [device]},
        "nodeSelector": on_n2,
        "allocationTimestamp": "2026-01-01T00:00:00Z",
    }
    client.patch("ResourceClaim", "elsewhere", {"status": {"allocation": allocation}}, part="status")
    client.create(using_claim("one", "used"))
    wait_until(lambda: node_of(client, "one") == "n1", "a pod with a claim on its node")
    client.create(using_claim("two", "used"))
    wait_until(lambda: node_of(client, "two") == "n1", "a second user of the claim")
    client.create(using_claim("three", "elsewhere"))
    wait_until(lambda: node_of(client, "three") == "n1", "a pod whose claim was allocated elsewhere")
    left_over = {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "finalizers": ["resource.kubernetes.io/delete-protection"],
    }
    amounts = {"example.com/gpu": "1"}
    container = {"name": "c", "image": "app", "resources": {"requests": amounts, "limits": amounts}}
    gated = {**OURS, "containers": [container], "schedulingGates": [{"name": "example.com/wait"}]}
    pod = client.create(make_pod("four", spec=gated))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "four", "uid": pod["metadata"]["uid"], "controller": True}
    client.create(device_claim("four-left", ownerReferences=[owner], **left_over))
    client.patch("Pod", "four", {"spec": {"schedulingGates": None}})
    wait_until(lambda: node_of(client, "four") == "n1", "a pod with an extended resource on its node")
    assert "four-left" not in {claim["metadata"]["name"] for claim in client.read_all("ResourceClaim")}


def device_claim(name: str, **metadata: Any) -> Document:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {"devices": {"requests": [request]}},
    }


def using_claim(name: str, claim_name: str) -> Any:
    return make_pod(name, spec={**OURS, "resourceClaims": [{"name": "c", "resourceClaimName": claim_name}]})


def bind_a_volume(client: ApiClient) -> None:
    """A claim that waits for its first pod gets a volume that exists."""
    classes = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    client.create(make_object("StorageClass", "local", **classes))
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local"}
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    client.create(
        make_object("PersistentVolume", "v1", spec={**spec, "local": {"path": "/d"}, "nodeAffinity": affinity})
    )
    client.patch("PersistentVolume", "v1", {"status": {"phase": "Available"}}, part="status")
    client.create(claim("data", "local"))
    client.create(pod_with_claim("reader", "data"))
    wait_until(lambda: client.get("PersistentVolume", "v1")["spec"].get("claimRef"), "the volume's claim")
    # kube-controller-manager does the rest
    done = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    client.patch("PersistentVolumeClaim", "data", {"metadata": {"annotations": done}, "spec": {"volumeName": "v1"}})
    client.patch("PersistentVolumeClaim", "data", {"status": {"phase": "Bound"}}, part="status")
    wait_until(lambda: node_of(client, "reader") == "n1", "a pod with a volume on its node")


def ask_for_a_volume(client: ApiClient) -> None:
    """A claim without a volume gets the node for which its provisioner has to make one."""
    classes = {"provisioner": "disks.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    client.create(make_object("StorageClass", "made", **classes))
    client.create(claim("new", "made"))
    client.create(pod_with_claim("writer", "new"))
    chosen = "volume.kubernetes.io/selected-node"
    wait_until(
        lambda: client.get("PersistentVolumeClaim", "new")["metadata"].get("annotations", {}).get(chosen) == "n1",
        "the node of the volume",
    )


def claim(name: str, storage_class: str) -> Any:
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class, "resources": resources}
    return make_object("PersistentVolumeClaim", name, spec=spec)


def pod_with_claim(name: str, claim_name: str) -> Any:
    return make_pod(name, spec={**OURS, "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}]})


def test_a_replacement_waits_for_kube_scheduler_and_takes_over(
    cluster: ControlPlane, install: Install, start: Start, start_scheduler: StartScheduler, tmp_path: Path
) -> None:
    client = cluster.client
    times = {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}
    stock = start_scheduler({"leaderElection": {"leaderElect": True, **times}})
    before = wait_until(lambda: lease_holder(client, "kube-scheduler"), "the lease of kube-scheduler")
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    (tmp_path / "short.yaml").write_text(yaml.safe_dump({**config, "leaderElection": times}))
    scheduler = start(install("--replace", "--config", str(tmp_path / "short.yaml"), "--namespace", "default"))
    scheduler.process.wait_until(lambda: scheduler.says("ttempting to acquire"), "its wait for the lease")
    client.create_all([make_node("n1"), make_pod("before")])
    wait_until(lambda: node_of(client, "before") == "n1", "a pod of kube-scheduler")
    assert not scheduler.says("schedules pods")

    stock.stop()
    scheduler.wait_until_it_schedules()
    client.create(make_pod("after"))
    wait_until(lambda: node_of(client, "after") == "n1", "a pod of kubesched")
    assert lease_holder(client, "kube-scheduler") not in ("", before)
    scheduler.stop()
    assert [line for line in scheduler.process.logs() if "orbidden" in line] == []


def test_its_pods_are_accepted_in_its_restricted_namespace(cluster: ControlPlane, install: Install) -> None:
    documents = install("--namespace", "schedulers", "--create-namespace")
    (deployment,) = [document for document in documents if document["kind"] == "Deployment"]
    template = deployment["spec"]["template"]
    metadata = {**template["metadata"], "name": "replica"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    path = "/api/v1/namespaces/schedulers/pods"
    cluster.client.call("POST", path, pod, dryRun="All", fieldValidation="Strict")
    del pod["spec"]["securityContext"]["seccompProfile"]
    with pytest.raises(ApiError, match="violates PodSecurity"):
        cluster.client.call("POST", path, pod, dryRun="All")
