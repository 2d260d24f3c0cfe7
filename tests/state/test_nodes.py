"""Tables of nodes: some rows, all rows, and copies on which pods move."""

import numpy as np
import pytest

from kubesched.api import EventType, NodeSelectorTerm, Requirement, SelectorRequirement, WatchEvent, parse_node_term
from kubesched.errors import StateError
from kubesched.state import ClusterState, NodeInfo, Nodes, PodBatch
from kubesched.testing import make_node, make_pod

GPU = "example.com/gpu"


@pytest.fixture
def cluster_state() -> ClusterState:
    found = ClusterState()
    found.load(
        [
            ("Node", make_node("n0", labels={"disk": "ssd"})),
            ("Node", make_node("gone")),
            ("Node", make_node("n1", labels={"disk": "hdd", "rank": "7"}, allocatable={GPU: "4"})),
            ("Node", make_node("n2", labels={"rank": "x"})),
            ("Pod", make_pod("p", node="n1", requests={"cpu": "1", GPU: "1"}, host_ports=[80])),
        ]
    )
    found.apply(WatchEvent(EventType.DELETED, "Node", make_node("gone")))
    return found


def batch(cluster_state: ClusterState, *pods) -> PodBatch:
    return PodBatch([cluster_state.placed(pod.uid) or cluster_state.pod_info(pod) for pod in pods])


def test_a_batch_counts_pods_that_are_given_and_pods_of_the_table(cluster_state: ClusterState) -> None:
    assert len(batch(cluster_state, make_pod("p"), make_pod("new"))) == 2
    below, _ = cluster_state.columns.pod_table.below(10, np.arange(3), n_rows=3)
    assert len(below) == len(below.infos) == 1


def test_free_rows_stand_in_no_table(cluster_state: ClusterState) -> None:
    nodes = cluster_state.snapshot().nodes
    assert (nodes.names, len(nodes), nodes.position_of("gone"), nodes.position_of("n2")) == (
        ["n0", "n1", "n2"],
        3,
        None,
        2,
    )
    assert [node.name for node in nodes] == nodes.names


def test_a_node_is_found_by_its_name_with_the_pods_on_it(cluster_state: ClusterState) -> None:
    node = cluster_state.snapshot().node_info("n1")
    assert (node.name, [info.pod.name for info in node.pods]) == ("n1", ["p"])
    with pytest.raises(StateError, match=r"^node gone is not in the snapshot$"):
        cluster_state.snapshot().node_info("gone")


def test_a_selection_is_a_table_of_its_own(cluster_state: ClusterState) -> None:
    some = cluster_state.snapshot().nodes.select(np.array([2, 1]))
    assert (some.names, some.position_of("n1"), some.position_of("n0")) == (["n2", "n1"], 1, None)
    assert (some.n_pods.tolist(), some.requested[0].tolist()) == ([0, 1], [0, 1000])
    assert some.select(np.array([1])).names == ["n1"]


def values_present(nodes: Nodes, key: str, counting: np.ndarray | None = None) -> list[str | None]:
    present = nodes.values_present(key, counting)
    return [nodes.label(key).values.values[number] for number in np.flatnonzero(present).tolist()]


def test_values_are_present_while_some_node_of_the_table_has_them(cluster_state: ClusterState) -> None:
    nodes = cluster_state.snapshot().nodes
    assert values_present(nodes, "disk") == [None, "ssd", "hdd"]
    assert values_present(nodes, "disk", np.array([True, False, False])) == ["ssd"]
    assert values_present(nodes.select(np.array([1, 2])), "disk") == [None, "hdd"]
    cluster_state.apply(
        WatchEvent(EventType.ADDED, "Node", make_node("n3", labels={"disk": "hdd"}))
    )  # no row is free now
    assert values_present(cluster_state.snapshot().nodes, "disk") == [None, "ssd", "hdd"]
    for name in ("n0", "n2"):
        cluster_state.apply(WatchEvent(EventType.MODIFIED, "Node", make_node(name, labels={"disk": "hdd"})))
    assert values_present(cluster_state.snapshot().nodes, "disk") == ["hdd"]


def test_a_node_info_reads_one_row_by_names(cluster_state: ClusterState) -> None:
    node = cluster_state.snapshot().nodes[1]
    assert (node.name, node.labels["disk"], [info.pod.name for info in node.pods]) == ("n1", "hdd", ["p"])
    assert node.allocatable == {"cpu": 4000, "memory": 8 * 1024**3, "pods": 110, GPU: 4}
    assert node.requested == {"cpu": 1000, GPU: 1}
    assert node.non_zero_requested == {"cpu": 1000, "memory": 200 * 1024**2}


@pytest.mark.parametrize(
    ("requirement", "names"),
    [
        (Requirement("disk", "In", ("ssd", "nvme")), ["n0"]),
        (Requirement("disk", "NotIn", ("ssd",)), ["n1", "n2"]),
        (Requirement("disk", "Exists"), ["n0", "n1"]),
        (Requirement("never", "DoesNotExist"), ["n0", "n1", "n2"]),
        (Requirement("rank", "Gt", ("6",)), ["n1"]),
        (Requirement("rank", "Lt", ("100",)), ["n1"]),
    ],
    ids=lambda value: value.operator if isinstance(value, Requirement) else "",
)
def test_requirements_are_judged_row_by_row(
    cluster_state: ClusterState, requirement: Requirement, names: list[str]
) -> None:
    nodes = cluster_state.snapshot().nodes
    assert [nodes.name(i) for i in np.flatnonzero(nodes.satisfying(requirement))] == names


