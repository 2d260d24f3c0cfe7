"""What a comparison of all pods has to say: pods that cannot be placed again, and nodes and money by pool."""

import json

import msgspec

from kubesched import compare
from kubesched.api import KubeObject
from kubesched.comparison import Candidate, packed
from kubesched.comparison.runs import Runs
from kubesched.controllers import price_of
from kubesched.pages.comparisons import comparison_page
from kubesched.pages.formats import as_text
from kubesched.session import PodState, Report
from kubesched.testing import make_node, make_pod
from tests.planning.drain_clusters import owned_by

POOL = "cloud.google.com/gke-nodepool"
ZONE = "topology.kubernetes.io/zone"
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
        "MostAllocated instead of LeastAllocated: once every pod has been re-created, cost a month 1,460 -> 365 "
        "(-75%, -1,095), nodes in use 4 -> 1 (-75%), "
    )
    assert page.verdict.text.endswith(
        "All 5 nodes cost 1,533 a month; without the 4 that B leaves empty, 365 (-76%). "
        "From A to B, 3 pods move in 3 drains, 3 of them of nodes that B leaves empty."
    )
    rows = as_text(page, width=120).partition("Nodes in use by pool")[2].splitlines()
    assert [row.split() for row in rows if row.startswith((" web", " all"))][:2] == [
        ["web", "4", "4", "1", "-75%", "1,460", "1,460", "365", "-75%", "-1,095"],
        ["all", "5", "4", "1", "-75%", "1,533", "1,460", "365", "-75%", "-1,095"],
    ]


def test_a_node_is_paid_by_its_instance_type_and_capacity_type():
    spot = [{"karpenter.sh/capacity-type": "spot"}, {"eks.amazonaws.com/capacityType": "SPOT"}]
    spot += [{"cloud.google.com/gke-spot": "true"}, {"kubernetes.azure.com/scalesetpriority": "spot"}]
    demand = [{}, {"eks.amazonaws.com/capacityType": "ON_DEMAND"}, {"karpenter.sh/capacity-type": "on-demand"}]
    for labels, price in [(one, 0.1) for one in spot] + [(one, 0.5) for one in demand]:
        known = make_node("n1", labels={TYPE: "m6i", **labels})
        assert price_of(known.labels, {"m6i": {"on-demand": 0.5, "spot": 0.1}}) == price
        assert price_of(known.labels, {"m6i": 0.3}) == 0.3
    reserved = make_node("n1", labels={TYPE: "m6i", "karpenter.sh/capacity-type": "reserved"})
    assert price_of(reserved.labels, {"m6i": {"on-demand": 0.5}}) is None


def test_a_node_without_a_price_is_in_no_sum_and_is_told():
    odd = node("o1", "odd", "huge")
    pinned = {"nodeSelector": {POOL: "odd"}}
    there = make_pod("there", node="o1", metadata=owned_by("ReplicaSet", "there"), spec=pinned)
    comparison = asked(*NODES, *SPREAD, odd, there)
    assert comparison.unpriced == {"huge": 1}
    (change,) = [one for one in comparison.pools if one.pool == "odd"]
    assert (change.price, change.unpriced, change.unpriced_a, change.unpriced_b) == (None, 1, 1, 1)
    assert (comparison.nodes.price, comparison.nodes.unpriced) == (2.0, 1)
    page = comparison_page(comparison)
    assert "The 4 nodes with a price cost 1,460 a month; without the 3 that B leaves empty, 365" in page.verdict.text
    assert "1 node without a price is in no sum: 1 in use with A, 1 with B." in page.verdict.text
    text = as_text(page, width=140)
    rows = [row.split() for row in text.partition("Nodes in use by pool")[2].splitlines()]
    assert ["odd", "1", "1", "1", *["not", "known"] * 3] in rows
    assert "Without a price: huge (1)." in text


def test_who_moves_is_grouped_by_workload_and_the_drains_are_counted():
    api = [
        make_pod(f"api-{i}", node=f"n{i}", requests={"cpu": "500m"}, metadata=owned_by("ReplicaSet", "api"))
        for i in (1, 2)
    ]
    comparison = asked(*NODES, *SPREAD, *api)
    assert {move.workload for move in comparison.moves} <= {"ReplicaSet default/web", "ReplicaSet default/api"}
    assert comparison.drained == tuple(dict.fromkeys(move.a for move in comparison.moves))
    assert len(comparison.emptied) == 3
    page = comparison_page(comparison)
    (table,) = [table for table in page.tables if table.name == "movers"]
    assert sum(row[0] for row in table.rows) == len(comparison.moves)
    assert (
        f"{len(comparison.drained)} drains take the cluster from A to B; 3 of these nodes are empty then."
        in (table.notes[-1])
    )
    assert page.document["drained"] == list(comparison.drained)


