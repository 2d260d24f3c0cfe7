"""Racks, blocks of a network and NVLink domains: a new node is in none of those that other nodes are in."""

import pytest

from kubesched.testing import make_node, make_object
from tests.explanation.asking import affinity, bound_claim, filling, texts
from tests.explanation.asking import replica as pending
from tests.tasks.clusters import mounting

CLIQUE = "nvidia.com/gpu.clique"
SITES = (
    CLIQUE,
    "rack",
    "topology.kubernetes.io/rack",
    "cloud.google.com/gce-topology-block",
    "network.topology.nvidia.com/spine",
    "topology.k8s.aws/network-node-layer-3",
    "ds.example.com/nvlink.domain",
    "topology.csi.example.com/node",
)
ROOM = {"cpu": "4", "pods": "9"}


def nodes(key: str, *values: str) -> list:
    """Nodes of one pool with values of a label; an empty one for a node without it."""
    pool = {"eks.amazonaws.com/nodegroup": "gpu"}
    return [
        make_node(f"n{i}", labels={**pool, **({key: value} if value else {})}, allocatable=ROOM)
        for i, value in enumerate(values)
    ]


@pytest.mark.parametrize("key", SITES)
def test_no_node_is_added_for_a_pod_that_has_to_be_at_one_site(key: str):
    there = nodes(key, "d1", "d1", "d2")
    full = [filling(f"n{i}", cpu="4") for i in range(3)]
    said = texts(pending("p", requests={"cpu": "2"}, node_selector={key: "d1"}), *there, *full)
    assert not [text for text in said if text.startswith("add")]
    beside = pending("p", requests={"cpu": "2"}, spec=affinity("podAffinity", {"app": "leader"}, key))
    leader = pending("leader", node="n0", labels={"app": "leader"})
    added = [text for text in texts(beside, *there, leader, *full) if text.startswith("add")]
    assert not [text for text in added if not text.endswith(" and drop the required pod affinity")]


@pytest.mark.parametrize("key", SITES)
def test_no_node_is_bought_labelled_or_renamed_for_a_site_that_no_node_has(key: str):
    said = texts(pending("p", node_selector={key: "d3"}), *nodes(key, "d1", "d2"))
    assert said == [f"drop the node selector {key}=d3"]


def test_a_node_in_a_zone_can_be_added():
    zone = "topology.kubernetes.io/zone"
    there = nodes(zone, "a")
    said = texts(pending("p", requests={"cpu": "2"}, node_selector={zone: "a"}), *there, filling("n0", cpu="4"))
    assert "add a node like n0" in said


def test_a_new_node_does_not_have_the_disk_of_the_one_that_it_is_like():
    key = "topology.example.com/hostname"
    pinned = {
        "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": ["n0"]}]}]}
    }
    spec = {"capacity": {"storage": "9Gi"}, "accessModes": ["ReadWriteOnce"], "nodeAffinity": pinned}
    volume = make_object("PersistentVolume", "pv-1", spec=spec, status={"phase": "Bound"})
    pod = pending("p", requests={"cpu": "2"}, spec=mounting("data"))
    said = texts(pod, *nodes(key, "n0"), volume, bound_claim(), filling("n0", cpu="4"))
    assert not [text for text in said if text.startswith("add")]


def test_a_node_that_lacks_the_label_of_its_pool_is_looked_at_before_a_rule_is_dropped():
    there = nodes(CLIQUE, "d1", "d1", "")
    full = [filling(f"n{i}", cpu="4") for i in range(2)]
    why = f"find out why n2 lacks the label {CLIQUE}, which 2 of 3 nodes of gpu have: it fits if that is d1"
    selecting = pending("p", requests={"cpu": "2"}, node_selector={CLIQUE: "d1"})
    assert texts(selecting, *there, *full)[0] == why
    beside = pending("p", requests={"cpu": "2"}, spec=affinity("podAffinity", {"app": "leader"}, CLIQUE))
    leader = pending("leader", node="n0", labels={"app": "leader"})
    assert texts(beside, *there, leader, *full)[0] == why


def test_racks_that_no_node_has_are_written_on_the_nodes_for_a_spread():
    rack = "topology.kubernetes.io/rack"
    rule = {"maxSkew": 1, "topologyKey": rack, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    said = texts(pending("p", spec={"topologySpreadConstraints": [rule]}), *nodes(rack, ""))
    assert said[0] == f"label n0 with {rack}, which no node has: each with its rack"
