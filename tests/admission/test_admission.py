import io
import json

import pytest

from kubesched.api import PersistentVolumeClaim, Pod
from kubesched.errors import InputError, ObjectError
from kubesched.snapshot import load_snapshot, read_pod
from tests.snapshot.builders import listed, node, other, pod, stream, workload


def expanded(*manifests, cluster=()):
    return load_snapshot(stream(listed(*cluster)), manifests=[stream(*manifests)])


def refused(*manifests, cluster=()):
    with pytest.raises(ObjectError) as caught:
        expanded(*manifests, cluster=cluster)
    return str(caught.value)


def owned(document, kind, name):
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "u", "controller": True}
    document["metadata"]["ownerReferences"] = [reference]
    return document


def test_a_pod_gets_what_an_api_server_gives():
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    (found,) = expanded(manifest).of(Pod)
    assert (found.namespace, found.status.phase, found.spec.scheduler_name) == (
        "default",
        "Pending",
        "default-scheduler",
    )
    assert found.uid
    assert found.document["kind"] == "Pod"


def test_what_only_an_api_server_sets_is_dropped():
    manifest = pod(nodeName="n1", status={"phase": "Running", "startTime": "2026-01-01T00:00:00Z"})
    manifest["metadata"] |= {"uid": "old", "resourceVersion": "7", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    (found,) = expanded(manifest).of(Pod)
    assert found.uid != "old"
    assert not found.is_terminating
    assert (found.metadata.resource_version, found.status.phase, found.node_name) == ("", "Pending", "n1")


def test_a_name_can_be_generated():
    manifests = [{**pod(), "metadata": {"generateName": "run-"}} for _ in range(3)]
    names = {found.name for found in expanded(*manifests).of(Pod)}
    assert len(names) == 3
    assert all(name.startswith("run-") for name in names)


def test_manifests_come_behind_the_snapshot_in_their_order():
    loaded = load_snapshot(stream(node("n")), manifests=[stream(pod("b")), stream(listed(pod("a"), pod("c")))])
    assert [known.name for known in loaded.objects] == ["n", "b", "a", "c"]


def test_a_typed_list_is_a_list_of_manifests():
    manifest = {key: value for key, value in workload("ReplicaSet").items() if key in ("metadata", "spec")}
    loaded = expanded({"apiVersion": "apps/v1", "kind": "ReplicaSetList", "items": [manifest]})
    assert [known.document["apiVersion"] for known in loaded.objects] == ["apps/v1", "v1"]


def test_a_manifest_may_be_yaml_with_nulls_as_kubectl_writes_it():
    text = """
apiVersion: apps/v1
kind: Deployment
metadata:
  creationTimestamp: null
  name: web
spec:
  selector: {matchLabels: {app: web}}
  strategy: {}
  template:
    metadata:
      creationTimestamp: null
      labels: {app: web}
    spec:
      nodeName:
      containers:
      - {name: main, image: nginx, resources: {}}
status: {}
"""
    (found,) = load_snapshot(manifests=[io.StringIO(text)]).of(Pod)
    assert found.node_name == ""


def test_the_claim_of_an_ephemeral_volume_stands_before_its_pod():
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}
    loaded = expanded(pod("p", volumes=[volume]))
    claim, found = loaded.objects
    assert isinstance(claim, PersistentVolumeClaim)
    assert (claim.key, claim.metadata.controller.uid) == ("shop/p-scratch", found.uid)


def test_a_file_with_a_pod_to_read_holds_no_other_kind():
    with pytest.raises(ObjectError) as caught:
        read_pod(stream(pod(), other("v1", "Service", "web")))
    assert str(caught.value) == (
        "<stream>, document 2 (Service web): found kind Service; expected Pod here; put objects of other kinds into "
        "the snapshot files"
    )


@pytest.mark.parametrize("version", ["extensions/v1beta1", "v1", ""])
def test_another_group_is_refused(version):
    manifest = {**workload("Deployment"), "apiVersion": version}
    assert refused(manifest) == f'<stream> (Deployment shop/web): apiVersion: found "{version}"; expected apps/v1'


