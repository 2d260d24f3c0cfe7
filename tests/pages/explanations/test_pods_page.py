"""The report on several pods."""

import re
from collections.abc import Sequence

from kubesched.api import KubeObject, Pod
from kubesched.explanation import Explainer, answer_of
from kubesched.framework import Plugin, Status
from kubesched.pages.explanations import overview_page
from kubesched.pages.formats import Level, Page
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, filling


def report(objects: Sequence[KubeObject], pods: Sequence[Pod] | None = None, plugins=(), **options) -> Page:
    with Explainer(objects, set_up(None, plugins), nominations=False) as explainer:
        chosen = explainer.pending if pods is None else pods
        explained = explainer.evaluations(chosen, preempt=False)
        answers = (answer_of(one, one.pod.name.rpartition("-")[0]) for one in explained)
        return overview_page(answers, foreign=explainer.foreign, **options)


def fixed(objects: Sequence[KubeObject], plugins=()) -> Page:
    """A report with fixes."""
    with Explainer(objects, set_up(None, plugins)) as explainer:
        answers = (answer_of(one, one.pod.name, explainer.fixes) for one in explainer.evaluations(explainer.pending))
        return overview_page(answers)


def rows(page: Page, table: str) -> list[list[str]]:
    (one,) = [one for one in page.tables if one.name == table]
    return [[getattr(cell, "text", str(cell)) for cell in row] for row in one.rows]


def big(name: str, **more) -> Pod:
    return make_pod(name, requests={"cpu": "9"}, **more)


NODE = make_node("n1", allocatable=SMALL)


def test_pods_of_one_workload_with_one_cause_share_a_row():
    page = report([NODE, big("db-0"), big("db-1"), make_pod("web-0"), make_pod("web-1")])
    assert page.verdict.text == "4 pending pods: 2 fit nowhere, 2 fit."
    assert rows(page, "groups") == [
        [
            "2",
            "no node",
            "db",
            "the only node: requests 9 cpu; the whole node has 2",
            "default/db-0",
            "0/1 nodes are available: 1 Insufficient cpu.",
        ]
    ]
    assert rows(page, "fits") == [["2", "web", "1", "n1"]]


def test_pods_of_one_workload_with_two_causes_have_two_rows():
    page = report([NODE, big("db-0"), make_pod("db-1", node_selector={"disk": "ssd"})])
    assert [row[3] for row in rows(page, "groups")] == [
        "the only node: requests 9 cpu; the whole node has 2",
        "the only node: label disk is absent, wanted: 'ssd'",
    ]


def test_the_row_of_the_nodes_that_are_nearest_is_the_cause():
    nodes = [make_node("n1", taints=["a:NoSchedule"], unschedulable=True), make_node("n2", taints=["a:NoSchedule"])]
    page = report([*nodes, make_pod("web-0")])
    assert rows(page, "groups")[0][3] == "1 node: taint a:NoSchedule is not tolerated"


def test_the_best_fix_follows_and_the_cause_is_that_of_the_nodes_that_it_opens():
    nodes = [make_node("n1", labels={"pool": "a"}), make_node("n2", labels={"pool": "db"}, taints=["db:NoSchedule"])]
    page = fixed([*nodes, make_pod("web-0", node_selector={"pool": "db"})])
    assert (
        rows(page, "groups")[0][3]
        == "1 node: taint db:NoSchedule is not tolerated\nfix: tolerate db:NoSchedule -> 1 node"
    )


