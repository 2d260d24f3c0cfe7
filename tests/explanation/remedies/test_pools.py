"""The fix of one more node names the pool that has it, also one at zero nodes, before an invented node."""

import json

from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, filling, fixes_of, texts

TYPE = "node.kubernetes.io/instance-type"
GPU = "nvidia.com/gpu"


def groups(*sizes: tuple[str, int, int], back_off: str = "") -> object:
    health = [{"name": name, "health": {"cloudProviderTarget": now, "maxSize": most}} for name, now, most in sizes]
    if back_off:
        health[0]["scaleUp"] = {"status": "Backoff", "backoffInfo": {"errorMessage": back_off}}
    return make_object(
        "v1/ConfigMap",
        "cluster-autoscaler-status",
        namespace="kube-system",
        data={"status": json.dumps({"nodeGroups": health})},
    )


def full(name: str, **labels: str) -> list:
    return [make_node(name, allocatable=SMALL, labels=labels), filling(name, cpu="2")]


def test_a_group_with_room_is_scaled_up_in_place_of_an_invented_node():
    fixes = fixes_of(make_pod("p", requests={"cpu": "1"}), *full("workers-1"), groups(("workers", 1, 3)))
    assert "scale up node group workers (at 1 node; maxSize 3)" in fixes
    assert not [text for text in fixes if "add a node like" in text]


def test_a_pool_at_zero_nodes_has_what_the_pod_asks_for():
    pool = make_object("NodePool", "gpu", spec={"template": {"metadata": {"labels": {"pool": "gpu"}}, "spec": {}}})
    claim = make_object(
        "NodeClaim",
        "old-1",
        labels={TYPE: "g5"},
        status={"nodeName": "n1", "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "10", GPU: "1"}},
    )
    pod = make_pod("p", requests={"cpu": "1", GPU: "1"}, spec={"nodeSelector": {"pool": "gpu"}})
    nodes = [make_node("n1", allocatable=SMALL, labels={"pool": "cpu"})]
    first, *others = fixes_of(pod, *nodes, pool, claim)
    assert first == "scale up NodePool gpu (g5, at 0 nodes)"
    assert not [text for text in others if "correct" in text]


def test_a_daemon_set_takes_its_room_on_a_node_of_a_pool_at_zero():
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "logs", "controller": True}
    daemon = make_pod("logs-1", node="n1", requests={"cpu": "1"}, metadata={"ownerReferences": [owner]})
    claim = make_object("NodeClaim", "c", labels={TYPE: "t"}, status={"allocatable": {"cpu": "4", "pods": "10"}})
    nodes = [make_node("n1", allocatable={"cpu": "1"})]
    assert "wait for NodeClaim c: its node is not there yet" in texts(
        make_pod("p", requests={"cpu": "3"}), *nodes, daemon, claim
    )
    assert not [
        text for text in texts(make_pod("p", requests={"cpu": "4"}), *nodes, daemon, claim) if "NodeClaim" in text
    ]


def test_a_pool_at_its_limit_has_its_limit_raised():
    said = texts(make_pod("p", requests={"cpu": "1"}), *full("workers-1"), groups(("workers", 3, 3)))
    assert "raise the limit of node group workers (maxSize 3)" in said


def test_a_group_that_backs_off_says_so():
    status = groups(("workers", 1, 3), back_off="out of quota")
    said = texts(make_pod("p", requests={"cpu": "1"}), *full("workers-1"), status)
    assert "scale up node group workers (at 1 node; maxSize 3; cluster-autoscaler backs off: out of quota)" in said


def test_a_pool_of_devices_is_not_for_pods_that_ask_for_none():
    gpu = make_node("gpu-1", allocatable={**SMALL, GPU: "1"})
    said = texts(
        make_pod("p", requests={"cpu": "1"}), *full("n1"), gpu, filling("gpu-1", cpu="2"), groups(("gpu", 1, 3))
    )
    assert not [text for text in said if "node group gpu" in text]
    assert "add a node like n1" in said


def test_a_small_mistake_is_corrected_first():
    pod = make_pod("p", spec={"nodeSelector": {"disktype": "sdd"}})
    node = make_node("workers-1", allocatable=SMALL, labels={"disktype": "ssd"})
    assert "correct" in texts(pod, node, groups(("workers", 1, 3)))[0]


def test_a_volume_in_another_zone_has_a_node_there():
    zone = "topology.kubernetes.io/zone"
    nodes = [make_node(f"workers-{one}", allocatable=SMALL, zone=one) for one in "ab"]
    pods = [filling(node.name, cpu="2") for node in nodes]
    pod = make_pod("p", requests={"cpu": "1"}, spec={"nodeSelector": {zone: "b"}})
    said = texts(pod, *nodes, *pods, groups(("workers", 2, 4)))
    assert "scale up node group workers (at 2 nodes; maxSize 4) in zone b" in said


