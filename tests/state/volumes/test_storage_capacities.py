from kubesched.api import EventType, WatchEvent
from tests.plugins.one_plugin import load, node, read
from tests.plugins.storage_objects import ZONE, capacity

GI = 2**30


def test_capacities_that_change_are_read_anew():
    cluster_state = load([node("a", labels={ZONE: "z"}), capacity("c", "x", "1Gi", {"matchLabels": {ZONE: "z"}})])
    nodes, capacities = cluster_state.snapshot().nodes, cluster_state.volumes.capacities
    assert not capacities.has_room("x", 2 * GI, nodes).any()
    grown = capacity("c", "x", "2Gi", {"matchLabels": {ZONE: "z"}})
    cluster_state.apply(WatchEvent(EventType.MODIFIED, "CSIStorageCapacity", read(grown)))
    assert capacities.has_room("x", 2 * GI, nodes).all()
    cluster_state.apply(WatchEvent(EventType.DELETED, "CSIStorageCapacity", read(grown)))
    assert not capacities.has_room("x", 0, nodes).any()


def test_a_topology_that_does_not_parse_is_nowhere():
    wrong = {"matchExpressions": [{"key": ZONE, "operator": "Near"}]}
    cluster_state = load([node("a"), capacity("c", "x", "1Gi", wrong)])
    assert not cluster_state.volumes.capacities.has_room("x", 0, cluster_state.snapshot().nodes).any()