def with_container(kind, **fields):
    return workload(kind, template={"containers": [{"name": "c", **fields}]})


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({**pod(), "metadata": {}}, "(Pod): metadata.name is missing; every object has a name"),
        (pod(containers=[]), "spec.containers is missing; a pod has at least one container"),
        (pod(containers=None), "spec.containers is missing"),
        (pod(containers="main"), 'spec.containers: expected a list, found "main"'),
        (
            pod(priorityClassName="high"),
            "(Pod shop/p1): spec.priorityClassName: no PriorityClass with name high was found",
        ),
        (
            pod(containers=[{"name": "c", "ports": [{"containerPort": "http"}]}]),
            'spec.containers[0].ports[0].containerPort: expected an integer, found "http"',
        ),
        (
            pod(hostNetwork=True, containers=[{"name": "c", "ports": [{"containerPort": 70000}]}]),
            "spec.containers[0].ports[0].hostPort: found 70000; expected 1 to 65535",
        ),
        (
            pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": 3}}}]),
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec: expected an object, found 3",
        ),
        (
            pod(
                volumes=[
                    {
                        "name": "v",
                        "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "x"}}}}},
                    }
                ]
            ),
            "(Pod shop/p1): its claim p1-v: spec.resources.requests.storage: 'x' is not a quantity",
        ),
        (pod(volumes=[{"emptyDir": {}}]), "spec.volumes[0].name is missing; every volume has a name"),
        (workload("Deployment", replicas="three"), 'spec.replicas: expected an integer, found "three"'),
        (workload("Deployment", template={"containers": None}), "spec.template.spec.containers is missing"),
        (workload("Deployment", selector=None), "spec.selector is missing; it selects the labels of spec.template"),
        (workload("StatefulSet", selector={}), "spec.selector is missing"),
        (
            workload("ReplicaSet", selector={"matchLabels": {"app": "db"}}),
            "spec.template.metadata.labels: `selector` does not match template `labels`",
        ),
        (
            workload("ReplicaSet", selector={"matchExpressions": [{"key": "app", "operator": "Like"}]}),
            '"Like" is not a valid label selector operator',
        ),
        (
            with_container("Job", resources={"limits": {"cpu": "two"}}),
            "(Job shop/web): spec.template.spec.containers[0].resources.requests.cpu: 'two' is not a quantity",
        ),
        (
            with_container("DaemonSet", ports=[{"hostPort": -1}]),
            "(DaemonSet shop/web): spec.template.spec.containers[0].ports[0].hostPort: found -1; expected 1 to 65535",
        ),
        (
            workload("Deployment", template={"priorityClassName": "high"}),
            "spec.template.spec.priorityClassName: no PriorityClass with name high was found",
        ),
        (
            workload("StatefulSet", volumeClaimTemplates=[{"spec": {}}]),
            "spec.volumeClaimTemplates[0].metadata.name is missing; pods refer to the claim by this name",
        ),
    ],
)
def test_a_bad_manifest_is_one_sentence_with_the_field(manifest, words):
    sentence = refused(manifest, cluster=[node("n")])
    assert sentence.startswith("<stream> (")
    assert words in sentence
    assert "\n" not in sentence


def test_a_pod_that_is_in_the_snapshot_is_refused():
    assert refused(pod("p"), cluster=[node("n"), pod("p")]) == (
        "<stream> (Pod shop/p): Pod shop/p already exists, from <stream>, item 2; rename one of them"
    )


def test_the_same_workload_twice_is_refused():
    sentence = refused(workload("Job"), workload("Job"))
    assert sentence.startswith("<stream>, document 2 (Job shop/web): Job shop/web already exists")
    assert sentence.endswith(", from <stream>, document 1; rename one of them")


def test_the_pods_that_a_stateful_set_has_stay_as_they_are():
    there = owned(pod("web-0", nodeName="n1"), "StatefulSet", "web")
    loaded = expanded(workload("StatefulSet", replicas=3), cluster=[there])
    assert [(found.name, found.node_name) for found in loaded.of(Pod)] == [
        ("web-0", "n1"),
        ("web-1", ""),
        ("web-2", ""),
    ]
    assert (
        "<stream>: StatefulSet shop/web already has 1 of these pods in the snapshot; they do not change" in loaded.notes
    )


def test_a_daemon_set_adds_pods_only_where_it_has_none():
    there = owned(pod("web-x", nodeName="a"), "DaemonSet", "web")
    loaded = expanded(workload("DaemonSet"), cluster=[node("a"), node("b"), there])
    assert len(loaded.of(Pod)) == 2
    assert "<stream>: DaemonSet shop/web already has a pod on 1 nodes; only the other nodes get one" in loaded.notes


def test_the_pods_of_a_deployment_come_on_top_of_those_it_has():
    replica_set = owned(other("apps/v1", "ReplicaSet", "web-abc", metadata={"namespace": "shop"}), "Deployment", "web")
    there = [owned(pod(f"web-abc-{i}"), "ReplicaSet", "web-abc") for i in range(2)]
    finished = owned(pod("done", status={"phase": "Failed"}), "ReplicaSet", "web-abc")
    loaded = expanded(workload("Deployment", replicas=3), cluster=[replica_set, *there, finished])
    assert len(loaded.of(Pod)) == 6
    assert (
        "<stream>: Deployment shop/web already has 2 pods in the snapshot; the pods of the manifest are added"
        in loaded.notes
    )


def test_read_pod_gives_the_pod_and_its_claims():
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    found, claims = read_pod(stream(pod("p", volumes=[volume])))
    assert (found.name, found.status.phase) == ("p", "Pending")
    assert [claim.name for claim in claims] == ["p-scratch"]


def test_read_pod_looks_up_classes_and_minds_no_pod_of_the_same_name():
    high = other("scheduling.k8s.io/v1", "PriorityClass", "high", value=9)
    cluster = load_snapshot(stream(listed(pod("p"), high))).objects
    found, claims = read_pod(stream(pod("p", priorityClassName="high")), cluster)
    assert (found.priority, claims) == (9, ())


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        ([pod("a"), pod("b")], "<stream>: found 2 pods; expected a file with one Pod"),
        ([listed()], "<stream>: found 0 pods; expected a file with one Pod"),
        ([workload("Job")], r"<stream> \(Job shop/web\): found kind Job; expected Pod"),
    ],
)
def test_read_pod_takes_one_pod(documents, words):
    with pytest.raises(InputError, match=words):
        read_pod(stream(*documents))


def test_read_pod_takes_one_file(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(json.dumps(pod(name)))
    with pytest.raises(InputError, match="expected a file with one Pod"):
        read_pod(tmp_path)
