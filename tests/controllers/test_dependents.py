import pytest

from kubesched.api import Node, PersistentVolumeClaim, Pod, ReplicaSet, StatefulSet, kind_of, parse_selector
from kubesched.errors import ObjectError
from kubesched.snapshot import load_snapshot
from tests.snapshot.builders import listed, node, other, stream, workload

LETTERS = "[bcdfghjklmnpqrstvwxz2456789]"


def expanded(*manifests, cluster=()):
    return load_snapshot(stream(listed(*cluster)), manifests=[stream(*manifests)])


def pods(*manifests, cluster=()):
    return expanded(*manifests, cluster=cluster).of(Pod)


def test_a_deployment_becomes_a_replica_set_and_its_pods():
    loaded = expanded(workload("Deployment", replicas=3))
    (replica_set,) = loaded.of(ReplicaSet)
    found = loaded.of(Pod)
    assert list(map(kind_of, loaded.objects)) == ["Deployment", "ReplicaSet", "Pod", "Pod", "Pod"]
    hash_label = replica_set.labels["pod-template-hash"]
    assert replica_set.name == f"web-{hash_label}"
    assert replica_set.metadata.controller.kind == "Deployment"
    for pod in found:
        assert pod.namespace == "shop"
        assert pod.labels == {"app": "web", "pod-template-hash": hash_label}
        assert pod.name.startswith(f"web-{hash_label}-")
        owner = pod.metadata.controller
        assert (owner.api_version, owner.kind, owner.name, owner.uid) == (
            "apps/v1",
            "ReplicaSet",
            replica_set.name,
            replica_set.uid,
        )
    assert len({pod.name for pod in found}) == len({pod.uid for pod in found}) == 3


def test_the_replica_set_of_a_deployment_selects_its_pods_by_hash():
    loaded = expanded(workload("Deployment"))
    selector = parse_selector(loaded.of(ReplicaSet)[0].spec.selector)
    assert selector.matches(loaded.of(Pod)[0].labels)
    assert not selector.matches({"app": "web"})


def test_another_template_has_another_hash():
    first, second = (expanded(workload("Deployment", template={"nodeName": n})).of(ReplicaSet)[0] for n in "ab")
    assert first.name != second.name


def test_a_replica_set_has_pods_named_after_it():
    loaded = expanded(workload("ReplicaSet", replicas=2))
    assert [type(known) for known in loaded.objects] == [ReplicaSet, Pod, Pod]
    assert all(pod.name.startswith("web-") and pod.metadata.controller.name == "web" for pod in loaded.of(Pod))


@pytest.mark.parametrize(("replicas", "expected"), [({}, 1), ({"replicas": None}, 1), ({"replicas": 0}, 0)])
def test_a_workload_has_one_replica_unless_it_says_otherwise(replicas, expected):
    assert len(pods(workload("ReplicaSet", **replicas))) == expected


def test_the_pods_of_a_stateful_set_are_numbered():
    loaded = expanded(workload("StatefulSet", replicas=2, ordinals={"start": 5}))
    assert isinstance(loaded.objects[0], StatefulSet)
    found = loaded.of(Pod)
    assert [pod.name for pod in found] == ["web-5", "web-6"]
    assert found[1].labels["statefulset.kubernetes.io/pod-name"] == "web-6"
    assert found[1].labels["apps.kubernetes.io/pod-index"] == "6"


