"""Taints and cordons: what tolerates, removes or ends them."""

import pytest

from kubesched.api import Node, Pod
from kubesched.explanation.effort import Effort
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ZONE, filling, fixes_of, texts


def test_a_taint_is_tolerated_or_removed():
    nodes = [make_node(f"n{i}", taints=["gpu=a100:NoSchedule", "old:NoExecute"]) for i in range(6)]
    fixes = fixes_of(make_pod("p"), *nodes)
    assert list(fixes) == [
        "tolerate gpu=a100:NoSchedule and old:NoExecute",
        "remove taint gpu=a100:NoSchedule and old:NoExecute from 6 nodes (n0, n1, n2 and 3 more)",
    ]
    first = next(iter(fixes.values()))
    assert (first.n_nodes, first.nodes, first.kind) == (6, ("n0", "n1", "n2", "n3", "n4"), "toleration")


def test_a_toleration_keeps_the_intent_of_a_pod_that_chooses_the_nodes():
    node = make_node("n1", labels={"pool": "gpu"}, taints=["gpu:NoSchedule"])
    chosen = fixes_of(make_pod("p", node_selector={"pool": "gpu"}), node)["tolerate gpu:NoSchedule"]
    assert chosen.keeps_intent
    assert not fixes_of(make_pod("p"), node)["tolerate gpu:NoSchedule"].keeps_intent


@pytest.mark.parametrize("place", [ZONE, "kubernetes.io/arch"])
def test_a_place_where_all_nodes_are_reserved_chooses_no_reserved_nodes(place):
    """A zone has no other nodes than those of the data team: the pod did not ask for them."""
    nodes = [
        make_node("n1", labels={place: "here"}, taints=["dedicated=data:NoSchedule"]),
        make_node("n2", labels={place: "there"}, allocatable=SMALL),
    ]
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": place, "operator": "In", "values": ["here"]}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    for pod in (make_pod("p", node_selector={place: "here"}), make_pod("p", spec={"affinity": affinity})):
        fix = fixes_of(pod, *nodes)["tolerate dedicated=data:NoSchedule"]
        assert fix.effort is Effort.RESERVED
        assert not fix.keeps_intent


def test_of_two_reserved_pools_with_the_chosen_label_neither_is_meant():
    nodes = [
        make_node("n1", labels={"disk": "ssd"}, taints=["dedicated=data:NoSchedule"]),
        make_node("n2", labels={"disk": "ssd"}, taints=["spot=true:NoSchedule"]),
    ]
    fixes = fixes_of(make_pod("p", node_selector={"disk": "ssd"}), *nodes)
    efforts = [fix.effort for text, fix in fixes.items() if text.startswith("tolerate")]
    assert efforts == [Effort.OTHER_POOL, Effort.RESERVED]


def test_a_pool_is_chosen_also_in_one_zone_and_where_a_node_of_it_has_another_taint():
    nodes = [
        make_node("n1", labels={"pool": "gpu"}, zone="a", taints=["gpu:NoSchedule"]),
        make_node("n2", labels={"pool": "gpu"}, zone="b", taints=["gpu:NoSchedule", "x:NoSchedule"]),
    ]
    pod = make_pod("p", node_selector={"pool": "gpu", ZONE: "a"})
    assert fixes_of(pod, *nodes)["tolerate gpu:NoSchedule"].effort is Effort.ADAPT


def test_a_toleration_that_is_nearly_right_shows_the_intent_and_is_named():
    pod = make_pod("p", spec={"tolerations": [{"key": "gpu", "value": "True", "effect": "NoSchedule"}]})
    text = "tolerate gpu=true:NoSchedule (the pod tolerates gpu=True:NoSchedule)"
    fixes = fixes_of(pod, make_node("n1", taints=["gpu=true:NoSchedule"]), make_node("n2", taints=["db:NoSchedule"]))
    assert next(iter(fixes)) == text
    assert fixes[text].keeps_intent
    both = fixes_of(pod, make_node("n1", taints=["gpu=true:NoSchedule", "db:NoSchedule"]))
    assert not both[f"{text} and db:NoSchedule"].keeps_intent


def test_a_cordon_and_its_taint_are_one_cause():
    node = make_node("n1", unschedulable=True, taints=["node.kubernetes.io/unschedulable:NoSchedule"])
    assert texts(make_pod("p"), node) == ["uncordon n1"]


def test_a_node_that_is_not_ready_has_to_become_ready():
    node = make_node("n1", taints=["node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"])
    assert texts(make_pod("p"), node) == ["make n1 ready"]


