"""Fixes for nodes that devices and something else keep a pod from."""

from kubesched.explanation import explain
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.claiming import CLASS, claim, decoded, gpu
from tests.plugins.dynamic_resources.device_objects import allocation, ask, resource_slice, using

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
TAINTS = [{"key": "pool", "value": "gpu", "effect": "NoSchedule"}]
WANTS = make_pod("p", requests={"cpu": "2"}, spec={"resourceClaims": using("c")})
AWAY = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}


def node(name, cpu="4", **spec):
    return make_node(name, spec=spec, allocatable={"cpu": cpu, "pods": "10"})


def holder(**more):
    """A pod with all cpu and all devices of n1, and its claim."""
    pod = make_pod("t", node="n1", requests={"cpu": "4"}, spec={"resourceClaims": using("o")}, **more)
    users = [{"resource": "pods", "name": "t", "uid": pod.uid}]
    return [pod, *decoded(claim("o", ask(2), status={**allocation("n1", "a", "b"), "reservedFor": users}))]


def fixes_of(pod, *objects):
    devices = decoded(CLASS, resource_slice("n1", [gpu("a"), gpu("b")]), claim("c", ask(2)))
    return [str(one) for one in explain([*objects, *devices, pod], "default/p").fixes]


def test_a_pod_that_is_in_the_way_twice_leaves_once():
    gone = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    fixes = fixes_of(WANTS, node("n1"), *holder(**gone))
    assert "wait until default/t (n1) has ended -> 1 node" in fixes
    assert not any(" and wait " in text for text in fixes)


def test_a_pod_that_is_in_the_way_twice_moves_once():
    pod = make_pod("p", requests={"cpu": "2"}, spec={"resourceClaims": using("c"), **AWAY})
    others = [node("n2"), *decoded(resource_slice("n2", [gpu("y"), gpu("z")])), make_object("ReplicaSet", "rs")]
    fixes = fixes_of(pod, node("n1"), *others, *holder(metadata={"ownerReferences": [OWNER]}))
    assert "move default/t from n1 to n2 -> 1 node" in fixes
    assert not any("and move" in text for text in fixes)


def test_a_node_is_not_added_twice():
    fixes = fixes_of(WANTS, node("n1"), *holder())
    assert [text for text in fixes if "add a node" in text] == ["add a node like n1 -> 1 node"]


def test_many_unused_claims_hide_no_other_request_beside_a_taint():
    """Each of them frees one device, and two are wanted."""
    names = [f"g{i}" for i in range(6)]
    unused = [claim(f"u{name}", ask(), status=allocation("n1", name)) for name in names[1:]]
    devices = decoded(CLASS, resource_slice("n1", [gpu(name) for name in names]), claim("c", ask(5)), *unused)
    fixes = explain([node("n1", taints=TAINTS), *devices, WANTS], "default/p").fixes
    assert {one.kind for one in fixes} >= {"toleration+deviceRequest"}