def test_the_claims_of_a_stateful_set_stand_before_their_pod_and_are_mounted():
    claim = {
        "metadata": {"name": "data", "labels": {"a": "b"}},
        "spec": {"resources": {"requests": {"storage": "1Gi"}}},
    }
    template = {"volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]}
    cluster = [
        other(
            "storage.k8s.io/v1",
            "StorageClass",
            "fast",
            metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        )
    ]
    loaded = expanded(
        workload("StatefulSet", replicas=2, volumeClaimTemplates=[claim], template=template), cluster=cluster
    )
    assert [known.name for known in loaded.objects] == ["fast", "web", "data-web-0", "web-0", "data-web-1", "web-1"]
    first = loaded.of(PersistentVolumeClaim)[0]
    assert first.labels == {"a": "b", "app": "web"}
    assert (first.spec.storage_class_name, first.spec.volume_mode, first.status.phase) == (
        "fast",
        "Filesystem",
        "Pending",
    )
    volumes = {volume.name: volume.persistent_volume_claim for volume in loaded.of(Pod)[0].volumes}
    assert list(volumes) == ["data", "tmp"]
    assert volumes["data"].claim_name == "data-web-0"


def test_a_claim_that_is_there_already_is_left_alone():
    claim = other("v1", "PersistentVolumeClaim", "data-web-0", spec={"volumeName": "pv1"})
    claim["metadata"]["namespace"] = "shop"
    template = {"metadata": {"name": "data"}, "spec": {}}
    loaded = expanded(workload("StatefulSet", volumeClaimTemplates=[template]), cluster=[claim])
    assert [c.spec.volume_name for c in loaded.of(PersistentVolumeClaim)] == ["pv1"]


def test_a_daemon_set_has_a_pod_for_each_node_that_fits():
    nodes = [node("a"), node("b", taints=[{"key": "x", "effect": "NoSchedule"}]), node("c", unschedulable=True)]
    found = pods(workload("DaemonSet"), cluster=nodes)
    assert len(found) == 2
    fields = [
        field
        for pod in found
        for term in pod.spec.affinity.node_affinity.required.node_selector_terms
        for field in term.match_fields
    ]
    assert [(field.key, field.operator, field.values) for field in fields] == [
        ("metadata.name", "In", ("a",)),
        ("metadata.name", "In", ("c",)),
    ]
    assert [toleration.key for toleration in found[0].tolerations] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/unschedulable",
    ]


def test_a_daemon_set_without_nodes_has_no_pods():
    assert pods(workload("DaemonSet")) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, 1),
        ({"parallelism": 3}, 3),
        ({"completions": 5}, 1),
        ({"parallelism": 3, "completions": 5}, 3),
        ({"parallelism": 5, "completions": 3}, 3),
        ({"parallelism": 5, "suspend": True}, 0),
    ],
)
def test_a_job_runs_as_many_pods_at_once_as_it_may(spec, expected):
    found = pods(workload("Job", **spec))
    assert len(found) == expected
    assert all(pod.labels["batch.kubernetes.io/job-name"] == pod.labels["job-name"] == "web" for pod in found)


def test_the_pods_of_an_indexed_job_carry_their_number():
    found = pods(workload("Job", completionMode="Indexed", parallelism=2, completions=2))
    for i, pod in enumerate(found):
        assert pod.name.startswith(f"web-{i}-")
        assert pod.labels["batch.kubernetes.io/job-completion-index"] == str(i)
        assert pod.annotations == {"batch.kubernetes.io/job-completion-index": str(i)}


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"])
def test_the_same_manifest_gives_the_same_objects(kind):
    first, second = (expanded(workload(kind), cluster=[node("a")]).objects for _ in range(2))
    assert [known.raw for known in first] == [known.raw for known in second]
    assert len({known.uid for known in first if not isinstance(known, Node)}) == len(first) - 1


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"])
def test_every_pod_waits_with_the_templates_annotations_and_defaults(kind):
    manifest = workload(kind, template={"priorityClassName": "system-node-critical"})
    manifest["spec"]["template"]["metadata"]["annotations"] = {"a": "b"}
    (pod,) = pods(manifest, cluster=[node("a")])
    assert pod.annotations["a"] == "b"
    assert (pod.status.phase, pod.priority, pod.spec.scheduler_name) == ("Pending", 2000001000, "default-scheduler")


@pytest.mark.parametrize("count", [-1, 500_001])
@pytest.mark.parametrize(
    ("kind", "field"), [("ReplicaSet", "replicas"), ("Job", "parallelism"), ("Job", "completions")]
)
def test_a_number_of_pods_beyond_reason_is_refused(kind, field, count):
    with pytest.raises(ObjectError, match=rf"spec\.{field}: found {count}; expected 0 to 500000"):
        expanded(workload(kind, **{field: count}))


def test_label_keys_see_the_labels_that_controllers_add():
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    constraint |= {"labelSelector": {}, "matchLabelKeys": ["pod-template-hash"]}
    (pod,) = pods(workload("Deployment", template={"topologySpreadConstraints": [constraint]}))
    (merged,) = pod.spec.topology_spread_constraints[0].label_selector.match_expressions
    assert merged.values == (pod.labels["pod-template-hash"],)


def test_replicas_do_not_share_what_is_edited():
    found = pods(workload("Job", parallelism=3))
    assert [len(pod.tolerations) for pod in found] == [2, 2, 2]
