"""The report on one pod, printed as text."""

import pytest
from rich.console import Console

from kubesched.explanation import Explainer, Explanation, answer_of, explain
from kubesched.framework import Plugin, Status
from kubesched.pages.explanations import explanation_page, node_page, overview_page
from kubesched.pages.formats import Page, Table, print_page
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, ask, filling, profile, three_nodes


def text_of(page: Page, *, width: int = 100, wide: bool = False) -> str:
    console = Console(width=width, markup=False, highlight=False, color_system=None)
    with console.capture() as captured:
        print_page(page, console, wide=wide)
    return captured.get()


def printed(explanation: Explanation, *, width: int = 100, nodes: list[int] | None = None, **view: object) -> str:
    page = node_page(explanation, nodes) if nodes else explanation_page(explanation, **view)
    return text_of(page, width=width)


def rows_of(explanation: Explanation, table: str, **view: object) -> list[list[str]]:
    """The rows of a table, as texts."""
    tables = {one.name: one for one in explanation_page(explanation, **view).tables}
    return [[getattr(cell, "text", str(cell)) for cell in row] for row in tables[table].rows]


@pytest.fixture
def full() -> Explanation:
    """One node is full, the other is tainted."""
    nodes = (make_node("n1.eu", allocatable=SMALL), make_node("n2.eu", taints=["gpu:NoSchedule"]))
    return ask(make_pod("p", requests={"cpu": "2"}), *nodes, filling("n1.eu", cpu="1"))


# --- a pod that fits nowhere ---


def test_the_message_stands_in_kube_scheduler_s_words(full):
    text = printed(full)
    assert text.startswith("Pod default/p fits on none of 2 nodes.\n")
    assert "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)." in text


def test_the_nearest_nodes_come_with_their_obstacles_and_short_names(full):
    assert rows_of(full, "obstacles")[0] == [
        "1",
        "NodeResourcesFit: cpu is short by 1: requests 2, 1 of 2 free",
        "n1.eu",
    ]
    lines = [line.split() for line in printed(full).splitlines()]
    assert lines[-1] == ["Next:", "kubesched", "explain", "default/p", "--node", "n1"]
    assert ["Node", "names", "are", "shortened", "by", "'*.eu'."] in lines


def test_the_fixes_come_before_the_nodes_with_how_many_they_open(full):
    assert [fix.n_nodes for fix in full.fixes] == [int(row[1]) for row in rows_of(full, "fixes")]
    assert ["tolerate gpu:NoSchedule", "1", "n2.eu"] in [row[:3] for row in rows_of(full, "fixes")]
    text = printed(full)
    assert text.index("Any one of these makes it fit:") < text.index("OBSTACLES")


class NoThanks(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("no, thanks")


def test_without_a_fix_the_nearest_node_is_named_with_its_obstacles():
    text = printed(ask(make_pod("p"), make_node("n1"), plugins=[NoThanks]), width=200)
    assert "To fit on n1, remove this obstacle: no, thanks." in text


def test_preemption_is_told_without_the_names_of_post_filters(full):
    text = printed(full, width=200)
    assert "Preemption would not make room: 0/2 nodes are available: 1 No preemption victims" in text
    assert "no new claims" not in text
    assert "PostFilter" not in text


def test_preemption_without_a_message_for_people_has_none():
    pod = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})
    claim = make_object("PersistentVolumeClaim", "data", spec={"storageClassName": "now"})
    storage_class = make_object("StorageClass", "now", provisioner="x.io/p", volumeBindingMode="Immediate")
    lines = printed(ask(pod, make_node("n1"), claim, storage_class)).splitlines()
    assert "Preemption would not make room." in lines
    assert "Not modelled: autoscalers and the timing of controllers." in lines


def test_nodes_with_the_same_obstacles_are_one_row_however_far_apart():
    nodes = [make_node(f"n{i:02}", taints=["gpu:NoSchedule" if i % 2 else "db:NoSchedule"]) for i in range(20)]
    assert rows_of(ask(make_pod("p"), *nodes), "obstacles") == [
        ["10", "TaintToleration: taint db:NoSchedule is not tolerated", "n00"],
        ["10", "TaintToleration: taint gpu:NoSchedule is not tolerated", "n01"],
    ]