def test_pods_that_wait_need_no_drain():
    waiting = [web(i, "") for i in range(4)]
    pack = packed(Candidate("MostAllocated"))
    comparison = compare([*NODES, *waiting], Candidate("LeastAllocated"), pack, seeds=5, prices=PRICES)
    assert comparison.moves
    assert comparison.drained == ()
    assert "drain" not in comparison_page(comparison).verdict.text


def test_gpus_are_a_column_of_the_nodes():
    gpu = make_node("g1", labels={POOL: "gpu"}, allocatable={**ROOM, "nvidia.com/gpu": "2"})
    train = make_pod("t", node="g1", requests={"nvidia.com/gpu": "1"}, metadata=owned_by("ReplicaSet", "t"))
    text = as_text(comparison_page(asked(*NODES, *SPREAD, gpu, train)), width=140)
    assert "nvidia.com/gpu" in text.partition("Nodes: requested of allocatable, A and B")[2].splitlines()[2]


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
    why = "1 node: taint dedicated=data:NoSchedule is not tolerated"
    assert f"Neither side places 1 pod that runs now again: default/db-0: {why}." in first
    assert first.endswith("It stays where it is.")
    data = next(one for one in comparison.pools if one.pool == "data")
    assert (data.a, data.b) == (1, 1)  # its node is not saved
    assert {one.figure.name: one.a for one in comparison.differences}["pending"] == 0


def test_pods_that_neither_side_places_stay_with_the_other_replicas():
    """Of four replicas that were there before minDomains, two find a place, and none once the other two stay."""
    zones = {"maxSkew": 1, "minDomains": 3, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    spread = {"topologySpreadConstraints": [{**zones, "labelSelector": {"matchLabels": {"app": "api"}}}]}
    of_api = {"labels": {"app": "api"}, "metadata": owned_by("ReplicaSet", "api"), "spec": spread}
    nodes = [node(f"n{i}", "web", "large", zone="ab"[i % 2]) for i in range(4)]
    comparison = asked(*nodes, *(make_pod(f"api-{i}", node=f"n{i}", requests={"cpu": "1"}, **of_api) for i in range(4)))
    assert {*comparison.staying, *comparison.staying_with} == {f"default/api-{i}" for i in range(4)}
    assert (comparison.nodes.a, comparison.nodes.b) == (4, 4)


def test_the_document_has_them():
    document = json.loads(json.dumps(comparison_page(asked(*NODES, *SPREAD, *DATA, STRANDED)).document))
    assert document["notPlaced"] == {"a": ["default/db-0"], "b": ["default/db-0"]}
    money = {"price": 2.0, "priceA": 2.0, "priceB": 0.5, "unpriced": 0, "unpricedA": 0, "unpricedB": 0}
    assert document["pools"][1] == {"pool": "web", "nNodes": 4, "a": 4, "b": 1, **money}
    assert document["nodes"]["nNodes"] == 5


def test_the_cause_comes_from_a_run_that_leaves_the_pod_pending(monkeypatch):
    """The run that takes the first of equal nodes may place a pod that most runs with random ties do not."""
    first = Runs.first
    monkeypatch.setattr(Runs, "first", lambda self, side, explained=(): without(first(self, side, explained)))
    comparison = asked(*NODES, *SPREAD, *DATA, STRANDED)
    assert comparison.staying == {"default/db-0": "1 node: taint dedicated=data:NoSchedule is not tolerated"}


def without(result: tuple[Report, object]) -> tuple[Report, object]:
    """The result of a run, with db-0 on its node."""
    report, in_use = result
    placements = (
        msgspec.structs.replace(one, state=PodState.SCHEDULED, node="d1") if one.pod == "default/db-0" else one
        for one in report.placements
    )
    return msgspec.structs.replace(report, placements=tuple(placements)), in_use


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


def test_a_node_of_the_control_plane_is_in_use_in_every_number():
    labels = {POOL: "web", TYPE: "large", "node-role.kubernetes.io/control-plane": ""}
    of_control = [make_node(f"c{i}", labels=labels, allocatable=ROOM) for i in (1, 2)]
    comparison = asked(*of_control, *NODES[:2], *(web(i, at) for i, at in enumerate(("n1", "n2", "c1", "c2"))))
    assert {"c1", "c2"}.isdisjoint(comparison.emptied)
    assert comparison.emptied
