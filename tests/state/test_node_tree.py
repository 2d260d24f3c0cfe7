"""The order in which kube-scheduler lists nodes."""

from kubesched.api import Node, ObjectMeta
from kubesched.state.node_tree import NodeTree

ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


def node(name: str, zone: str = "", **labels: str) -> Node:
    labels = {key.replace("__", "/"): value for key, value in labels.items()}
    return Node(ObjectMeta(name=name, labels={**labels, **({ZONE: zone} if zone else {})}))


def tree_of(*nodes: Node) -> NodeTree:
    tree = NodeTree()
    for one in nodes:
        tree.add(one)
    return tree


def listing(tree: NodeTree) -> list[str]:
    tree.refresh()
    return tree.listing


def test_the_listing_takes_zones_in_turn_in_order_of_first_appearance() -> None:
    tree = tree_of(node("a1", "a"), node("a2", "a"), node("b1", "b"), node("c1", "c"), node("b2", "b"), node("a3", "a"))
    assert listing(tree) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_the_region_tells_zones_of_one_name_apart() -> None:
    west = Node(ObjectMeta(name="w", labels={ZONE: "a", "topology.kubernetes.io/region": "west"}))
    assert listing(tree_of(node("a1", "a"), node("a2", "a"), west)) == ["a1", "w", "a2"]


def test_the_deprecated_zone_label_wins() -> None:
    both = Node(ObjectMeta(name="n", labels={ZONE: "a", BETA_ZONE: "b"}))
    assert listing(tree_of(node("a1", "a"), both, node("a2", "a"))) == ["a1", "n", "a2"]


def test_nodes_without_a_zone_make_one_zone_together() -> None:
    assert listing(tree_of(node("x"), node("y"), node("a1", "a"))) == ["x", "a1", "y"]


def test_a_zone_that_ran_empty_comes_last_when_it_comes_back() -> None:
    tree = tree_of(node("a1", "a"), node("b1", "b"))
    tree.remove("a1")
    tree.add(node("a2", "a"))
    assert listing(tree) == ["b1", "a2"]


def test_another_zone_waits_until_nodes_come_or_go() -> None:
    tree = tree_of(node("a1", "a"), node("a2", "a"), node("b1", "b"))
    assert listing(tree) == ["a1", "b1", "a2"]
    tree.update(node("a1", "b"))
    assert listing(tree) == ["a1", "b1", "a2"]
    tree.add(node("b2", "b"))
    assert listing(tree) == ["a2", "b1", "a1", "b2"]


def test_a_node_that_left_and_came_back_between_two_snapshots_keeps_its_place() -> None:
    tree = tree_of(node("a1", "a"), node("a2", "a"), node("b1", "b"))
    before = listing(tree)
    tree.remove("a1")
    tree.add(node("a1", "b"))
    assert listing(tree) == before
    tree.remove("b1")
    assert listing(tree) == ["a2", "a1"]


def test_a_node_that_left_and_came_back_with_a_snapshot_between_goes_last() -> None:
    tree = tree_of(node("a1", "a"), node("a2", "a"), node("b1", "b"))
    tree.remove("a1")
    assert listing(tree) == ["a2", "b1"]
    tree.add(node("a1", "a"))
    assert listing(tree) == ["a2", "b1", "a1"]
