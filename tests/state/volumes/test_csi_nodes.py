from kubesched.api import EventType, WatchEvent
from kubesched.state import NO_LIMIT, ClusterState
from tests.plugins.one_plugin import load, node, read
from tests.plugins.storage_objects import csi_node

DRIVER = "csi.example.com"


def limits(cluster_state: ClusterState) -> dict[str, int]:
    columns = cluster_state.volumes.csi_nodes
    rows = cluster_state.columns.row_of.items()
    assert all((columns.limits[DRIVER][row] < NO_LIMIT) == columns.has_limits[row] for _, row in rows)
    return {name: int(columns.limits[DRIVER][row]) for name, row in rows if columns.has_limits[row]}


def test_limits_follow_the_objects():
    cluster_state = load(
        [node("a"), node("b"), csi_node("a", {DRIVER: 2, "unlimited": None}), csi_node("late", {DRIVER: 3})]
    )
    assert limits(cluster_state) == {"a": 2}
    cluster_state.apply(WatchEvent(EventType.ADDED, "Node", read(node("late"))))
    assert limits(cluster_state) == {"a": 2, "late": 3}
    cluster_state.apply(WatchEvent(EventType.MODIFIED, "CSINode", read(csi_node("a", {DRIVER: 0}))))
    assert limits(cluster_state) == {"a": 0, "late": 3}
    cluster_state.apply(WatchEvent(EventType.DELETED, "CSINode", read(csi_node("a"))))
    assert limits(cluster_state) == {"late": 3}


def test_rows_added_after_the_columns_were_made_have_no_limits():
    cluster_state = load([node("a"), csi_node("a", {DRIVER: 1})])
    assert limits(cluster_state) == {"a": 1}
    for i in range(200):
        cluster_state.apply(WatchEvent(EventType.ADDED, "Node", read(node(f"n{i}"))))
    assert limits(cluster_state) == {"a": 1}


def test_migrated_plugins_are_listed_exactly():
    listed = "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"
    cluster_state = load(
        [node("a"), csi_node("a", migrated=listed), node("b"), csi_node("b", migrated="kubernetes.io/gce")]
    )
    migrated = cluster_state.volumes.csi_nodes.migrated
    assert {plugin: flags[:2].tolist() for plugin, flags in migrated.items()} == {
        "kubernetes.io/gce-pd": [True, False],
        "kubernetes.io/aws-ebs": [True, False],
        "kubernetes.io/gce": [False, True],
    }


def test_limits_are_among_the_sizes_once_they_have_been_asked_for():
    cluster_state = load([node("a"), csi_node("a", {DRIVER: 1})])
    assert not [name for name in cluster_state.sizes() if name.startswith("CSINodes")]
    limits(cluster_state)
    assert [size for name, size in cluster_state.sizes().items() if name.startswith("CSINodes")] == [1, 1, 0]


def test_a_driver_that_no_node_lists_any_more_is_forgotten():
    cluster_state = load([node("a"), csi_node("a", {DRIVER: 1, "other.example": None}), node("b"), csi_node("b")])
    installed = cluster_state.volumes.csi_nodes.installed
    assert {name: flags[:2].tolist() for name, flags in installed.items()} == {
        DRIVER: [True, False],
        "other.example": [True, False],
    }
    cluster_state.apply(WatchEvent(EventType.MODIFIED, "CSINode", read(csi_node("a", {"other.example": None}))))
    assert list(cluster_state.volumes.csi_nodes.installed) == ["other.example"]
    cluster_state.apply(WatchEvent(EventType.DELETED, "CSINode", read(csi_node("a"))))
    assert cluster_state.volumes.csi_nodes.installed == {}