def test_spot_nodes_come_before_reserved_ones_and_gpus_are_not_wasted():
    nodes = [
        make_node("gpu", allocatable={"nvidia.com/gpu": "2"}, taints=["nvidia.com/gpu:NoSchedule"]),
        make_node("data", taints=["dedicated=data:NoSchedule"]),
        make_node("spot", taints=["cloud.google.com/gke-spot=true:NoSchedule"]),
    ]
    assert texts(make_pod("p"), *nodes) == [
        "tolerate cloud.google.com/gke-spot=true:NoSchedule (spot nodes can be reclaimed at any time)",
        "tolerate dedicated=data:NoSchedule",
        "remove taint dedicated=data:NoSchedule from data",
        "remove taint cloud.google.com/gke-spot=true:NoSchedule from spot",
    ]
    assert texts(make_pod("p"), nodes[0]) == ["tolerate nvidia.com/gpu:NoSchedule"]
    assert texts(make_pod("p", requests={"nvidia.com/gpu": "1"}), *nodes)[0] == "tolerate nvidia.com/gpu:NoSchedule"


def test_a_deletion_is_not_tolerated():
    node = make_node("n1", taints=["ToBeDeletedByClusterAutoscaler=1800000000:NoSchedule"])
    (only,) = texts(make_pod("p"), node)
    assert only == (
        "remove taint ToBeDeletedByClusterAutoscaler=1800000000:NoSchedule from n1, if it was left behind: the node is "
        "marked for deletion"
    )


def test_a_node_that_is_repaired_gets_the_pods_of_daemon_sets():
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "agent", "controller": True}
    agent = make_pod("agent-1", node="n1", host_ports=[80], metadata={"ownerReferences": [owner]})
    nodes = [make_node("n1"), make_node("n2", taints=["node.kubernetes.io/unreachable:NoSchedule"])]
    assert texts(make_pod("p", host_ports=[80]), *nodes, agent) == ["remove hostPort 80"]
    assert texts(make_pod("p"), nodes[1], agent) == [
        "repair n2, if its machine still exists (the kubelet does not report)"
    ]


@pytest.mark.parametrize(
    "key", ["cloud.google.com/impending-node-termination", "aws-node-termination-handler/spot-itn"]
)
def test_a_node_that_ends_within_minutes_is_left_alone(key: str):
    ending = make_node("n1", taints=[f"{key}:NoSchedule"])
    assert texts(make_pod("p"), ending) == []


def test_a_node_that_is_being_deleted_is_no_fix_while_another_one_is():
    leaving = make_node("n1", taints=["ToBeDeletedByClusterAutoscaler=1800000000:NoSchedule"])
    full = make_node("n2", allocatable=SMALL)
    said = texts(make_pod("p", requests={"cpu": "1"}), leaving, full, filling("n2", cpu="2"))
    assert said
    assert not [text for text in said if "ToBeDeleted" in text]


@pytest.mark.parametrize("key", ["node.cilium.io/agent-not-ready", "ebs.csi.aws.com/agent-not-ready"])
def test_an_agent_that_has_not_started_is_waited_for(key: str):
    (only,) = texts(make_pod("p"), make_node("n1", taints=[f"{key}:NoSchedule"]))
    assert only.startswith("let the ")


_POOL = "eks.amazonaws.com/nodegroup"
_UPGRADE = "corp.example/upgrade=1.33:NoSchedule"


def _pool(name: str, *taints: list[str], **more: object) -> list[Node]:
    return [
        make_node(f"{name}-{i}", labels={_POOL: name}, taints=each, allocatable={"cpu": "4"}, **more)
        for i, each in enumerate(taints)
    ]


def _full(node: str) -> Pod:
    return make_pod(f"on-{node}", node=node, requests={"cpu": "4"})


def test_a_taint_may_be_left_behind_where_the_others_of_the_pool_have_none():
    """A script tainted half of the pool and did not end. A guess, so changes of the pod alone come before it."""
    nodes = [*_pool("mem", [_UPGRADE], [], [_UPGRADE], ["soft=yes:PreferNoSchedule"]), *_pool("gen", [])]
    full = _full("mem-1"), _full("mem-3"), _full("gen-0")
    every = fixes_of(make_pod("p", requests={"cpu": "3"}), *nodes, *full)
    removal = (
        f"remove taint {_UPGRADE} from 2 nodes (mem-0, mem-2) (2 of 4 nodes of mem have it, the others have no taint: "
        "left behind?)"
    )
    assert list(every).index(f"tolerate {_UPGRADE}") < list(every).index(removal)
    assert not every[removal].keeps_intent
    assert any("corp.example/upgrade" in line for step in every[removal].patches for line in step.commands)


def test_a_taint_that_is_left_behind_comes_after_a_rule_of_the_pod():
    labels, blue = (
        {"app": "x"},
        {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"},
    )
    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [blue]}}}
    nodes, there = _pool("mem", [_UPGRADE], []), make_pod("there", node="mem-1", labels=labels)
    said = texts(make_pod("p", labels=labels, spec=apart), *nodes, there)
    preferred, (removal,) = (
        "make the required pod anti-affinity preferred",
        [one for one in said if "left behind" in one],
    )
    assert said.index(preferred) < said.index(removal)


