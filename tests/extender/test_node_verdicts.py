"""Rejections in the map of the protocol where preemption reads them right."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.framework import Plugin, PreFilterResult, Status
from kubesched.testing import make_node
from tests.extender.asking import Server, node, with_names, with_nodes

MAY_HELP, IN_VAIN = Status.unschedulable("too full"), Status.unresolvable("too small")


class Scalar(Plugin):
    """Each node says in its labels what becomes of it."""

    def filter(self, state, pod, node):
        return {"full": MAY_HELP, "small": IN_VAIN}.get(node.labels.get("is", ""), Status.SUCCESS)


class Columns(Plugin):
    """The same over columns."""

    reasons = (MAY_HELP, IN_VAIN)

    def filter_nodes(self, state, pod, nodes):
        values = [nodes.columns.nodes[row].labels.get("is") for row in nodes.all_rows.tolist()]
        return np.array([{"full": 1, "small": 2}.get(value, 0) for value in values])


class ScalarWithSay(Scalar):
    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


class ColumnsWithSay(Columns):
    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


class OnlySay(Plugin):
    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


NODES = with_nodes(node("free"), node("full", **{"is": "full"}), node("small", **{"is": "small"}))


@pytest.mark.parametrize("plugin", [Scalar, Columns])
def test_without_a_say_in_preemption_no_rejection_sends_kube_scheduler_there(plugin: type[Plugin]):
    result = Server(plugin()).filter(NODES)
    assert result.survivors == ["free"]
    assert result.FailedNodes == {}
    assert result.FailedAndUnresolvableNodes == {"full": "too full", "small": "too small"}


@pytest.mark.parametrize("plugin", [ScalarWithSay, ColumnsWithSay])
def test_with_a_preempt_hook_unschedulable_is_passed_on(plugin: type[Plugin]):
    result = Server(plugin()).filter(NODES)
    assert result.survivors == ["free"]
    assert result.FailedNodes == {"full": "too full"}
    assert result.FailedAndUnresolvableNodes == {"small": "too small"}


@pytest.mark.parametrize("plugin", [Scalar, Columns])
def test_on_request_it_is_passed_on_without_the_hook(plugin: type[Plugin]):
    result = Server(plugin(), preemption_helps=True).filter(NODES)
    assert (result.FailedNodes, result.FailedAndUnresolvableNodes) == ({"full": "too full"}, {"small": "too small"})


def test_the_hook_of_another_plugin_does_not_help():
    result = Server(Scalar(), OnlySay()).filter(NODES)
    assert result.FailedNodes == {}
    assert result.FailedAndUnresolvableNodes.keys() == {"full", "small"}


def test_the_first_plugin_that_rejects_a_node_has_the_word():
    class Later(Plugin):
        def filter(self, state, pod, node):
            return Status.unresolvable("later")

    result = Server(ScalarWithSay(), Later()).filter(NODES)
    assert result.survivors == []
    assert result.FailedNodes == {"full": "too full"}
    assert result.FailedAndUnresolvableNodes == {"small": "too small", "free": "later"}


def test_several_reasons_make_one_message():
    class Thorough(Plugin):
        def filter(self, state, pod, node):
            return Status.unschedulable("no room", "no GPU")

    assert Server(Thorough()).filter(NODES).FailedAndUnresolvableNodes["free"] == "no room, no GPU"


def test_a_reason_that_utf8_cannot_carry_is_escaped():
    class Odd(Plugin):
        def filter(self, state, pod, node):
            return Status.unschedulable("file caf\udce9")

    assert Server(Odd()).filter(NODES).FailedAndUnresolvableNodes["free"] == "file caf\\udce9"


WORDLESS = [Status.unresolvable(), Status.unschedulable(""), Status.unschedulable(" ", "\n"), Status.pending("\t")]


@pytest.mark.parametrize("status", WORDLESS)
def test_a_rejection_without_words_names_the_plugin(status: Status):
    class Mute(Plugin):
        def filter(self, state, pod, node):
            return Status.SUCCESS if node.name == "free" else status

    result = Server(Mute(), preemption_helps=True).filter(NODES)
    found = result.FailedNodes | result.FailedAndUnresolvableNodes
    assert found == dict.fromkeys(["full", "small"], "node(s) were rejected by plugin Mute without a reason")


@pytest.mark.parametrize("status", WORDLESS[:3])
def test_a_rejection_of_pre_filter_without_words_names_the_plugin(status: Status):
    reasons = Server(before(status)).filter(NODES).FailedAndUnresolvableNodes
    assert reasons == dict.fromkeys(
        ["free", "full", "small"], "node(s) were rejected by plugin Before without a reason"
    )


# --- PreFilter ---


def before(answer: Any, *, has_say: bool = False) -> Plugin:
    hooks: dict[str, Any] = {"pre_filter": lambda self, *given: answer}
    if has_say:
        hooks["preempt"] = lambda self, state, pod, victims: victims
    return type("Before", (Plugin,), hooks)()


@pytest.mark.parametrize("status", [MAY_HELP, IN_VAIN])
def test_a_pod_that_pre_filter_rejects_is_rejected_on_every_node(status: Status):
    result = Server(before(status), Scalar()).filter(NODES)
    assert result.survivors == []
    assert result.FailedAndUnresolvableNodes == dict.fromkeys(["free", "full", "small"], status.message)


def test_with_a_say_only_the_unresolvable_rejection_of_pre_filter_is_one():
    assert Server(before(MAY_HELP, has_say=True)).filter(NODES).FailedNodes.keys() == {"free", "full", "small"}
    assert Server(before(IN_VAIN, has_say=True)).filter(NODES).FailedNodes == {}


def test_nodes_that_pre_filter_did_not_choose_are_unresolvable():
    server = Server(before(PreFilterResult(frozenset({"full", "elsewhere"})), has_say=True), ScalarWithSay())
    result = server.filter(NODES)
    reason = "node(s) didn't satisfy plugin(s) [Before]"
    assert result.survivors == []
    assert result.FailedNodes == {"full": "too full"}
    assert result.FailedAndUnresolvableNodes == {"free": reason, "small": reason}


def test_nodes_that_pre_filter_chose_are_filtered_and_keep_their_bytes():
    result = Server(before(PreFilterResult(frozenset({"free", "small"}))), Scalar()).filter(NODES)
    assert result.survivors == ["free"]
    assert all(raw in NODES for raw in result.raws)
    assert result.FailedAndUnresolvableNodes["small"] == "too small"


@pytest.mark.parametrize("chosen", [frozenset(), {"free"}])
def test_a_choice_may_be_empty_or_a_plain_set(chosen: Any):
    result = Server(before(PreFilterResult(chosen)), Scalar()).filter(NODES)
    assert result.survivors == list(chosen)
    assert all(result.FailedAndUnresolvableNodes.values())


def test_a_choice_beyond_the_request_leaves_nothing():
    result = Server(before(PreFilterResult(frozenset({"elsewhere"}))), Scalar()).filter(NODES)
    assert result.survivors == []
    assert len(result.FailedAndUnresolvableNodes) == 3


@pytest.mark.parametrize("skip", [Status.SKIP, Status(Status.SKIP.code, ("nothing to do",))])
def test_a_plugin_that_skips_the_pod_does_not_filter(skip: Status):
    class Skipping(Scalar):
        def pre_filter(self, state, pod, nodes):
            return skip

    assert Server(Skipping()).filter(NODES).survivors == ["free", "full", "small"]


def test_pre_filter_sees_the_nodes_of_the_request():
    seen = []

    class Looking(Plugin):
        def pre_filter(self, state, pod, nodes):
            seen.append((pod.name, nodes.names))
            return Status.SUCCESS

    server = Server(Looking())
    server.filter(NODES)
    server.filter(with_nodes(node("small"), node("free")))
    assert seen == [("p", ["free", "full", "small"]), ("p", ["small", "free"])]


def test_a_profile_without_filters_lets_all_pass():
    assert Server().filter(NODES).survivors == ["free", "full", "small"]


# --- properties ---

fates = st.lists(st.sampled_from(["", "full", "small"]), min_size=1, max_size=8)


@given(fates=fates, chosen=st.none() | st.frozensets(st.integers(0, 8)), has_say=st.booleans())
def test_scalar_and_column_rules_sort_every_node_once_in_every_form(
    fates: list[str], chosen: frozenset[int] | None, has_say: bool
):
    shown = [node(f"n{i}", **{"is": fate}) for i, fate in enumerate(fates)]
    watched = [make_node(f"n{i}", labels={"is": fate}) for i, fate in enumerate(fates)]
    choice = Status.SUCCESS if chosen is None else PreFilterResult(frozenset(f"n{i}" for i in chosen))
    forms = (ScalarWithSay, ColumnsWithSay) if has_say else (Scalar, Columns)
    results = []
    for form in forms:
        results.append(Server(before(choice), form()).filter(with_nodes(*shown)))
        server = Server(before(choice), form(), watched=watched)
        results.append(server.filter(with_names(*(f"n{i}" for i in range(len(fates))))))
        results.append(server.filter(with_nodes(*shown)))
    fits = [f"n{i}" for i, fate in enumerate(fates) if not fate and (chosen is None or i in chosen)]
    for result in results:
        assert result.survivors == fits
        assert len(result.FailedNodes) + len(result.FailedAndUnresolvableNodes) == len(fates) - len(fits)
        assert result.FailedNodes == results[0].FailedNodes
        assert result.FailedAndUnresolvableNodes == results[0].FailedAndUnresolvableNodes
        assert has_say or not result.FailedNodes
