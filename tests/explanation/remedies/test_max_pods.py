from kubesched.api import INSTANCE_TYPES, KubeObject
from kubesched.explanation import Fix, explain
from kubesched.testing import make_node, make_pod


def node(name: str, n_places: int, machine: str = "m5.large", **more: object) -> KubeObject:
    room = {"cpu": "4", "pods": str(n_places)}
    return make_node(name, labels={INSTANCE_TYPES[0]: machine}, allocatable=room, **more)


def fixes(*nodes: KubeObject) -> tuple[Fix, ...]:
    full = [make_pod(f"p{i}", node=one.name) for i, one in enumerate(nodes) if one.name.startswith("full")]
    return explain([*nodes, *full, make_pod("new")], "default/new").fixes


def test_a_node_gets_the_places_that_others_of_its_type_have_before_an_old_one_is_opened():
    first, second, *_ = fixes(node("full", 1), node("old", 9, unschedulable=True))
    text = "raise max-pods of full from 1 to 9, which old of the same type m5.large has"
    assert (first.text, first.kind, first.nodes) == (text, "maxPods", ("full",))
    assert [patch.commands for patch in first.patches] == [()]  # the kubelet has the number from its node group
    assert second.text == "uncordon old"


def test_nodes_that_are_alike_are_one_fix():
    (fix, *_) = fixes(node("full-a", 1), node("full-b", 1), node("old", 9, unschedulable=True))
    assert fix.text.startswith("raise max-pods of 2 nodes (full-a, full-b) from 1 to 9")


def test_nothing_is_raised_where_no_node_of_the_type_has_more_places():
    cluster = [node("full", 1), node("old", 9, "m5.xlarge", unschedulable=True)]
    assert "maxPods" not in {fix.kind for fix in fixes(*cluster)}
    unknown = [make_node(name, allocatable={"pods": "1"}) for name in ("full", "full-b")]
    assert "maxPods" not in {fix.kind for fix in fixes(*unknown)}
