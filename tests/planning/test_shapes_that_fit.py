"""Which nodes that autoscalers may add would take pending pods."""

import pytest

from kubesched.api import Node
from kubesched.controllers import MachineType
from kubesched.errors import InputError
from kubesched.planning import PodsLeft, ShapesThatFit, WhatIf, shapes_that_fit
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object, make_pod

SMALL = MachineType("small", {"cpu": "4", "memory": "8Gi", "pods": "10"}, price=0.1)
LARGE = MachineType("large", {"cpu": "16", "memory": "64Gi", "pods": "10"}, price=0.5)
GPU = MachineType("gpu", {"cpu": "16", "memory": "64Gi", "pods": "10", "nvidia.com/gpu": "1"}, price=0.3)
FULL = [make_node("n1", zone="a", allocatable={"cpu": "1"})]


def replicas(name: str, n: int, **fields) -> list:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": True}
    return [make_pod(f"{name}-{i}", metadata={"ownerReferences": [owner]}, **fields) for i in range(n)]


def ask(*objects, rows=(SMALL, LARGE), **options) -> ShapesThatFit:
    return shapes_that_fit([*FULL, *objects], set_up(), rows, file="t.csv", **options)


def only(answer: ShapesThatFit) -> PodsLeft:
    (left,) = answer.left
    return left


def test_the_best_shape_has_all_pods_with_the_lowest_price():
    left = only(ask(*replicas("web", 5, requests={"cpu": "2"})))
    assert [(one.shape, one.n_on_one, one.n_nodes) for one in left.verdicts] == [("small", 2, 3), ("large", 5, 1)]
    assert left.best == "small"  # 3 x 0.1 is less than 0.5
    few = ask(*replicas("web", 5, requests={"cpu": "2"}), rows=(SMALL, MachineType("large", LARGE.allocatable)))
    assert only(few).best == "large"  # a price is missing: the fewest nodes


def test_prices_of_a_file_are_those_of_types_without_one():
    rows = (MachineType("small", SMALL.allocatable), MachineType("large", LARGE.allocatable))
    answer = ask(*replicas("web", 5, requests={"cpu": "2"}), rows=rows, prices={"small": 1.0, "large": 9.0})
    assert [one.shape.price for one in answer.shapes] == [1.0, 9.0]
    assert only(answer).best == "small"


def test_devices_that_nobody_asks_for_are_left_to_others():
    assert only(ask(*replicas("web", 2, requests={"cpu": "6"}), rows=(GPU, LARGE))).best == "large"
    gpu_pod = replicas("ml", 1, requests={"cpu": "6", "nvidia.com/gpu": "1"})
    assert only(ask(*gpu_pod, rows=(GPU, LARGE))).best == "gpu"


def test_the_pods_of_daemon_sets_take_their_room():
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "logs", "controller": True}
    daemon = make_pod("logs-1", node="n1", requests={"cpu": "1"}, metadata={"ownerReferences": [owner]})
    left = only(ask(daemon, *replicas("web", 2, requests={"cpu": "4"}), rows=(SMALL, LARGE)))
    small, large = left.verdicts
    assert (small.n_on_one, small.reasons) == (0, ("Insufficient cpu",))
    assert small.obstacle == "cpu is short by 1: requests 4, 3 of 4 free; 1 pod of a DaemonSet runs there"
    assert large.n_on_one == 2


def test_the_limits_of_volumes_that_a_new_node_has_are_no_pod():
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "logs", "controller": True}
    daemon = make_pod("logs-1", node="n2", requests={"cpu": "1"}, metadata={"ownerReferences": [owner]})
    labels = {"node.kubernetes.io/instance-type": "m4", "karpenter.sh/nodepool": "p"}
    node = make_node("n2", labels=labels, allocatable=SMALL.allocatable)
    pool = make_object("NodePool", "p", spec={"template": {"spec": {}}})
    limits = make_object("CSINode", "n2", spec={"drivers": []})
    left = only(ask(node, limits, pool, daemon, *replicas("web", 1, requests={"cpu": "4"}), rows=()))
    assert left.verdicts[0].obstacle.endswith("1 pod of a DaemonSet runs there")


def test_why_no_scale_up_is_said_in_the_words_of_kube_scheduler_and_ours():
    tainted = MachineType("t", LARGE.allocatable, taints=make_node("x", taints=["gpu=yes:NoSchedule"]).taints)
    pods = replicas("web", 1, requests={"cpu": "2"}, spec={"nodeSelector": {"disk": "ssd"}})
    (verdict,) = only(ask(*pods, rows=(tainted,))).verdicts
    assert verdict.reasons == (
        "node(s) had untolerated taint(s)",
        "node(s) didn't match Pod's node affinity/selector",
    )
    assert verdict.obstacle == "taint gpu=yes:NoSchedule is not tolerated; label disk is absent, wanted: 'ssd'"