class NotOnN2(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("not here") if node.name == "n2" else Status.SUCCESS


def test_with_one_more_node_the_cause_is_that_of_the_nodes_like_it():
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    page = fixed([*nodes, filling("n1", cpu="2"), make_pod("web-0", requests={"cpu": "1"})], [NotOnN2])
    assert rows(page, "groups")[0][3].splitlines() == [
        "1 node: cpu is short by 1: requests 1, 0 of 2 free",
        "fix: add a node like n1 -> 1 node",
    ]


def test_the_node_of_a_pod_that_fits_has_the_same_words_as_in_its_own_report():
    (fits,) = [table for table in report([NODE, make_pod("web-0")]).tables if table.name == "fits"]
    assert [column.heading for column in fits.columns][-1] == "WOULD GO TO"


def test_a_claim_that_does_not_exist_is_the_cause_once():
    spec = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
    (row,) = rows(report([NODE, make_pod("db-0", spec=spec)]), "pods")
    assert row[3] == "claim default/data does not exist"


def test_pods_that_are_held_back_come_after_those_without_a_node():
    gated = make_pod("job-0", priority=9, spec={"schedulingGates": [{"name": "not-yet"}]})
    page = report([NODE, gated, big("db-0")])
    assert [row[1] for row in rows(page, "groups")] == ["no node", "held back"]
    assert (
        rows(page, "groups")[1][3]
        == "gated by plugin SchedulingGates: waiting for scheduling gates: [not-yet]; fits on 1 of 1 nodes"
    )


class Fails(Plugin):
    def filter(self, state, pod, node):
        raise KeyError("x")


def test_a_plugin_that_fails_is_first_and_has_no_cause_of_ours():
    page = report([NODE, make_pod("web-0")], plugins=[Fails])
    assert page.verdict.text == "1 pending pod: 1 failed."
    state, workload, why = rows(page, "groups")[0][1:4]
    assert (state, workload) == ("failed", "web")
    fault = "running \"Fails\" filter plugin: KeyError: 'x'"
    assert re.fullmatch(re.escape(fault) + r" \(test_pods_page\.py:\d+ in filter\)", why)


def test_running_pods_are_explained_as_if_they_were_not_there_and_are_there_for_the_next():
    first, second = filling("n1", cpu="1"), make_pod("b-0", node="n1", requests={"cpu": "1"})
    page = report([NODE, first, second], [first, second], what="chosen")
    assert page.verdict.text == "2 chosen pods: 2 running, none pending."
    assert all("runs on n1, rank 1 of 1 nodes that fit, with" in row[3] for row in rows(page, "groups"))
    assert not any(row[3].endswith(".") for row in rows(page, "groups"))
    with Explainer([NODE, first, second], set_up()) as explainer:
        assert [one.fits for one in explainer.each([first, second])] == [True, True]
        assert not explainer.explain(make_pod("c-0", requests={"cpu": "500m"})).fits


def test_running_pods_with_the_same_answer_share_a_row():
    pods = [make_pod(f"web-{i}", node="n1") for i in range(2)]
    page = report([NODE, *pods], pods, what="chosen")
    assert [(row[0], row[3]) for row in rows(page, "groups")] == [("2", "run on n1")]
    assert [row[0] for row in rows(page, "pods")] == ["default/web-0", "default/web-1"]


def test_running_pods_of_a_workload_are_said_to_run_and_have_their_node_each():
    pods = [make_pod(f"db-{i}", node=f"n{i}") for i in (1, 2)]
    page = report([NODE, make_node("n2", allocatable=SMALL), *pods], pods, what="chosen")
    assert [row[3] for row in rows(page, "groups")] == ["run on n1, n2"]
    assert [(row[0], row[3].split(",")[0]) for row in rows(page, "pods")] == [
        ("default/db-1", "runs on n1"),
        ("default/db-2", "runs on n2"),
    ]


def test_a_running_pod_that_would_not_come_back_has_a_row_of_its_own():
    pods = [make_pod(f"web-{name}", node=name) for name in ("n1", "n2")]
    closed = make_node("n2", allocatable=SMALL, unschedulable=True)
    said = [row[3] for row in rows(report([NODE, closed, *pods], pods, what="chosen"), "groups")]
    assert len(said) == 2
    assert any("where it does not fit now: the node is cordoned" in text for text in said)


def test_pods_of_other_schedulers_are_counted():
    foreign = make_pod("a-0", spec={"schedulerName": "volcano"})
    page = report([NODE, foreign])
    why = "for the scheduler volcano, which no profile serves; add a profile with --config."
    assert (page.verdict.text, page.verdict.level) == (f"1 pending pod is {why}", Level.WARNING)
    second = make_pod("a-1", spec={"schedulerName": "volcano"})
    assert report([NODE, foreign, second], what="chosen").verdict.text == f"2 chosen pods are {why}"
    page = report([NODE, foreign, make_pod("b-0")])
    assert page.verdict.text == "1 pending pod: 1 fits."
    assert "1 more pod is for schedulers that no profile of the configuration serves: default/a-0 (volcano)." in [
        getattr(part, "text", "") for part in page.parts
    ]


def test_the_lines_are_the_document_too():
    lines = [{"pod": "default/web-0"}]
    page = report([NODE, make_pod("web-0")], lines=lines)
    assert (page.lines, page.document) == (lines, {"pods": lines})


def test_the_next_command_explains_the_first_pod_of_the_first_row():
    page = report([NODE, make_pod("web-0"), big("db-0")], again="kubesched explain x.json")
    assert page.next_command == "kubesched explain x.json default/db-0"


def test_csv_has_every_pod():
    page = report([NODE, big("db-0"), big("db-1"), make_pod("web-0")])
    assert page.main_table.name == "pods"
    why = "the only node: requests 9 cpu; the whole node has 2"
    message = "0/1 nodes are available: 1 Insufficient cpu."
    assert rows(page, "pods") == [
        ["default/db-0", "db", "no node", why, "", "", "0", message],
        ["default/db-1", "db", "no node", why, "", "", "0", message],
        ["default/web-0", "web", "fits", "fits on 1 of 1 nodes", "", "n1", "1", ""],
    ]


def test_a_pod_that_makes_room_for_itself_names_its_victims_and_what_avoids_that():
    objects = [NODE, filling("n1", cpu="2"), make_pod("web-0", requests={"cpu": "1"}, priority=9)]
    page = fixed(objects)
    assert page.verdict.text == "1 pending pod: 1 would preempt others."
    evicts = "Preemption would make room on n1 by evicting default/on-n1"
    assert rows(page, "groups")[0][1:4] == [
        "preempts",
        "web-0",
        f"{evicts} (priority 0, then lost)\nfix: add a node like n1 -> 1 node",
    ]


def test_a_check_holds_for_a_pod_that_fits():
    checks = report([NODE, make_pod("web-0"), big("db-0")]).checks
    assert [(check.group, check.name, bool(check.failure)) for check in checks] == [
        ("default", "db-0", True),
        ("default", "web-0", False),
    ]


def test_a_row_alone_has_the_table_of_all_fixes():
    page = fixed([make_node("n1", taints=["db:NoSchedule"]), make_pod("p")])
    assert [row[0] for row in rows(page, "fixes")] == ["tolerate db:NoSchedule", "remove taint db:NoSchedule from n1"]
    assert page.appendix[0].text == "p, 1 pod: tolerate db:NoSchedule -> 1 node"
    assert "kubectl patch pod p " in page.appendix[1].text


def test_the_fixes_of_several_rows_are_shown_for_pods_that_were_asked_about():
    objects = [NODE, make_pod("p-0", node_selector={"a": "b"}), make_pod("q-0", requests={"cpu": "9"})]
    tables = {}
    for what in ("pending", "chosen"):
        with Explainer(objects) as explainer:
            explained = explainer.evaluations(explainer.pending)
            page = overview_page((answer_of(one, one.pod.name, explainer.fixes) for one in explained), what=what)
        tables[what] = [(table.name, table.title) for table in page.tables if table.name.startswith("fixes")]
    assert tables == {
        "pending": [],
        "chosen": [
            ("fixes", "Any one of these makes a pod of p-0 fit:"),
            ("fixes2", "Any one of these makes a pod of q-0 fit:"),
        ],
    }
