"""A higher priority, with which a pod evicts others."""

from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, fixes_of, replica, texts


def fillers(*priorities: int, cpu: str = "500m") -> list:
    return [replica(f"f{i}", node="n1", requests={"cpu": cpu}, priority=value) for i, value in enumerate(priorities)]


def owned_by_daemon_set(namespace: str) -> object:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "agent", "controller": True}
    metadata = {"ownerReferences": [owner]}
    return make_pod("agent", namespace=namespace, requests={"cpu": "1"}, metadata=metadata)


def test_a_daemon_of_the_system_gets_the_priority_of_the_node():
    fixes = fixes_of(owned_by_daemon_set("kube-system"), make_node("n1", allocatable=SMALL), *fillers(0, 0, 0))
    text = "set priorityClassName: system-node-critical, so that it evicts default/f2 (n1) (leaves default/f2 pending)"
    assert text in fixes
    assert fixes[text].keeps_intent
    assert not [
        one
        for one in texts(owned_by_daemon_set("shop"), make_node("n1", allocatable=SMALL), *fillers(0, 0, 0))
        if "priority" in one
    ]


def test_the_lowest_class_that_is_high_enough_is_named_with_the_least_important_pods():
    classes = [make_object("PriorityClass", name, value=value) for name, value in (("high", 100), ("low", 10))]
    pod = make_pod("p", requests={"cpu": "1"})
    said = texts(pod, make_node("n1", allocatable=SMALL), *fillers(50, 5, 0), *classes)
    assert "set priorityClassName: low, so that it evicts default/f2 (n1) (leaves default/f2 pending)" in said
    said = texts(pod, make_node("n1", allocatable=SMALL), *fillers(50, 50, 50), *classes)
    assert "set priorityClassName: high, so that it evicts default/f2 (n1) (leaves default/f2 pending)" in said


def test_a_pod_that_never_preempts_gets_no_class():
    classes = [make_object("PriorityClass", "high", value=100)]
    pod = make_pod("p", requests={"cpu": "1"}, spec={"preemptionPolicy": "Never"})
    said = texts(pod, make_node("n1", allocatable=SMALL), *fillers(0, 0, 0), *classes)
    assert not [text for text in said if "priority" in text]


def test_a_class_that_never_preempts_is_not_offered():
    classes = [make_object("PriorityClass", "high", value=100, preemptionPolicy="Never")]
    pod = make_pod("p", requests={"cpu": "1"})
    said = texts(pod, make_node("n1", allocatable=SMALL), *fillers(0, 0, 0), *classes)
    assert not [text for text in said if "priority" in text]


def test_a_higher_class_comes_after_smaller_requests():
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    pods = [replica("f", node="n1", requests={"cpu": "1"}), replica("g", node="n2", requests={"cpu": "500m"})]
    classes = [make_object("PriorityClass", "high", value=100)]
    said = texts(make_pod("p", requests={"cpu": "1800m"}), *nodes, *pods, *classes)
    assert said[-2:] == [
        "lower the request to 1.5 cpu",
        "set priorityClassName: high, so that it evicts default/g (n2)",
    ]