def test_amounts_that_differ_on_every_node_are_one_row():
    nodes = [make_node(f"n{i}", allocatable={**SMALL, "cpu": f"{2000 + 10 * i}m"}) for i in range(6)]
    pods = [filling(f"n{i}", cpu="1500m") for i in range(6)]
    ((n, obstacles, nearest),) = rows_of(ask(make_pod("p", requests={"cpu": "2"}), *nodes, *pods), "obstacles")
    assert (n, nearest) == ("6", "n5")
    assert obstacles.splitlines() == [
        "NodeResourcesFit: cpu is short by 1.45 to 1.5: requests 2, 500m to 550m of 2 to 2.05 free",
    ]


def test_a_cordon_and_its_taint_are_one_obstacle():
    taints = ["node.kubernetes.io/unschedulable:NoSchedule"]
    rows = rows_of(ask(make_pod("p"), make_node("n1", taints=taints, unschedulable=True)), "obstacles")
    assert rows == [["1", "NodeUnschedulable: the node is cordoned", "n1"]]


def test_nodes_that_are_too_small_come_last_and_are_counted():
    pod = make_pod("p", requests={"cpu": "3"})
    far = make_node("far", taints=["gpu:NoSchedule"], unschedulable=True)
    found = ask(pod, make_node("small", allocatable=SMALL), far)
    assert [row[2] for row in rows_of(found, "obstacles")] == ["far", "small"]
    assert "1 node, in the last rows, is too small for this pod even when it is empty." in printed(found)
    found = ask(pod, *three_nodes())
    assert "No node is large enough for this pod, even when it is empty." in printed(found)


def test_nodes_that_the_pod_does_not_name_come_last_and_are_counted():
    pod = make_pod("p", node_selector={"kubernetes.io/hostname": "n3"})
    found = ask(pod, *three_nodes(), make_node("n3", unschedulable=True))
    assert rows_of(found, "obstacles")[0] == ["1", "NodeUnschedulable: the node is cordoned", "n3"]
    text = printed(found, again="kubesched explain p")
    assert "2 nodes, in the last rows, are not among those that the pod or its volumes name." in text
    assert "Next: kubesched explain p --node n3" in text
    found = ask(make_pod("p", node_selector={"kubernetes.io/hostname": "gone"}), *three_nodes())
    assert "No node is among those that the pod or its volumes name." in printed(found)


def test_the_next_command_asks_about_the_node_of_the_best_fix():
    other = make_node("n1", labels={"pool": "web"})
    db = make_node("n2", labels={"pool": "db"}, taints=["db:NoSchedule"])
    found = ask(make_pod("p", node_selector={"pool": "db"}), other, db)
    assert "Next: kubesched explain p --node n2" in printed(found, again="kubesched explain p")


