import pytest
from rich.console import Console

from kubesched.cli.explanation_text import ExplanationText
from kubesched.explanation import Explanation
from kubesched.framework import Plugin, Status
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, filling, three_nodes


def printed(explanation: Explanation, *, width: int = 100, **view: object) -> str:
    console = Console(width=width, markup=False, highlight=False, record=True, file=None)
    with console.capture() as captured:
        ExplanationText(explanation, console).print(**view)
    return captured.get()


@pytest.fixture
def full() -> Explanation:
    """One node is full, the other is tainted."""
    nodes = (make_node("n1.eu", allocatable=SMALL), make_node("n2.eu", taints=["gpu:NoSchedule"]))
    return ask(make_pod("p", requests={"cpu": "2"}), *nodes, filling("n1.eu", cpu="1"))


def test_the_message_stands_in_kube_scheduler_s_words(full):
    text = printed(full)
    assert "Fits on none of 2 nodes." in text
    assert "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)." in text


def test_the_nearest_nodes_come_with_their_obstacles_and_short_names(full):
    lines = [line.split() for line in printed(full).splitlines()]
    assert [
        "n1",
        "NodeResourcesFit:",
        "cpu",
        "is",
        "short",
        "by",
        "1:",
        "requests",
        "2,",
        "1",
        "of",
        "2",
        "free",
    ] in lines
    assert ["Node", "names", "are", "shortened", "by", "'.eu'."] in lines


def test_what_would_help_is_said_last(full):
    text = printed(full, width=200)
    assert "What would help: any one of these makes it fit: add a node like n1.eu -> 1 node; " in text
    assert "PostFilter: no new claims to deallocate, preemption: 0/2 nodes are available:" in text


class Wordless(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable()


@pytest.mark.parametrize("view", [{}, {"by": "plugin"}, {"nodes": [0]}])
def test_a_rejection_without_a_reason_is_no_empty_text(view):
    assert "rejected without a reason" in printed(ask(make_pod("p"), *three_nodes(), plugins=[Wordless]), **view)


def test_every_node_has_its_obstacle_also_where_the_node_before_has_the_same():
    lines = printed(ask(make_pod("p"), *three_nodes(), plugins=[Wordless])).splitlines()
    assert [line.split()[:2] for line in lines if "Wordless:" in line] == [[f"n{i}", "Wordless:"] for i in (1, 2, 3)]


def test_the_only_node_that_fits_is_not_compared():
    text = printed(ask(make_pod("p"), make_node("n1")))
    assert "it does not score the only node that fits" in text


class FailsOnN2(Plugin):
    def filter(self, state, pod, node):
        if node.name == "n2":
            raise KeyError("x")
        return Status.SUCCESS


def test_a_plugin_that_failed_is_named_with_the_node_and_without_advice():
    text = printed(ask(make_pod("p"), *three_nodes(), plugins=[FailsOnN2]))
    assert 'A plugin failed on n2, so no node is chosen (SchedulerError).\nrunning "FailsOnN2" filter plugin' in text
    assert "What would help" not in text
    assert "PostFilter" not in text


def test_rows_may_be_plugins(full):
    lines = [line.split() for line in printed(full, by="plugin").splitlines()]
    assert ["NodeResourcesFit", "1", "1", "Insufficient", "cpu"] in lines
    assert ["NodePorts", "-", "nothing", "to", "check"] in lines


def test_one_node_is_shown_plugin_by_plugin(full):
    lines = [line.split() for line in printed(full, nodes=[1]).splitlines()]
    assert ["Node", "n2.eu"] in lines
    assert ["TaintToleration", "rejects", "for", "good", "node(s)", "had", "untolerated", "taint(s)"] in lines
    assert ["NodeResourcesFit", "passes"] in lines


def test_twenty_nodes_are_shown_unless_all_are_asked_for():
    nodes = [make_node(f"n{i:02}", taints=["gpu:NoSchedule"]) for i in range(25)]
    found = ask(make_pod("p"), *nodes)
    assert "n19" in printed(found)
    assert "n20" not in printed(found)
    assert "n24" in printed(found, all_nodes=True)


def test_a_pod_that_fits_gets_its_node_and_the_scores_of_the_next_ones():
    nodes = (*three_nodes(), filling("n1", cpu="1"), filling("n2", cpu="500m"))
    text = printed(ask(make_pod("p", requests={"cpu": "100m"}), *nodes))
    assert "Fits on 3 of 3 nodes and goes to n3." in text
    rows = [line.split() for line in text.splitlines()]
    assert ["PLUGIN", "n3", "n2", "n1"] in rows
    assert any(row[:1] == ["total"] and len(row) == 4 for row in rows)
    assert "decided: " in text
    assert "By default kube-scheduler would also compare all 3 nodes that fit." in text


def test_a_narrow_table_keeps_the_names_of_plugins_whole():
    names = [f"a-node-with-a-rather-long-name-{i}" for i in range(4)]
    text = printed(ask(make_pod("p"), *(make_node(name) for name in names)), width=80)
    assert "NodeResourcesBalancedAllocation" in text or "NodeResourcesFit" in text
    assert names[0] in text
    assert max(len(line) for line in text.splitlines()) <= 120


def test_more_nodes_than_the_default_looks_at_are_told():
    found = ask(make_pod("p"), *(make_node(f"n{i}") for i in range(110)))
    assert "By default kube-scheduler stops after 100 of the 110 nodes that fit" in printed(found, width=200)


def test_equally_good_nodes_are_told():
    assert "3 nodes have the highest score; this one is the first of them in the snapshot." in printed(
        ask(make_pod("p"), *three_nodes())
    )


def test_preemption_that_helps_names_its_victims():
    pod = make_pod("p", requests={"cpu": "2"}, priority=5)
    text = printed(ask(pod, make_node("n1", allocatable=SMALL), filling("n1", cpu="1")))
    assert "Preemption would make room on n1 by evicting default/on-n1 (priority 0)." in text


def test_a_pod_that_is_held_back_is_told_first():
    text = printed(ask(make_pod("p", spec={"schedulingGates": [{"name": "not-yet"}]}), *three_nodes()))
    assert text.index("does not try this pod now: waiting for scheduling gates: [not-yet]") < text.index("Fits on")


def test_a_nomination_is_told():
    text = printed(ask(make_pod("p", status={"nominatedNodeName": "n2"}), *three_nodes()))
    assert "Nominated to n2: kube-scheduler takes that node if the pod fits there." in text


def test_brackets_in_reasons_are_printed_as_they_are():
    pod = make_pod("p", node_selector={"pool": "[red]x[/red]"})
    assert "[red]x[/red]" in printed(ask(pod, make_node("n1", labels={"pool": "y"})), width=200)
