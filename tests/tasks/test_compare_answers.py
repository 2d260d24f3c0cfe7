"""What a comparison of all pods has to say: pods that cannot be placed again, and nodes and money by pool."""

import json

from kubesched import compare
from kubesched.api import KubeObject
from kubesched.comparison import Candidate, packed
from kubesched.pages.comparisons import comparison_page
from kubesched.pages.formats import as_text
from kubesched.testing import make_node, make_pod
from tests.planning.drain_clusters import owned_by

POOL = "cloud.google.com/gke-nodepool"
TYPE = "node.kubernetes.io/instance-type"
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
PRICES = {"large": 0.5, "small": 0.1}


def node(name: str, pool: str, machine: str, **fields: object) -> KubeObject:
    return make_node(name, labels={POOL: pool, TYPE: machine}, allocatable=ROOM, **fields)


def web(number: int, on: str, cpu: str = "500m") -> KubeObject:
    return make_pod(f"web-{number}", node=on, requests={"cpu": cpu}, metadata=owned_by("ReplicaSet", "web"))


NODES = [node(f"n{i}", "web", "large") for i in range(1, 5)]
SPREAD = [web(i, f"n{i}") for i in range(1, 5)]
DATA = [node("d1", "data", "small", taints=["dedicated=data:NoSchedule"])]
STRANDED = make_pod(
    "db-0",
    node="d1",
    requests={"cpu": "1"},
    metadata=owned_by("StatefulSet", "db"),
    spec={"nodeSelector": {POOL: "data"}},
)


def asked(*objects: KubeObject):
    pack = packed(Candidate("MostAllocated"))
    return compare(objects, Candidate("LeastAllocated"), pack, pods="all", seeds=5, prices=PRICES)


def test_nodes_and_money_are_told_by_pool():
    comparison = asked(*NODES, *SPREAD, *DATA)
    use = [(one.pool, one.n_nodes, one.a, one.b, one.price_a, one.price_b) for one in comparison.pools]
    assert use == [("data", 1, 0, 0, 0.0, 0.0), ("web", 4, 4, 1, 2.0, 0.5)]
    page = comparison_page(comparison)
    assert page.verdict.text.startswith(
        "MostAllocated instead of LeastAllocated: once every pod has been re-created, nodes in use 4 -> 1 (-75%)"
    )
    assert "price per hour 2.00 -> 0.50 (-75%, -1,095 a month)" in page.verdict.text
    rows = as_text(page, width=120).partition("Nodes in use by pool")[2].splitlines()
    assert [row.split() for row in rows if row.startswith((" web", " all"))][:2] == [
        ["web", "4", "4", "1", "-75%", "2.00", "0.50", "-75%", "-1,095"],
        ["all", "5", "4", "1", "-75%", "2.00", "0.50", "-75%", "-1,095"],
    ]


def test_the_pools_add_up_to_the_figures():
    comparison = asked(*NODES, *SPREAD, *DATA, STRANDED)
    figures = {one.figure.name: one for one in comparison.differences}
    assert sum(one.a for one in comparison.pools) == figures["nodesInUse"].a
    assert sum(one.price_b or 0 for one in comparison.pools) == figures["pricePerHour"].b


def test_nodes_without_pools_have_no_table():
    plain = [make_node(f"n{i}", allocatable=ROOM) for i in range(1, 5)]
    assert asked(*plain, *SPREAD).pools == ()


def test_running_pods_that_neither_side_places_stay_and_are_named_first():
    comparison = asked(*NODES, *SPREAD, *DATA, STRANDED)
    assert list(comparison.staying) == ["default/db-0"]
    assert comparison.not_placed == (("default/db-0",), ("default/db-0",))
    first = comparison_page(comparison).verdict.text
    assert "Neither side could place 1 pod that runs now again: default/db-0: 0/5 nodes are available" in first
    assert "untolerated taint" in first
    assert first.endswith("It stays where it is.")
    data = next(one for one in comparison.pools if one.pool == "data")
    assert (data.a, data.b) == (1, 1)  # its node is not saved
    assert {one.figure.name: one.a for one in comparison.differences}["pending"] == 0


def test_the_document_has_them():
    document = json.loads(json.dumps(comparison_page(asked(*NODES, *SPREAD, *DATA, STRANDED)).document))
    assert document["notPlaced"] == {"a": ["default/db-0"], "b": ["default/db-0"]}
    assert document["pools"][1] == {"pool": "web", "nNodes": 4, "a": 4, "b": 1, "priceA": 2.0, "priceB": 0.5}


def test_a_pod_that_one_side_alone_does_not_place_is_pending_there():
    """Spread out, four halves leave no node for the whole machine; packed, they do."""
    whole = make_pod("whole", node="n4", requests={"cpu": "4"}, metadata=owned_by("ReplicaSet", "whole"))
    comparison = asked(*NODES, *(web(i, "n1") for i in range(1, 5)), whole)
    assert comparison.staying == {}
    assert comparison.not_placed == (("default/whole",), ())
    text = " ".join(as_text(comparison_page(comparison), width=200).split())
    assert "A does not place 1 pod that runs now again, so its figures are about fewer pods." in text


def test_pods_that_are_pending_in_the_snapshot_are_not_among_them():
    waiting = make_pod("huge", requests={"cpu": "9"}, metadata=owned_by("ReplicaSet", "huge"))
    assert asked(*NODES, *SPREAD, waiting).not_placed == ((), ())
