from kubesched.api import EventType, WatchEvent
from tests.plugins.one_plugin import load, node, read
from tests.plugins.storage_objects import ZONE, capacity

GI = 2**30


def test_capacities_that_change_are_read_anew():
    state = load([node("a", labels={ZONE: "z"}), capacity("c", "x", "1Gi", {"matchLabels": {ZONE: "z"}})])
    nodes, capacities = state.snapshot().nodes, state.volumes.capacities
    assert not capacities.has_room("x", 2 * GI, nodes).any()
    grown = capacity("c", "x", "2Gi", {"matchLabels": {ZONE: "z"}})
    state.apply(WatchEvent(EventType.MODIFIED, "CSIStorageCapacity", read(grown)))
    assert capacities.has_room("x", 2 * GI, nodes).all()
    state.apply(WatchEvent(EventType.DELETED, "CSIStorageCapacity", read(grown)))
    assert not capacities.has_room("x", 0, nodes).any()


def test_a_topology_that_does_not_parse_is_nowhere():
    wrong = {"matchExpressions": [{"key": ZONE, "operator": "Near"}]}
    state = load([node("a"), capacity("c", "x", "1Gi", wrong)])
    assert not state.volumes.capacities.has_room("x", 0, state.snapshot().nodes).any()
