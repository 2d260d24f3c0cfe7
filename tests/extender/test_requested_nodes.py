"""The nodes of requests: found, decoded once, kept, and let go when nobody shows them any more."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import EventType, WatchEvent
from kubesched.errors import ExtenderError
from kubesched.extender.requested_nodes import RequestedNodes
from kubesched.framework import Plugin, Status
from kubesched.testing import make_node
from kubesched.wire import parse_extender_args
from tests.extender.asking import Server, encode, node, pod, with_names, with_nodes

QUARTER_OF_AN_HOUR = 15 * 60.0


class Good(Plugin):
    """Wants the label good=yes."""

    def filter(self, state, pod, node):
        return Status.SUCCESS if node.labels.get("good") == "yes" else Status.unresolvable("not good")


def requested(server: Server, body: bytes) -> RequestedNodes:
    return server.nodes.of(parse_extender_args(body))


def known(server: Server) -> set[str]:
    return set(server.cluster_state.columns.row_of)


# --- whole nodes, no watch ---


def test_nodes_are_those_of_the_request_in_its_order():
    server = Server(Good())
    found = requested(server, with_nodes(node("b"), node("a"), node("c")))
    assert (list(found.names), found.table.names, found.n) == (["b", "a", "c"], ["b", "a", "c"], 3)
    found = requested(server, with_nodes(node("c"), node("b")))
    assert (list(found.names), found.table.names, found.n) == (["c", "b"], ["c", "b"], 2)
    assert known(server) == {"a", "b", "c"}


def test_only_nodes_that_are_new_or_changed_are_decoded():
    server = Server(Good())
    nodes = [node(f"n{i}", good="yes") for i in range(50)]
    assert len(server.filter(with_nodes(*nodes)).survivors) == 50
    assert server.nodes.n_decoded == 50
    server.filter(with_nodes(*reversed(nodes)))
    server.filter(with_nodes(*nodes[:7]))
    server.scores(with_nodes(*nodes))
    assert server.nodes.n_decoded == 50
    nodes[3] = node("n3", good="no")
    assert server.filter(with_nodes(*nodes)).FailedAndUnresolvableNodes == {"n3": "not good"}
    assert server.nodes.n_decoded == 51
    server.cluster_state.check_invariants()


def test_a_change_of_a_node_counts_at_once_in_both_directions():
    server = Server(Good())
    for good, survivors in (("no", []), ("yes", ["n1"]), ("no", []), ("yes", ["n1"])):
        assert server.filter(with_nodes(node("n1", good=good))).survivors == survivors


def test_the_latest_of_two_bodies_for_one_name_counts_however_it_is_written():
    server = Server(Good())
    goes = b'{"metadata":{"name":"n1","labels":{"good":"yes"}}}'
    stays = b'{ "metadata": {"labels":{"good":"no"},"name":"\\u006e1"}}'
    for raw, survivors in ((goes, ["n1"]), (stays, []), (goes, ["n1"]), (stays, [])):
        body = b'{"Pod":%b,"Nodes":{"items":[%b]}}' % (encode(pod()), raw)
        assert server.filter(body).survivors == survivors


def test_a_node_shown_twice_counts_once():
    server = Server(Good())
    result = server.filter(with_nodes(node("a", good="yes"), node("b"), node("a", good="yes"), node("b")))
    assert (result.survivors, result.FailedAndUnresolvableNodes) == (["a"], {"b": "not good"})
    assert server.scores(with_nodes(node("a"), node("a"))).keys() == {"a"}


def test_nodes_that_no_request_shows_for_a_quarter_of_an_hour_are_gone():
    server = Server(Good())
    server.filter(with_nodes(node("a"), node("b")))
    server.now = QUARTER_OF_AN_HOUR - 1
    server.filter(with_nodes(node("a"), node("c")))
    assert known(server) == {"a", "b", "c"}
    server.now = QUARTER_OF_AN_HOUR + 1
    server.filter(with_nodes(node("a")))
    assert known(server) == {"a", "c"}
    server.cluster_state.check_invariants()


def test_a_node_that_was_gone_and_comes_again_is_read_anew():
    server = Server(Good())
    server.filter(with_nodes(node("a", good="yes"), node("b", good="yes")))
    server.now = 2 * QUARTER_OF_AN_HOUR
    assert server.filter(with_nodes(node("a", good="yes"))).survivors == ["a"]
    assert known(server) == {"a"}
    assert server.nodes.n_decoded == 2
    result = server.filter(with_nodes(node("b", good="yes"), node("c"), node("a", good="yes")))
    assert result.survivors == ["b", "a"]
    assert server.nodes.n_decoded == 4
    server.cluster_state.check_invariants()


def test_many_nodes_come_and_go_over_days():
    server = Server(Good())
    for day in range(30):
        server.now = day * 86_400.0
        nodes = [node(f"n{day}-{i}", good="yes") for i in range(20)]
        assert len(server.filter(with_nodes(*nodes)).survivors) == 20
    assert len(known(server)) == 20
    server.cluster_state.check_invariants()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "Nodes.items is empty: kube-scheduler asks about at least one node"),
        ([node("a"), {}], "Nodes.items[1]: metadata.name is missing"),
        ([node("a"), {"metadata": {"name": ""}}], "Nodes.items[1]: metadata.name is missing"),
        ([None], "Nodes.items[0]: expected an object, found null"),
        (["n1"], "Nodes.items[0]: expected an object, found "),
        ([{"metadata": {"name": 5}}], "Nodes.items[0]: metadata.name: expected a string, found 5"),
        ([{**node("a"), "status": {"allocatable": {"cpu": "four"}}}], "Nodes.items[0]: status.allocatable.cpu: 'four'"),
    ],
)
def test_nodes_that_are_none_are_named_by_their_place(nodes: list[Any], message: str):
    server = Server(Good())
    result = server.filter(with_nodes(*nodes))
    assert result.Error.startswith(message)
    assert server.filter(with_nodes(node("a", good="yes"))).survivors == ["a"]
    server.cluster_state.check_invariants()


def test_a_request_without_nodes_and_names_says_so():
    for watched in (None, []):
        result = Server(Good(), watched=watched).filter(encode({"Pod": pod(), "Nodes": None, "NodeNames": None}))
        assert result.Error == ("the request has neither Nodes nor NodeNames; expected one of them")


def test_names_without_a_watch_say_what_to_do():
    result = Server(Good()).filter(with_names("n1"))
    assert "the request has only node names" in result.Error
    assert "--kubeconfig" in result.Error
    assert "nodeCacheCapable: false" in result.Error


# --- with a watch ---


def test_names_are_those_of_the_watch():
    server = Server(Good(), watched=[make_node("a", labels={"good": "yes"}), make_node("b")])
    result = server.filter(with_names("b", "a"))
    assert (result.NodeNames, result.FailedAndUnresolvableNodes) == (["a"], {"b": "not good"})
    assert server.nodes.n_decoded == 0


def test_whole_nodes_are_looked_up_in_the_watch_and_come_back_as_they_came():
    server = Server(Good(), watched=[make_node("a", labels={"good": "yes"}), make_node("b")])
    body = with_nodes(node("a", good="no"), node("b", good="yes"))
    result = server.filter(body)
    assert result.raws == [encode(node("a", good="no"))]
    assert result.FailedAndUnresolvableNodes == {"b": "not good"}
    assert server.nodes.n_decoded == 0


def test_unknown_names_are_rejected_with_a_reason_and_counted():
    server = Server(Good(), watched=[make_node("a", labels={"good": "yes"})])
    reason = "kubesched: the node is not in the extender's cache yet"
    result = server.filter(with_names("new", "a", "newer", "new"))
    assert result.NodeNames == ["a"]
    assert result.FailedAndUnresolvableNodes == {"new": reason, "newer": reason}
    assert server.nodes.n_unknown == 2
    result = server.filter(with_nodes(node("new"), node("a")))
    assert (result.survivors, result.FailedAndUnresolvableNodes) == (["a"], {"new": reason})
    result = server.filter(with_names("new"))
    assert (result.NodeNames, result.FailedAndUnresolvableNodes) == ([], {"new": reason})
    assert server.scores(with_names("new", "a")) == {"new": 0, "a": 0}
    assert server.scores(with_names("new")) == {"new": 0}


def test_a_name_is_known_from_the_moment_that_the_watch_shows_it():
    server = Server(Good(), watched=[make_node("a", labels={"good": "yes"})])
    body = with_names("a", "b")
    assert server.filter(body).NodeNames == ["a"]
    server.show(make_node("b", labels={"good": "yes"}))
    assert server.filter(body).NodeNames == ["a", "b"]


def test_the_same_list_again_sees_what_has_changed_since():
    server = Server(Good(), watched=[make_node("a", labels={"good": "yes"}), make_node("b")])
    body = with_names("a", "b")
    assert server.filter(body).NodeNames == ["a"]
    server.cluster_state.apply(WatchEvent(EventType.MODIFIED, "Node", make_node("b", labels={"good": "yes"})))
    assert server.filter(body).NodeNames == ["a", "b"]
    server.cluster_state.apply(WatchEvent(EventType.DELETED, "Node", make_node("a")))
    server.nodes.rows_changed()
    server.show(make_node("c", labels={"good": "yes"}))  # takes a's row
    result = server.filter(body)
    assert result.NodeNames == ["b"]
    assert list(result.FailedAndUnresolvableNodes) == ["a"]


def test_more_lists_than_are_kept():
    names = [f"n{i}" for i in range(20)]
    server = Server(Good(), watched=[make_node(name, labels={"good": "yes"}) for name in names])
    for _ in range(2):
        for i in range(20):
            assert server.filter(with_names(*names[: i + 1])).NodeNames == names[: i + 1]


def test_a_name_that_comes_twice_counts_once():
    server = Server(Good(), watched=[make_node("a", labels={"good": "yes"}), make_node("b")])
    for _ in range(2):
        result = server.filter(with_names("b", "a", "a", "b", "a"))
        assert (result.NodeNames, list(result.FailedAndUnresolvableNodes)) == (["a"], ["b"])


def test_no_names_are_too_few():
    assert Server(Good(), watched=[]).filter(with_names()).Error == (
        "NodeNames is empty: kube-scheduler asks about at least one node"
    )


@pytest.mark.parametrize("item", [b"{}", b"null", b'{"metadata":null}', b'{"metadata":{"name":"\xff"}}', b"5"])
def test_a_watched_request_with_a_node_that_is_none(item: bytes):
    server = Server(Good(), watched=[make_node("a")])
    args = parse_extender_args(b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"a"}},%b]}}' % item)
    with pytest.raises(ExtenderError, match=r"^Nodes\.items\[1\]: "):
        server.nodes.of(args)


# --- both ---

names = st.text(st.sampled_from("ab\\\"'é\u2028😀"), min_size=1, max_size=3)


@given(nodes=st.dictionaries(names, st.sampled_from(["yes", "no", ""]), min_size=1, max_size=6), asked=st.data())
def test_the_same_cluster_gives_the_same_verdicts_in_every_form(nodes: dict[str, str], asked: st.DataObject):
    """Whole nodes without a watch, whole nodes with one, and names."""
    order = asked.draw(st.permutations(list(nodes)))
    shown = [node(name, good=nodes[name]) for name in order]
    watched = [make_node(name, labels={"good": good}) for name, good in nodes.items()]
    results = [
        Server(Good()).filter(with_nodes(*shown)),
        Server(Good(), watched=watched).filter(with_nodes(*shown)),
        Server(Good(), watched=watched).filter(with_names(*order)),
    ]
    expected = [name for name in order if nodes[name] == "yes"]
    for result in results:
        assert result.survivors == expected
        assert result.FailedAndUnresolvableNodes.keys() == nodes.keys() - set(expected)
    assert results[0].raws == results[1].raws == [encode(one) for one in shown if one["metadata"]["name"] in expected]


@given(rounds=st.lists(st.dictionaries(names, st.sampled_from(["yes", "no"]), min_size=1), min_size=1, max_size=6))
def test_what_was_asked_before_changes_no_answer(rounds: list[dict[str, str]]):
    """A server with a history answers as a fresh one does, whatever came, went and changed."""
    old = Server(Good())
    for nodes in rounds:
        old.now += QUARTER_OF_AN_HOUR * 0.6
        body = with_nodes(*(node(name, good=good) for name, good in nodes.items()))
        assert old.filter(body) == Server(Good()).filter(body)
    old.cluster_state.check_invariants()
