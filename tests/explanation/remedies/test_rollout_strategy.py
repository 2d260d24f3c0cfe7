"""Rollouts whose new pods wait for the places of the pods that they replace."""

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.explanation import WAY_OUT
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import ask, texts


def _replica(revision: str, number: int, node: str = "", deployment: str = "web", **more: object) -> Pod:
    name = f"{deployment}-{revision}"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": f"uid-{name}", "controller": True}
    return make_pod(f"{name}-{number}", node=node, labels={"app": "web"}, metadata={"ownerReferences": [owner]}, **more)


def _sets(*revisions: str, wanted: str = "") -> list[KubeObject]:
    above = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "uid-web", "controller": True}
    noted = {"deployment.kubernetes.io/desired-replicas": wanted} if wanted else {}
    return [
        make_object("ReplicaSet", f"web-{revision}", metadata={"ownerReferences": [above], "annotations": noted})
        for revision in revisions
    ]


_TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
_APART = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}}}
_NODES = [make_node(name, allocatable={"cpu": "2"}) for name in ("n1", "n2")]


@pytest.mark.parametrize("more", [{"host_ports": [443]}, {"requests": {"cpu": "2"}}, {"spec": _APART}])
def test_an_old_pod_goes_first_where_new_ones_wait_for_its_place(more):
    old = [_replica("1", i, node, **more) for i, node in enumerate(("n1", "n2"))]
    explanation = ask(_replica("2", 0, **more), *_NODES, *old, *_sets("1", "2", wanted="2"))
    first = explanation.fixes[0]
    assert (first.text, first.keeps_intent, first.leaves_pending) == (WAY_OUT, True, ())
    (step,) = first.patches
    body = '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}}}'
    assert step.commands == (f"kubectl patch deployment web -n default --type merge -p '{body}'",)


@pytest.mark.parametrize(
    ("strategy", "waits"),
    [
        ({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}, True),
        ({"type": "Recreate"}, True),
        ({"rollingUpdate": {"maxUnavailable": 0}}, False),
        ({}, False),  # 25% of 2 pods
    ],
)
def test_a_strategy_that_lets_old_pods_go_first_is_not_offered(strategy: dict[str, object], waits: bool):
    old = [_replica("1", i, node, host_ports=[443]) for i, node in enumerate(("n1", "n2"))]
    deployment = make_object("Deployment", "web", spec={"strategy": strategy})
    first = ask(_replica("2", 0, host_ports=[443]), *_NODES, *old, *_sets("1", "2", wanted="2"), deployment).fixes[0]
    wait = "wait for the rollout: its strategy lets an old pod go before each new one"
    assert first.text == (wait if waits else WAY_OUT)
    assert bool(first.patches[0].commands) is not waits


def test_where_an_old_pod_has_gone_or_pods_are_of_another_workload_the_strategy_is_no_fix():
    new, port = _replica("2", 0, host_ports=[443]), {"host_ports": [443]}
    one_left = [_NODES[0], _replica("1", 0, "n1", **port)]
    assert WAY_OUT in texts(new, *one_left, *_sets("1", "2", wanted="1"))
    assert WAY_OUT not in texts(new, *one_left, *_sets("1", "2", wanted="2"))
    other = _replica("1", 0, "n1", deployment="api", **port)
    assert WAY_OUT not in texts(new, _NODES[0], other, *_sets("1", "2", wanted="1"))
    same = _replica("2", 1, "n1", **port)
    assert WAY_OUT not in texts(new, _NODES[0], same, *_sets("2", wanted="2"))


def test_the_strategy_is_no_fix_where_the_new_pods_ask_for_more_than_the_old_ones():
    old, sets = _replica("1", 0, "n1", requests={"cpu": "1500m"}), _sets("1", "2", wanted="1")
    assert WAY_OUT in texts(_replica("2", 0, requests={"cpu": "1500m"}), _NODES[0], old, *sets)
    assert WAY_OUT not in texts(_replica("2", 0, requests={"cpu": "1600m"}), _NODES[0], old, *sets)


def test_the_cause_counts_all_nodes_whose_port_is_taken_whoever_has_it():
    held = [make_pod(f"edge-{name}", node=name, host_ports=[443]) for name in ("n1", "n2")]
    with_third = [*_NODES, make_node("n3", taints=["a:NoSchedule"]), *held]
    why = ask(make_pod("p", host_ports=[443]), *with_third).outcome.why
    assert why.startswith("2 nodes, for example n1: host port 443/TCP is held by default/edge-n1")
