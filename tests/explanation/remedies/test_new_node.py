"""The fix of one more node: it is the node that --add-nodes and --nodes-like add."""

from kubesched.api import Node
from kubesched.planning import WhatIf
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, ask, filling, fixes_of


def static_pod(**requests: str) -> object:
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "Node/n1", "controller": True}
    return make_pod("proxy", node="n1", requests=requests, metadata={"ownerReferences": [owner]})


def test_the_new_node_has_the_name_and_the_pods_that_add_nodes_gives_it():
    objects = [make_node("n1", allocatable=SMALL), static_pod(cpu="500m"), filling("n1", cpu="1500m")]
    pod = make_pod("p", requests={"cpu": "1500m"})
    fix = fixes_of(pod, *objects)["add a node like n1"]
    assert fix.nodes == ("new-1",)
    changed, _ = fix.change.apply(objects, pod)
    added = WhatIf(add_nodes=1, like="n1").applied(objects).objects
    assert {(type(one), one.key) for one in changed} == {(type(one), one.key) for one in added}


def test_static_pods_take_room_on_the_new_node_too():
    objects = [make_node("n1", allocatable=SMALL), static_pod(cpu="500m")]
    fixes = ask(make_pod("p", requests={"cpu": "2"}), *objects).fixes
    assert "add a node like n1 with at least 2.5 cpu" in [fix.text for fix in fixes]


def test_a_name_that_is_taken_is_left_alone():
    nodes = [make_node("new-1", allocatable=SMALL), make_node("new-2", allocatable=SMALL)]
    full = [filling(node.name, cpu="2") for node in nodes]
    assert fixes_of(make_pod("p", requests={"cpu": "1"}), *nodes, *full)["add a node like new-1"].nodes == ("new-3",)


def test_the_new_node_has_the_volume_limits_and_none_of_the_passing_taints_of_its_model():
    limits = make_object(
        "CSINode", "n1", spec={"drivers": [{"name": "csi.example.com", "nodeID": "n1", "allocatable": {"count": 1}}]}
    )
    taints = ["node.kubernetes.io/not-ready:NoExecute"]
    objects = [make_node("n1", allocatable=SMALL, taints=taints), limits, filling("n1", cpu="2")]
    pod = make_pod("p", requests={"cpu": "1"})
    fix = next(fix for fix in ask(pod, *objects).fixes if "add a node like n1" in fix.text)
    changed, _ = fix.change.apply(objects, pod)
    (new,) = (one for one in changed if isinstance(one, Node) and one.name == "new-1")
    assert not new.taints
    assert any(one.key == "new-1" and type(one).__name__ == "CSINode" for one in changed)