def test_a_term_may_name_nodes(cluster_state: ClusterState) -> None:
    nodes = cluster_state.snapshot().nodes
    for operator, names in (("In", ["n1"]), ("NotIn", ["n0", "n2"])):
        term = parse_node_term(NodeSelectorTerm(None, (SelectorRequirement("metadata.name", operator, ("n1",)),)))
        assert [nodes.name(i) for i in np.flatnonzero(nodes.matching(term))] == names


def test_pods_move_on_a_copy_and_stay_in_the_cluster(cluster_state: ClusterState) -> None:
    nodes = cluster_state.snapshot().nodes
    copy = nodes.copy()
    assert (nodes.is_copy, copy.is_copy, copy.select(np.array([0])).is_copy) == (False, True, True)
    known, new = make_pod("p", node="n1"), make_pod("q", requests={"cpu": "2", "b.com/new": "3"}, host_ports=[81])
    copy.remove(np.array([1]), batch(cluster_state, known))
    copy.add(np.array([0, 0]), batch(cluster_state, new, make_pod("r")))
    assert copy.n_pods.tolist() == [2, 0, 0]
    assert copy.requested[0].tolist() == [2000, 0, 0]
    assert NodeInfo(copy, 0).requested == {"cpu": 2000, "b.com/new": 3}
    assert [[info.pod.name for info in copy.pods(i)] for i in range(3)] == [["q", "r"], [], []]
    assert {port: copy.port_used(port).tolist() for port in copy.ports} == {
        ("0.0.0.0", "TCP", 80): [False] * 3,
        ("0.0.0.0", "TCP", 81): [True, False, False],
    }
    assert nodes.n_pods.tolist() == [0, 1, 0]
    cluster_state.check_invariants()


def test_a_copy_of_a_copy_begins_where_the_first_one_stands(cluster_state: ClusterState) -> None:
    copy = cluster_state.snapshot().nodes.copy()
    copy.add(np.array([2]), batch(cluster_state, make_pod("q", requests={"cpu": "2"}, host_ports=[81])))
    twin = copy.copy()
    twin.add(np.array([2]), batch(cluster_state, make_pod("r", requests={"cpu": "1"})))
    assert (copy.requested[0].tolist(), twin.requested[0].tolist()) == ([0, 1000, 2000], [0, 1000, 3000])
    assert [info.pod.name for info in twin.pods(2)] == ["q", "r"]
    some = twin.select(np.array([2, 0]))
    assert (some.names, some.n_pods.tolist()) == (["n2", "n0"], [2, 0])
    assert some.port_used(("0.0.0.0", "TCP", 81)).tolist() == [True, False]


def test_all_rows_are_spelled_out_on_demand(cluster_state: ClusterState) -> None:
    assert cluster_state.snapshot().nodes.all_rows.tolist() == [0, 2, 3]
    full = ClusterState()
    full.load([("Node", make_node("n"))])
    assert (full.snapshot().nodes.rows, Nodes(full.columns).all_rows.tolist()) == (None, [0])


def test_what_a_batch_holds_has_a_column_for_each_resource_there_is(cluster_state: ClusterState) -> None:
    pods = batch(cluster_state, make_pod("p"), make_pod("new", requests={GPU: "2"}))
    axis = cluster_state.columns.resources
    assert pods.held(axis)[:, 3:].tolist() == [[1000, 0, 0, 1], [0, 0, 0, 2]]
    cluster_state.apply(WatchEvent(EventType.DELETED, "Pod", make_pod("p", node="n1")))
    cluster_state.apply(WatchEvent(EventType.DELETED, "Node", make_node("n1")))
    assert pods.held(axis)[:, 3:].tolist() == [[1000, 0, 0], [0, 0, 0]]


def test_keys_that_no_node_has_cost_no_column(cluster_state: ClusterState) -> None:
    """A pod may name any number of them."""
    before = len(cluster_state.columns.labels)
    nodes = cluster_state.snapshot().nodes
    assert not any(nodes.codes(f"key-{i}").any() for i in range(1000))
    assert len(cluster_state.columns.labels) == before
    cluster_state.check_invariants()


def test_a_key_is_known_while_some_node_has_it(cluster_state: ClusterState) -> None:
    group = cluster_state.groups.group("all", lambda pod: True)

    def seen() -> tuple[list[bool], list[float]]:
        nodes = cluster_state.snapshot().nodes
        return nodes.satisfying(Requirement("team", "Exists")).tolist(), group.by_domain("team").tolist()[1:]

    assert seen() == ([False] * 3, [])
    for kind, labels, found in (
        (EventType.MODIFIED, {"team": "a"}, ([False, True, False], [1])),
        (EventType.MODIFIED, {"team": "b"}, ([False, True, False], [1])),
        (EventType.MODIFIED, {}, ([False] * 3, [])),
        (EventType.MODIFIED, {"team": "c"}, ([False, True, False], [1])),
        (EventType.DELETED, {"team": "c"}, ([False, False], [])),
    ):
        cluster_state.apply(WatchEvent(kind, "Node", make_node("n1", labels=labels)))
        assert seen()[0] == found[0]
        assert sum(seen()[1]) == sum(found[1]), labels
        cluster_state.check_invariants()
    assert "team" not in cluster_state.columns.labels
