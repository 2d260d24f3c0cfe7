"""Which workload a pod belongs to."""

from typing import Any

import pytest

from kubesched.api import KubeObject, Pod, ReplicaSet, Workload, workload_of, workloads
from kubesched.testing import make_object, make_pod


def owned(kind: str, name: str) -> dict[str, Any]:
    return {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}]}


def web(hash_label: str = "5d8") -> Pod:
    return make_pod("web-5d8-x", labels={"pod-template-hash": hash_label}, metadata=owned("ReplicaSet", "web-5d8"))


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        (owned("Deployment", "web"), "Deployment default/web"),
        (owned("Rollout", "canary"), "Rollout default/canary"),
        ({}, "ReplicaSet default/web-5d8"),
    ],
)
def test_what_controls_a_replica_set_is_the_workload_of_its_pods(above: dict[str, Any], expected: str):
    replica_set = make_object("ReplicaSet", "web-5d8", metadata=above)
    assert isinstance(replica_set, ReplicaSet)
    assert str(workload_of(web(), {replica_set.key: replica_set})) == expected


@pytest.mark.parametrize(("label", "kind"), [("5d8", "Deployment"), ("other", "ReplicaSet"), ("", "ReplicaSet")])
def test_a_replica_set_that_the_cluster_lacks_is_known_by_the_template_hash(label: str, kind: str):
    workload = workload_of(web(label), {})
    assert workload is not None
    assert workload.kind == kind


def test_a_pod_without_a_controller_stands_for_itself():
    pod = make_pod("alone")
    assert workload_of(pod, {}) is None
    assert str(Workload.alone(pod)) == "Pod default/alone"


def test_a_workload_may_have_no_pods_and_finished_ones_do_not_count():
    objects: list[KubeObject] = [
        make_object("StatefulSet", "db"),
        make_pod("done", metadata=owned("Job", "night"), status={"phase": "Succeeded"}),
        make_pod("runs", metadata=owned("Job", "night")),
    ]
    names = {str(one): [pod.name for pod in pods] for one, pods in workloads(objects).items()}
    assert names == {"StatefulSet default/db": [], "Job default/night": ["runs"]}