def gpu_pool(**limits: str) -> object:
    taints = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    template = {"metadata": {"labels": {"team": "ml"}}, "spec": {"taints": taints}}
    return make_object("NodePool", "gpu", spec={"template": template, "limits": limits})


def test_a_pool_whose_types_are_not_known_is_named_with_what_one_of_them_needs():
    spec = {"nodeSelector": {"team": "ml"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]}
    pod = make_pod("p", requests={"cpu": "4", GPU: "1"}, spec=spec)
    first = next(iter(fixes_of(pod, make_node("n1", allocatable=SMALL), gpu_pool())))
    assert (
        first == f"scale up NodePool gpu (at 0 nodes), if one of its types of machines has 4 cpu and 1 {GPU} for pods"
    )


def test_a_pool_that_the_pod_chooses_and_does_not_tolerate_needs_both():
    pod = make_pod("p", requests={"cpu": "1", GPU: "1"}, spec={"nodeSelector": {"team": "ml"}})
    fix = next(iter(fixes_of(pod, make_node("n1", allocatable=SMALL), gpu_pool()).values()))
    assert fix.text.startswith("tolerate gpu=yes:NoSchedule and scale up NodePool gpu")
    assert fix.kind == "toleration+addNode"
    plain = texts(make_pod("p", requests={"cpu": "1"}), *full("n1"), gpu_pool())
    assert not [text for text in plain if "NodePool" in text]


def test_a_pool_that_may_not_have_such_a_machine_is_not_named():
    spec = {"nodeSelector": {"team": "web"}}
    said = texts(make_pod("p", requests={"cpu": "1"}, spec=spec), make_node("n1", allocatable=SMALL), gpu_pool())
    assert not [text for text in said if "NodePool" in text]
    spec = {"nodeSelector": {"team": "ml"}, "tolerations": [{"operator": "Exists"}]}
    pod = make_pod("p", requests={"cpu": "4"}, spec=spec)
    said = texts(pod, make_node("n1", allocatable=SMALL), gpu_pool(cpu="3"))
    assert (
        "raise the limit of NodePool gpu (limit 3 cpu, now 0), if one of its types of machines has 4 cpu for pods"
        in said
    )


def test_a_new_node_is_no_part_of_a_fix_that_opens_other_nodes():
    """The pool at zero gives its nodes another label than the pod wants: the toleration alone makes it fit."""
    taints = [{"key": "gpu", "value": "present", "effect": "NoSchedule"}, {"key": "spot", "effect": "NoSchedule"}]
    template = {"metadata": {"labels": {"pool": "spot"}}, "spec": {"taints": taints}}
    pool = make_object("NodePool", "spot", spec={"template": template})
    room = {"cpu": "4", "memory": "8Gi", "pods": "10", GPU: "1"}
    node = make_node("n1", allocatable=room, labels={"pool": "base"}, taints=["gpu=present:NoSchedule"])
    pod = make_pod("p", requests={GPU: "1"}, node_selector={"pool": "base"})
    assert not [text for text in texts(pod, node, pool) if "scale up" in text]


def test_a_group_without_nodes_that_the_pod_names_is_scaled_up_before_its_selector_goes():
    key = "eks.amazonaws.com/nodegroup"
    status = groups(("eks-blocks-1c2d3e4f-1111-2222-3333-1c2d3e4f5a6b", 0, 4), back_off="no capacity")
    nodes = [make_node("n1", allocatable={**SMALL, GPU: "8"}, labels={key: "other"})]
    pod = make_pod("p", requests={GPU: "8"}, node_selector={key: "blocks"})
    first = texts(pod, *nodes, status)[0]
    assert first.startswith("scale up node group eks-blocks-")
    assert first.endswith(
        f"(at 0 nodes; maxSize 4; cluster-autoscaler backs off: no capacity), if its machines have 8 {GPU} for pods"
    )
    other = make_pod("p", requests={GPU: "9"})
    assert not [text for text in texts(other, *nodes, status) if "node group" in text]


def test_a_pool_that_lists_known_types_alone_has_no_larger_one():
    rule = {"key": TYPE, "operator": "In", "values": ["small"]}
    pool = make_object("NodePool", "jobs", spec={"template": {"spec": {"requirements": [rule]}}})
    nodes = [make_node("n1", allocatable=SMALL, labels={TYPE: "small", "karpenter.sh/nodepool": "jobs"})]
    said = texts(make_pod("p", requests={"cpu": "3"}), *nodes, pool)
    assert "allow a larger instance-type in NodePool jobs (it allows small alone), one with 3 cpu for pods" in said
    assert not [text for text in said if text.startswith(("scale up", "raise"))]
    rule["values"].append("unknown")
    pool = make_object("NodePool", "jobs", spec={"template": {"spec": {"requirements": [rule]}}})
    open_pool = texts(make_pod("p", requests={"cpu": "3"}), *nodes, pool)
    assert "scale up NodePool jobs (at 1 node), if one of its types of machines has 3 cpu for pods" in open_pool