def test_the_limit_of_a_shape_bounds_how_many_pods_it_takes():
    two = MachineType("two", SMALL.allocatable, most=2)
    answer = ask(*replicas("web", 5, requests={"cpu": "2"}), rows=(two,))
    (verdict,) = only(answer).verdicts
    assert (verdict.n_nodes, verdict.n_within, only(answer).best) == (3, 4, "")
    assert (answer.n_left, answer.n_helped, answer.shapes[0].is_short) == (5, 4, True)


def test_each_zone_is_tried_and_pods_that_spread_get_nodes_in_several():
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    nodes = [make_node(f"z-{zone}", zone=zone, allocatable={"cpu": "1"}) for zone in "bc"]
    pods = replicas(
        "web", 6, requests={"cpu": "2"}, labels={"app": "web"}, spec={"topologySpreadConstraints": [spread]}
    )
    (verdict,) = only(ask(*nodes, *pods, rows=(SMALL,))).verdicts
    assert (verdict.zones, verdict.n_on_one, verdict.n_nodes) == (("a", "b", "c"), 1, 3)
    volume = make_pod("db", requests={"cpu": "2"}, spec={"nodeSelector": {"topology.kubernetes.io/zone": "b"}})
    assert only(ask(*nodes, volume, rows=(SMALL,))).verdicts[0].zones == ("b",)


def test_pods_that_have_a_node_are_not_asked_about():
    answer = ask(make_pod("fits", requests={"cpu": "500m"}), *replicas("web", 1, requests={"cpu": "2"}))
    assert (answer.n_placed, answer.n_left) == (1, 1)
    assert ask(make_pod("fits", requests={"cpu": "500m"})).left == ()


def test_new_pods_are_asked_about_alone():
    waiting = replicas("web", 3, requests={"cpu": "2"})
    answer = ask(*waiting, new=[make_pod("new", requests={"cpu": "3"})])
    assert [one.pods for one in answer.left] == [("default/new",)]


def test_without_a_shape_the_question_has_no_answer():
    with pytest.raises(InputError, match="no shape of a node is known: the cluster has no NodePool"):
        shapes_that_fit([*FULL, make_pod("p")], set_up())
    pool = make_object("NodePool", "p", spec={"template": {"spec": {}}})
    with pytest.raises(
        InputError, match="of Karpenter's types of machines only those of nodes and NodeClaims are known"
    ):
        shapes_that_fit([*FULL, pool], set_up())


def test_nothing_of_the_cluster_changes():
    objects = [*FULL, *replicas("web", 5, requests={"cpu": "2"})]
    first = shapes_that_fit(objects, set_up(), (SMALL, LARGE))
    assert shapes_that_fit(objects, set_up(), (SMALL, LARGE)).left == first.left


def test_nodes_for_pods_that_ask_for_other_labels_of_a_shape_are_counted_apart():
    capacity = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]}
    pool = make_object("NodePool", "p", spec={"template": {"spec": {"requirements": [capacity]}}})
    spot = replicas("spot", 2, requests={"cpu": "2"}, spec={"nodeSelector": {"karpenter.sh/capacity-type": "spot"}})
    answer = ask(pool, *spot, *replicas("web", 4, requests={"cpu": "2"}), rows=(SMALL,))
    assert [(one.best, one.chosen.n_nodes) for one in answer.left] == [("p/small", 2), ("p/small", 1)]
    assert (answer.shapes[0].n_pods, answer.shapes[0].n_on_one, answer.shapes[0].n_nodes) == (6, 2, 3)


def test_a_shape_is_a_model_of_new_nodes():
    owner = [make_node("workers-1", allocatable={"cpu": "4"})]
    status = make_object(
        "v1/ConfigMap",
        "cluster-autoscaler-status",
        namespace="kube-system",
        data={"status": "nodeGroups: [{name: workers, health: {cloudProviderTarget: 1, maxSize: 3}}]"},
    )
    changed = WhatIf(add_nodes=2, like="workers").applied([*owner, status])
    assert [one.name for one in changed.objects if isinstance(one, Node)] == ["workers-1", "new-1", "new-2"]
    with pytest.raises(InputError, match="no node"):
        WhatIf(add_nodes=2, like="others").applied([*owner, status])