class Wordless(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable()


class EmptyWord(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("")


@pytest.mark.parametrize("plugin", [Wordless, EmptyWord])
@pytest.mark.parametrize("view", [{}, {"by_plugin": True}, {"all_nodes": True}, {"nodes": [0]}])
def test_a_rejection_without_a_reason_is_no_empty_text(view, plugin):
    assert "rejected without a reason" in printed(ask(make_pod("p"), *three_nodes(), plugins=[plugin]), **view)


@pytest.mark.parametrize("plugin", [Wordless, EmptyWord])
def test_a_rejection_without_a_reason_counts(plugin):
    found = ask(make_pod("p"), make_node("n0", taints=["x:NoSchedule"]), *three_nodes(), plugins=[plugin])
    assert {row[0]: row[1] for row in rows_of(found, "obstacles")}[
        "3"
    ] == f"{plugin.__name__}: rejected without a reason"


class FitsOnlyOnN1(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS if node.name == "n1" else Status.unschedulable("")


def test_a_rejection_without_a_reason_counts_among_the_other_nodes():
    assert "The other nodes: 2 rejected without a reason." in printed(
        ask(make_pod("p"), *three_nodes(), plugins=[FitsOnlyOnN1])
    )


def test_every_node_has_its_row_on_request():
    found = ask(make_pod("p"), *three_nodes(), plugins=[Wordless])
    assert rows_of(found, "rejections", all_nodes=True) == [
        [f"n{i}", "Wordless: rejected without a reason"] for i in (1, 2, 3)
    ]


def test_rows_may_be_plugins(full):
    rows = rows_of(full, "plugins", by_plugin=True)
    assert ["NodeResourcesFit", "1", "1 Insufficient cpu"] in rows
    assert ["NodePorts", "-", "nothing to check"] in rows


class Rejects(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable(f"reason {node.name}")


def test_many_different_obstacles_are_twelve_rows_and_a_count():
    found = ask(make_pod("p"), *(make_node(f"n{i:02}") for i in range(14)), plugins=[Rejects])
    assert len(rows_of(found, "obstacles")) == 12
    assert "2 more nodes have other obstacles; --all-nodes shows every node." in printed(found)


def test_preemption_that_helps_names_its_victims():
    pod = make_pod("p", requests={"cpu": "2"}, priority=5)
    text = printed(ask(pod, make_node("n1", allocatable=SMALL), filling("n1", cpu="1")))
    assert text.startswith("Pod default/p does not fit on the only node; preemption would make room on n1.\n")
    assert "Preemption would make room on n1 by evicting default/on-n1 (priority 0, then lost)." in text


def test_a_pod_without_nodes_gets_the_message_alone():
    text = printed(ask(make_pod("p"), make_object("Namespace", "default")))
    assert "Pod default/p fits on none of 0 nodes." in text
    assert "no nodes available to schedule pods" in text


# --- faults ---


class FailsOnN2(Plugin):
    def filter(self, state, pod, node):
        if node.name == "n2":
            raise KeyError("x")
        return Status.SUCCESS


def test_a_plugin_that_failed_is_named_with_the_node_and_has_to_be_fixed():
    text = printed(ask(make_pod("p"), *three_nodes(), plugins=[FailsOnN2]))
    assert "a plugin failed on n2, so no node is chosen (SchedulerError).\n" in text
    assert '\nrunning "FailsOnN2" filter plugin' in text
    assert "Fix plugin FailsOnN2 first; 2 of 3 nodes pass all filters." in text
    assert "makes it fit" not in text
    assert "PostFilter" not in text


class ReportsAnErrorOnN2(Plugin):
    def filter(self, state, pod, node):
        return Status.error("no licence\nleft") if node.name == "n2" else Status.SUCCESS


def test_an_error_that_a_plugin_reports_is_said_and_the_plugin_has_not_failed():
    text = printed(ask(make_pod("p"), *three_nodes(), plugins=[ReportsAnErrorOnN2]))
    why = "an error of ReportsAnErrorOnN2 on n2 (no licence left), so no node is chosen (SchedulerError)."
    assert " ".join(text.split()).startswith(f"Pod default/p: {why}")


class FailsBehindATaint(Plugin):
    def filter(self, state, pod, node):
        raise AttributeError("no such field")


def test_where_a_plugin_fails_behind_another_obstacle_it_has_to_be_fixed_first():
    """The taint ends the search before the plugin is asked; by itself it fails."""
    found = ask(make_pod("p"), make_node("n1", taints=["gpu:NoSchedule"]), plugins=[FailsBehindATaint])
    text = printed(found, width=200)
    assert "Fix plugin FailsBehindATaint first; until then no other fix can be tried: running" in text
    assert "AttributeError: no such field (test_pod_page.py:" in text
    assert "makes it fit" not in text
    assert "FailsBehindATaint: running" in text


# --- a pod that fits ---


def test_the_only_node_that_fits_is_not_compared():
    text = printed(ask(make_pod("p"), make_node("n1")))
    assert "it does not score the only node that fits" in text


class ByName(Plugin):
    def score(self, state, pod, node):
        return 10 * int(node.name[-1])


class ByNumber(Plugin):
    def score(self, state, pod, node):
        return int(node.name[1:])


def test_a_pod_that_fits_gets_its_node_and_the_scores_of_the_next_ones():
    nodes = (*three_nodes(), filling("n1", cpu="1"), filling("n2", cpu="500m"))
    found = ask(make_pod("p", requests={"cpu": "100m"}), *nodes, plugins=[ByName])
    text = printed(found, width=140)
    assert text.startswith("Pod default/p fits on 3 of 3 nodes and would go to n3.\n")
    assert [row[0] for row in rows_of(found, "scores")] == ["n3", "n2", "n1"]
    assert "By default kube-scheduler would also compare all 3 nodes that fit." in text


def test_the_points_of_the_plugins_add_up_to_the_lead_that_is_told():
    nodes = (*three_nodes(), filling("n3", cpu="100m"))
    found = ask(make_pod("p", requests={"cpu": "100m"}), *nodes, plugins=[ByName])
    (said,) = [line for line in printed(found, width=200).splitlines() if " ahead of " in line]
    first, second = rows_of(found, "scores")[:2]
    ahead = int(first[2]) - int(second[2])
    assert said.startswith(f"{first[0]} is {ahead} points ahead of {second[0]}: ")
    points = [int(part.split()[-1].rstrip(".")) for part in said.partition(": ")[2].split(", ")]
    assert sum(points) == ahead
    assert len(points) > 1


def test_plugins_that_tell_the_nodes_apart_are_the_first_columns_and_silent_ones_a_note():
    found = ask(make_pod("p"), *three_nodes(), plugins=[ByName])
    (table,) = [one for one in explanation_page(found).tables if one.name == "scores"]
    assert [column.key for column in table.columns if not column.is_wide] == ["node", "total", "ByName"]
    (note,) = [note for note in table.notes if note.startswith("Equal on all of these nodes: ")]
    assert "ByName" not in note
    assert "TaintToleration 300" in note
    assert "ImageLocality 0" in note


def test_a_narrow_terminal_keeps_the_plugins_that_make_the_difference():
    found = ask(make_pod("p", requests={"cpu": "1"}), *three_nodes(), filling("n1", cpu="1"), plugins=[ByName])
    (table,) = [one for one in explanation_page(found).tables if one.name == "scores"]
    shown = [column.key for column in table.columns if not column.is_wide]
    assert (shown[2], "NodeResourcesFit" in shown[3:]) == ("ByName", True)
    text = " ".join(printed(found, width=40).split())
    assert "n3 is 10 points ahead of n2: ByName +10." in text
    assert "ByName" not in text.partition("Hidden because the terminal is too narrow: ")[2].partition("(")[0]


def test_wide_text_has_the_columns_of_all_plugins():
    page = explanation_page(ask(make_pod("p"), *three_nodes(), plugins=[ByName]))
    assert "TaintToleration" in text_of(page, width=300, wide=True).partition("TOTAL")[2].partition("\n")[0]


def test_nodes_with_equal_points_share_a_row_unless_all_are_asked_for():
    found = ask(make_pod("p"), *three_nodes())
    assert [row[:2] for row in rows_of(found, "scores")] == [["n1", "3"]]
    assert [row[0] for row in rows_of(found, "scores", all_nodes=True)] == ["n1", "n2", "n3"]


def test_ten_rows_are_shown_and_the_rest_is_counted():
    found = ask(make_pod("p"), *(make_node(f"n{i:02}") for i in range(14)), plugins=[ByNumber])
    assert [row[0] for row in rows_of(found, "scores")] == [f"n{i:02}" for i in range(13, 3, -1)]
    assert "4 more nodes have fewer points; --all-nodes shows every node." in printed(found)


def test_no_column_of_points_disappears_without_a_word():
    found = ask(make_pod("p"), *(make_node(f"anodewitharatherlongname{i}") for i in range(4)), plugins=[ByName])
    text = printed(found, width=36)
    assert "Hidden because the terminal is too narrow: ByName" in " ".join(text.split())


def test_more_nodes_than_the_default_looks_at_are_told():
    found = ask(make_pod("p"), *(make_node(f"n{i}") for i in range(110)))
    assert "By default kube-scheduler stops after 100 of the 110 nodes that fit" in printed(found, width=200)


def test_equally_good_nodes_are_told():
    assert "3 nodes have the highest total; n1 is the first of them in the snapshot." in printed(
        ask(make_pod("p"), *three_nodes())
    )


# --- a pod that runs ---


def running(*objects, **options) -> Explanation:
    return explain([make_pod("p", node="n1", requests={"cpu": "100m"}), *objects], "default/p", nodes=None, **options)


def test_a_pod_on_the_best_node_would_go_there_again():
    assert printed(running(*three_nodes()), width=200).startswith(
        "Pod default/p runs on n1, rank 1 of 3 nodes that fit, with "
    )
    assert "a new decision would take it again." in printed(running(*three_nodes()), width=200)


def test_a_pod_on_another_node_has_its_rank_and_the_points_that_make_the_difference():
    verdict = explanation_page(running(*three_nodes(), plugins=[ByName])).verdict.text
    assert verdict.startswith("Pod default/p runs on n1, rank 3 of 3 nodes that fit, with ")
    assert "a new decision would take n3 with" in verdict
    assert verdict.endswith(": ByName +20.")


def test_a_pod_that_would_go_elsewhere_is_told_why_that_may_be_but_not_on_a_tie():
    told = "A new decision may differ because of other pods or nodes, a tie-break or another configuration."
    assert told in printed(running(*three_nodes(), plugins=[ByName]), width=200)
    assert told not in printed(running(*three_nodes()), width=200)
    assert told not in printed(explain([*three_nodes(), make_pod("p", node="n2")], "default/p"), width=200)


def test_a_node_with_as_many_points_loses_by_the_order_of_the_snapshot():
    found = explain([*three_nodes(), make_pod("p", node="n2")], "default/p")
    assert "would take n1, which has as many points and comes first in the snapshot." in printed(found, width=200)


def test_a_pod_on_a_node_that_no_longer_fits_is_told_why():
    nodes = (make_node("n1", taints=["gpu:NoSchedule"]), make_node("n2"))
    assert printed(running(*nodes), width=200).startswith(
        "Pod default/p runs on n1, where it does not fit now: taint gpu:NoSchedule is not tolerated. "
        "A new pod would go to n2."
    )


# --- one node ---


def test_one_node_is_shown_plugin_by_plugin(full):
    text = printed(full, nodes=[1], width=140)
    assert text.startswith("Pod default/p does not fit on n2: taint gpu:NoSchedule is not tolerated.\n")
    lines = [line.split() for line in text.splitlines()]
    assert [
        "TaintToleration",
        "rejects",
        "(eviction",
        "cannot",
        "help)",
        "node(s)",
        "had",
        "untolerated",
        "taint(s)",
    ] in lines
    assert ["NodeResourcesFit", "passes"] in lines


def test_a_node_that_loses_is_told_by_how_much_and_to_which():
    found = ask(make_pod("p"), *three_nodes(), plugins=[ByName], config=profile("{}"))
    text = printed(found, nodes=[1], width=200)
    assert text.startswith("Pod default/p fits on n2, and loses by 10 points to n3: ByName 20 against 30.\n")
    assert ["ByName", "20", "30"] in [line.split() for line in text.splitlines()]


def test_the_best_node_is_told_what_it_is_ahead_of():
    found = ask(make_pod("p"), *three_nodes(), plugins=[ByName])
    assert printed(found, nodes=[2], width=200).startswith(
        "Pod default/p fits on n3 and would go there, 10 points ahead of n2.\n"
    )


def test_several_nodes_have_a_verdict_each(full):
    text = printed(full, nodes=[0, 1], width=140)
    assert text.startswith("Pod default/p does not fit on n1: cpu is short by 1")
    assert "\nPod default/p does not fit on n2: taint gpu" in text


# --- what else there is to know ---


def test_a_pod_that_is_held_back_is_told_before_the_table():
    text = printed(ask(make_pod("p", spec={"schedulingGates": [{"name": "not-yet"}]}), *three_nodes()), width=200)
    assert text.startswith(
        "Pod default/p is gated by plugin SchedulingGates: waiting for scheduling gates: [not-yet].\n"
    )
    assert "describes an attempt without that: it fits on 3 of 3 nodes and would go to n1." in text
    assert text.index("does not try this pod now") < text.index("TOTAL")
    assert "This lets kube-scheduler try it:" in text


def test_a_nomination_is_told():
    text = printed(ask(make_pod("p", status={"nominatedNodeName": "n2"}), *three_nodes()))
    assert "Nominated to n2: kube-scheduler takes that node if the pod fits there." in text


def test_brackets_in_reasons_are_printed_as_they_are():
    pod = make_pod("p", node_selector={"pool": "[red]x[/red]"})
    assert "[red]x[/red]" in printed(ask(pod, make_node("n1", labels={"pool": "y"})), width=200)


def test_the_queue_is_told_after_the_tables(full):
    text = printed(full, queue="In a full simulation 3 pods are tried before it.")
    assert text.index("OBSTACLES") < text.index("In a full simulation 3 pods")


def test_csv_has_the_ranking_or_the_obstacles(full):
    assert isinstance(explanation_page(full).main_table, Table)
    assert explanation_page(full).main_table.name == "obstacles"
    fits = ask(make_pod("p"), *three_nodes())
    assert explanation_page(fits).main_table.name == "scores"
    assert explanation_page(fits, by_plugin=True).main_table.name == "plugins"
    assert [column.key for column in explanation_page(fits).main_table.columns][:3] == ["node", "nodes", "total"]


def test_csv_has_a_table_for_one_node_and_for_none():
    one = explanation_page(ask(make_pod("p"), make_node("n1")))
    assert one.main_table.name == "scores"
    assert [row[0].text for row in one.main_table.rows] == ["n1"]
    none = explanation_page(ask(make_pod("p"), make_object("Namespace", "default")))
    assert none.main_table.name == "obstacles"
    everywhere = explanation_page(ask(make_pod("p"), make_node("n1", unschedulable=True)), all_nodes=True)
    assert everywhere.main_table.name == "rejections"


GATES = "gated by plugin SchedulingGates: waiting for scheduling gates: [not-yet]"


@pytest.mark.parametrize(
    ("pod", "failure"),
    [
        (
            make_pod("p", requests={"cpu": "2"}),
            "fits on no node; all nodes: cpu is short by 1: requests 2, 1 of 2 free\nfix: FIRST",
        ),
        (
            make_pod("p", spec={"schedulingGates": [{"name": "not-yet"}]}),
            f"held back: {GATES}; fits on 3 of 3 nodes\nfix: FIRST",
        ),
        (make_pod("p"), ""),
        (make_pod("p", node="n1"), ""),
    ],
)
def test_the_check_of_a_pod_is_the_same_in_every_report(pod, failure):
    objects = [*three_nodes(), *(filling(name, cpu="1") for name in ("n1", "n2", "n3")), pod]
    explanation = explain(objects, "default/p", nodes=None)
    with Explainer(objects) as explainer:
        overview = overview_page(answer_of(one, "p", explainer.fixes) for one in explainer.evaluations("default/p"))
    failure = failure.replace("FIRST", str(explanation.fixes[0]) if explanation.fixes else "")
    for page in (explanation_page(explanation), node_page(explanation, [0]), overview):
        assert [(check.group, check.name, check.failure) for check in page.checks] == [("default", "p", failure)]


def test_every_node_and_plugin_can_be_had_as_one_table():
    nodes = (*three_nodes(), make_node("n4", taints=["gpu:NoSchedule"]))
    page = explanation_page(ask(make_pod("p"), *nodes, plugins=[ByName]), every_verdict=True)
    (table,) = [one for one in page.tables if one.name == "verdicts"]
    keys = [column.key for column in table.columns]
    taint, by_name = keys.index("TaintToleration"), keys.index("ByName")
    texts = [[getattr(cell, "text", cell) for cell in row] for row in table.rows]
    assert [(row[0], row[1], row[taint], row[by_name]) for row in texts] == [
        ("n1", "yes", "300", "10"),
        ("n2", "yes", "300", "20"),
        ("n3", "yes", "300", "30"),
        ("n4", "no", "rejects", ""),
    ]
    assert "NodePorts" not in keys
    assert "verdicts" not in [one.name for one in explanation_page(ask(make_pod("p"), *nodes)).tables]
