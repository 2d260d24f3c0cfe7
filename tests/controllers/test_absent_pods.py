"""What has no pods is named with the reason, whatever stands beside it."""

import pytest

from tests.admission.test_admission import expanded
from tests.snapshot.builders import node, other, pod, workload

TEMPLATE = {"metadata": {}, "spec": {"containers": [{"name": "c", "image": "registry.example/c:1"}]}}


def said_of(manifest, cluster=()):
    (note,) = [one for one in expanded(manifest, pod("beside"), cluster=cluster).notes if "no pod is added" in one]
    return note


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (workload("Job", suspend=True, parallelism=3), "Job shop/web is suspended (spec.suspend: true)"),
        (workload("Job", parallelism=0), "Job shop/web has 0 pods (spec.parallelism: 0)"),
        (workload("Job", completions=0), "Job shop/web has 0 pods (spec.completions: 0)"),
        (workload("Deployment", replicas=0), "Deployment shop/web has 0 replicas (spec.replicas: 0)"),
        (workload("StatefulSet", replicas=0), "StatefulSet shop/web has 0 replicas (spec.replicas: 0)"),
        (
            other("argoproj.io/v1alpha1", "Rollout", "web", spec={"template": TEMPLATE}),
            "Rollout.argoproj.io default/web may have pods, but kubesched does not read this kind",
        ),
        (
            other("argoproj.io/v1alpha1", "Workflow", "w", spec={"templates": [{"container": {"image": "i"}}]}),
            "Workflow.argoproj.io default/w may have pods, but kubesched does not read this kind",
        ),
        (
            other("tekton.dev/v1", "TaskRun", "t", spec={"taskSpec": {"steps": [{"name": "s", "image": "i"}]}}),
            "TaskRun.tekton.dev default/t may have pods, but kubesched does not read this kind",
        ),
        (
            other("batch.volcano.sh/v1alpha1", "Job", "train", spec={"tasks": [{"replicas": 2, "template": TEMPLATE}]}),
            "Job.batch.volcano.sh default/train may have pods, but kubesched does not read this kind",
        ),
    ],
)
def test_a_workload_without_pods_is_named(manifest, why):
    assert said_of(manifest) == f"<stream>, document 1: {why}; no pod is added for it"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ({"nodeSelector": {"gpu": "yes"}}, "no node has gpu=yes"),
        ({"nodeSelector": {"disk": "ssd", "zone": "a"}}, "no node has disk=ssd and zone=a"),
        ({}, "its pods do not tolerate the taints of the nodes"),
    ],
)
def test_a_daemon_set_that_no_node_matches_has_the_reason(template, why):
    taint = [{"key": "own", "effect": "NoSchedule"}]
    nodes = [
        node("n1", labels={"disk": "ssd", "zone": "b"}, taints=taint),
        node("n2", labels={"zone": "a"}, taints=taint),
    ]
    said = said_of(workload("DaemonSet", template=template), nodes)
    assert f"DaemonSet shop/web would run on 0 of 2 nodes: {why}" in said


def test_a_custom_resource_without_containers_is_only_counted():
    schema = {"properties": {"containers": {"type": "array"}}}
    notes = expanded(other("example.com/v1", "Monitor", "m", spec=schema), pod()).notes
    assert not any("no pod is added" in note for note in notes)
