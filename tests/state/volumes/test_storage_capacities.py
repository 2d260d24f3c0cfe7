from kubesched.api import EventType, WatchEvent
from kubesched.state import NO_CAPACITY
from tests.plugins.one_plugin import load, node, read
from tests.plugins.storage_objects import ZONE, capacity

GI = 2**30


def test_capacities_that_change_are_read_anew():
    cluster_state = load([node("a", labels={ZONE: "z"}), capacity("c", "x", "1Gi", {"matchLabels": {ZONE: "z"}})])
    nodes, capacities = cluster_state.snapshot().nodes, cluster_state.volumes.capacities
    assert (capacities.largest("x", nodes) < 2 * GI).all()
    grown = capacity("c", "x", "2Gi", {"matchLabels": {ZONE: "z"}})
    cluster_state.apply(WatchEvent(EventType.MODIFIED, "CSIStorageCapacity", read(grown)))
    assert (capacities.largest("x", nodes) >= 2 * GI).all()
    cluster_state.apply(WatchEvent(EventType.DELETED, "CSIStorageCapacity", read(grown)))
    assert (capacities.largest("x", nodes) == NO_CAPACITY).all()


def test_a_topology_that_does_not_parse_is_nowhere():
    wrong = {"matchExpressions": [{"key": ZONE, "operator": "Near"}]}
    cluster_state = load([node("a"), capacity("c", "x", "1Gi", wrong)])
    assert (cluster_state.volumes.capacities.largest("x", cluster_state.snapshot().nodes) == NO_CAPACITY).all()
