"""Pods that make way: who can be evicted, who would be lost, and what that says, whichever remedy moves them."""

from typing import Any

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import ZONE, affinity, fixes_of

DISK = {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]}
SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
}
ANYWHERE = {"tolerations": [{"operator": "Exists"}]}
# What moves the pod `web`: the pending pod, and what `web` has that is in its way.
WAYS: dict[str, tuple[Pod, dict[str, Any]]] = {
    "host port": (make_pod("p", host_ports=[80]), {"host_ports": [80]}),
    "anti-affinity": (make_pod("p", spec=affinity("podAntiAffinity", {"app": "web"})), {}),
    "spread": (make_pod("p", labels={"app": "web"}, spec=SPREAD), {}),
    "disk": (make_pod("p", spec=DISK), {"spec": {**ANYWHERE, **DISK}}),
    "room": (make_pod("p", requests={"cpu": "3"}), {"requests": {"cpu": "2"}}),
}
NODES = [
    make_node("n1", zone="a", allocatable={"cpu": "4", "memory": "8Gi", "pods": "9"}),
    make_node("n2", zone="b", allocatable={"cpu": "2", "memory": "8Gi", "pods": "9"}, taints=["x:NoSchedule"]),
]


def moves(way: str, *others: KubeObject, owner: str = "ReplicaSet", **more: Any) -> list[str]:
    """The fixes that take the pod `web` off its node."""
    pod, has = WAYS[way]
    controller = {"apiVersion": "apps/v1", "kind": owner, "name": "web", "uid": "web", "controller": True}
    metadata = {"ownerReferences": [controller]} if owner else {}
    holder = make_pod("web", node="n1", labels={"app": "web"}, metadata=metadata, **{"spec": ANYWHERE, **has, **more})
    fixes = fixes_of(pod, *NODES, holder, *others)
    return [text for text in fixes if text.startswith(("move default/web", "free")) and " and " not in text]


def budget(allowed: int, selector: dict[str, Any]) -> KubeObject:
    spec = {"minAvailable": 1, "selector": selector}
    return make_object("PodDisruptionBudget", "web", spec=spec, status={"disruptionsAllowed": allowed})


@pytest.mark.parametrize("way", WAYS)
def test_a_pod_that_can_be_evicted_is_moved(way):
    assert moves(way)
    assert moves(way, budget(1, {"matchLabels": {"app": "web"}}))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("selector", [{"matchLabels": {"app": "web"}}, {}], ids=["by its labels", "all pods"])
def test_a_pod_whose_budget_allows_no_eviction_is_not_moved(way, selector):
    assert not moves(way, budget(0, selector))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("owner", ["DaemonSet", "Node"])
def test_a_pod_that_belongs_to_its_node_is_not_moved(way, owner):
    assert not moves(way, owner=owner)


@pytest.mark.parametrize("way", WAYS)
def test_a_pod_that_nobody_creates_again_is_moved_last_and_called_lost(way):
    lost = "(loses default/web: no controller would create it again)"
    assert all(text.endswith(lost) for text in moves(way, owner=""))
    assert moves(way, owner="") or way == "room"


def test_a_higher_priority_names_the_budgets_that_it_breaks_and_who_is_lost():
    pod = make_pod("p", requests={"cpu": "3"})
    low = make_pod("web", node="n1", labels={"app": "web"}, requests={"cpu": "2"})
    objects = [*NODES, low, budget(0, {"matchLabels": {"app": "web"}}), make_object("PriorityClass", "high", value=9)]
    (text,) = [text for text in fixes_of(pod, *objects) if text.startswith("set priorityClassName")]
    assert text == (
        "set priorityClassName: high, so that it evicts default/web (n1), which breaks budget default/web "
        "(loses default/web: no controller would create it again)"
    )
