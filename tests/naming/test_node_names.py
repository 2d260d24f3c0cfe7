"""The names and the labels that nodes are found by."""

import pytest

from kubesched.errors import InputError
from kubesched.naming import chosen_nodes, full_names, nodes_matching, nodes_named
from kubesched.testing import make_node

NODES = [make_node("n1.example", labels={"pool": "a"}), make_node("n2.example", labels={"pool": "b"})]

BAD_NAMES = [
    (lambda: nodes_named(NODES, ["n1.exampel"]), 'no node has the name n1.exampel; did you mean "n1.example"?'),
    (lambda: nodes_named(NODES, ["x"]), "no node has the name x; found: n1.example, n2.example"),
    (lambda: nodes_named([], ["x"]), "no node has the name x; found: no nodes"),
    (
        lambda: nodes_matching(NODES, "pol=a"),
        'selector pol=a selects none of the 2 nodes; no node has the label pol; did you mean "pool"?',
    ),
    (lambda: nodes_matching(NODES, "pool=c"), "selector pool=c selects none of the 2 nodes; pool is one of a, b"),
    (lambda: full_names(["n1.a"], ["m"], "--node: "), "--node: no node has the name m; found: n1.a"),
]


@pytest.mark.parametrize(("find", "message"), BAD_NAMES)
def test_a_bad_name_is_one_sentence_with_what_is_near(find, message):
    with pytest.raises(InputError) as caught:
        find()
    assert str(caught.value) == message


def test_short_names_work_for_nodes_unless_several_have_them():
    assert [node.name for node in nodes_named(NODES, ["n2", "n2.example"])] == ["n2.example"]
    with pytest.raises(InputError, match=r"several nodes have the name n1; write the full name, such as n1.a"):
        nodes_named([make_node("n1.a"), make_node("n1.b")], ["n1"])


def test_names_and_selectors_choose_each_node_once():
    assert chosen_nodes(NODES, ["pool in (a, b)", "node/n1"]) == ["n1.example", "n2.example"]


@pytest.mark.parametrize(
    ("short", "names"),
    [
        ("a1", ["gke-prod-pool-a1.example", "gke-prod-pool-b2.example"]),
        ("a1", ["gke-prod-pool-a1", "gke-prod-pool-b2", "other"]),  # a table without the third has this name
        ("x", ["gke-prod-pool-x", "gke-prod-pool-b-x"]),
    ],
)
def test_a_node_is_found_by_the_name_that_a_table_shows(short: str, names: list[str]):
    assert full_names(names, [short]) == names[:1]


@pytest.mark.parametrize("short", ["1", "7", "pool", "b"])
def test_no_other_end_of_a_name_is_one(short: str):
    with pytest.raises(InputError, match="no node has the name"):
        full_names(["ip-10-0-0-1", "gke-prod-pool-7", "web-b"], [short])


def test_the_end_of_several_names_needs_more_of_it():
    with pytest.raises(InputError, match=r"several nodes have the name x; .* such as prod-blue-pool-x"):
        full_names(["prod-blue-pool-x", "test-blue-pool-x"], ["x"])


@pytest.mark.parametrize("typed", ["node/n1", "nodes/n1", "no/n1", "Node n1", "NODE/n1.example", "n1"])
def test_a_node_is_named_as_kubectl_and_tables_write_it(typed):
    assert chosen_nodes(NODES, [typed]) == ["n1.example"]
