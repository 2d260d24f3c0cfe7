import pytest

from kubesched.api import Node, Pod
from kubesched.errors import ObjectError
from kubesched.testing import make_node, make_object, make_pod


def test_a_pod_is_what_an_api_server_would_store():
    pod = make_pod("web", labels={"app": "web"}, requests={"cpu": "100m"}, host_ports=[80], node="n1", priority=7)
    assert isinstance(pod, Pod)
    assert (pod.key, pod.node_name, pod.priority, pod.labels) == ("default/web", "n1", 7, {"app": "web"})
    assert pod.uid
    assert pod.document["apiVersion"] == "v1"
    assert pod.document["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "100m"}}
    assert pod.document["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "hostPort": 80}]
    assert pod.document["status"] == {"phase": "Running"}


def test_what_is_not_said_is_not_stored():
    assert set(make_pod("web").document["spec"]) == {"containers", "schedulerName", "priority"}
    assert set(make_node("n1").document["spec"]) == set()


def test_a_node_has_room_a_host_name_and_taints_as_kubectl_writes_them():
    node = make_node("n1", zone="a", allocatable={"cpu": "16"}, taints=["gpu=true:NoSchedule", "old:NoExecute"])
    assert isinstance(node, Node)
    assert node.labels == {"kubernetes.io/hostname": "n1", "topology.kubernetes.io/zone": "a"}
    assert node.document["status"]["allocatable"] == {"cpu": "16", "memory": "8Gi", "pods": "110"}
    assert [(taint.key, taint.value, taint.effect) for taint in node.taints] == [
        ("gpu", "true", "NoSchedule"),
        ("old", "", "NoExecute"),
    ]


def test_the_wire_has_the_last_word():
    pod = make_pod("web", priority=1, spec={"priority": 9, "schedulerName": "mine"}, metadata={"uid": "u"})
    assert (pod.priority, pod.scheduler_name, pod.uid) == (9, "mine", "u")


def test_pods_of_two_namespaces_have_two_uids():
    assert make_pod("web").uid != make_pod("web", namespace="other").uid


def test_objects_of_other_kinds_live_where_their_kind_does():
    assert make_object("Service", "web", namespace="shop", spec={"selector": {"app": "web"}}).key == "shop/web"
    assert make_object("StorageClass", "fast").key == "fast"


def test_a_field_of_a_wrong_type_is_refused():
    with pytest.raises(ObjectError, match="nodeSelector"):
        make_pod("web", spec={"nodeSelector": 3})