@pytest.mark.parametrize(
    ("pool", "more"),
    [
        ([[_UPGRADE], [_UPGRADE]], []),
        ([[_UPGRADE], []], [{"key": "corp.example/upgrade", "operator": "Exists"}]),
        ([["corp.example/reserved-for=robotics:NoSchedule"], []], []),
        ([[_UPGRADE], ["dedicated=storage:NoSchedule"]], []),
        ([[_UPGRADE], [], ["dedicated=storage:NoExecute"]], []),
        ([[_UPGRADE], [_UPGRADE, "dedicated=storage:NoSchedule"]], []),
    ],
    ids=["whole pool", "tolerated", "owned", "others are dedicated", "some are dedicated", "dedicated, too"],
)
def test_a_taint_that_is_there_on_purpose_was_not_left_behind(pool: list[list[str]], more: list[dict[str, str]]):
    nodes = [*_pool("mem", *pool), *_pool("gen", [])]
    full = [_full(node.name) for node in nodes if not node.taints]
    user = make_pod("user", node="mem-0", spec={"tolerations": more})
    every = fixes_of(make_pod("p", requests={"cpu": "3"}), *nodes, *full, user)
    removals = [fix for text, fix in every.items() if text.startswith("remove taint")]
    assert removals
    assert not [text for text in every if "left behind" in text]
    assert {fix.effort for fix in removals} == {Effort.OPEN_TO_ALL}


@pytest.mark.parametrize("key", ["node.cilium.io/agent-not-ready", "node.cloudprovider.kubernetes.io/uninitialized"])
def test_an_agent_of_ones_own_is_started_before_nodes_are_repaired_or_bought(key):
    """Nodes of a zone that is out are more nodes, but nobody here repairs them."""
    gone = _pool("c", *[["node.kubernetes.io/unreachable:NoSchedule"]] * 3, zone="z")
    nodes = [*gone, *_pool("a", [f"{key}:NoSchedule"], [], zone="y")]
    said = texts(make_pod("p", requests={"cpu": "3"}), *nodes, _full("a-1"))
    assert said[0].startswith("let the ")
    assert said[0].endswith(" a-0")
    assert "zone z is out (3 of 3 nodes): wait until it is back" in said[1:]


def test_single_nodes_of_a_zone_are_repaired_and_a_single_zone_is_not_out():
    lost, pod = "node.kubernetes.io/unreachable:NoSchedule", make_pod("p", requests={"cpu": "3"})
    some = [*_pool("c", [lost], [lost], [], zone="z"), *_pool("a", [], zone="y"), _full("c-2")]
    assert texts(pod, *some, _full("a-0"))[0].startswith("repair 2 nodes (c-0, c-1)")
    assert texts(pod, *_pool("c", [lost], [lost], zone="z"))[0].startswith("repair 2 nodes (c-0, c-1)")


def test_an_outage_of_a_zone_comes_after_a_node_elsewhere():
    lost = "node.kubernetes.io/unreachable:NoSchedule"
    nodes = [*_pool("c", [lost], [lost], zone="z"), *_pool("a", [], zone="y"), _full("a-0")]
    said = texts(make_pod("p", requests={"cpu": "3"}), *nodes)
    assert said.index("add a node like a-0") < said.index("zone z is out (2 of 2 nodes): wait until it is back")


def test_no_taint_is_tolerated_or_removed_beyond_what_the_pod_needs():
    """Broken, reserved and arm64 nodes are not for the pod because there would be a few nodes more."""
    gpu = "gpu=present:NoSchedule"
    more = {f"x{i}": [gpu, taint] for i, taint in enumerate(("arch=arm64:NoSchedule", "team=b:NoSchedule"))}
    nodes = [make_node("n1", taints=[gpu]), *(make_node(name, taints=taints) for name, taints in more.items())]
    assert texts(make_pod("p"), *nodes) == [f"tolerate {gpu}", f"remove taint {gpu} from n1"]
    alone = texts(make_pod("p"), *nodes[1:])
    assert [text for text in alone if text.startswith("tolerate")] == [
        f"tolerate {gpu} and arch=arm64:NoSchedule",
        f"tolerate {gpu} and team=b:NoSchedule",
    ]


def test_a_machine_that_is_fenced_off_is_repaired_and_not_tolerated():
    nodes = [
        make_node(f"n{i}", labels={"pool": "x"}, allocatable=SMALL, taints=taints)
        for i, taints in enumerate(([], ["corp/xid-79=true:NoSchedule"]))
    ]
    pod = make_pod("p", requests={"cpu": "1"}, node_selector={"pool": "x"})
    said = texts(pod, *nodes, filling("n0", cpu="2"))
    assert said[0] == "repair n1, which taint corp/xid-79=true:NoSchedule fences off, then remove the taint"
    assert not [text for text in said if text.startswith(("tolerate", "remove"))]
