"""What plugins decide outside of the filters: PreEnqueue, PreFilter, PostFilter, Reserve and Permit."""

import csv
import io
import xml.etree.ElementTree as ET

import msgspec
import pytest

from kubesched.api import Pod
from kubesched.explanation import Explainer, Explanation, PodAnswer, answer_of, explain
from kubesched.framework import Plugin, PreFilterResult, Status, Wait
from kubesched.pages.explanations import as_document, explanation_page, node_page, overview_page
from kubesched.pages.formats import Check, Level, Page, as_csv, as_junit
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, evaluated, filling, profile

NODES = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
WEB = make_pod("web", requests={"cpu": "1"})
CALLS: list[str] = []


class Gate(Plugin):
    def pre_enqueue(self, pod):
        return Status.unresolvable("wait for the budget")


class NoTeam(Plugin):
    def pre_filter(self, state, pod, nodes):
        return Status.SUCCESS if "team" in pod.labels else Status.unresolvable("pod has no team")


class OnlyN2(Plugin):
    def pre_filter(self, state, pod, nodes):
        return PreFilterResult(frozenset({"n2"}))


class NoRoom(Plugin):
    def post_filter(self, state, pod, diagnosis):
        return None, Status.unschedulable("post filter of mine")


class NoReserve(Plugin):
    def reserve(self, state, pod, node_name):
        return Status.unschedulable("nothing to reserve")


class NoPermit(Plugin):
    def reserve(self, state, pod, node_name):
        CALLS.append(f"reserve {node_name}")
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        CALLS.append(f"unreserve {node_name}")

    def permit(self, state, pod, node_name):
        return Status.unschedulable("permit says no")


class Gang(Plugin):
    def permit(self, state, pod, node_name):
        return Wait(30)


class FailsInPermit(Plugin):
    def permit(self, state, pod, node_name):
        raise KeyError("q")


def web(*plugins: type[Plugin], pod: Pod = WEB) -> Explanation:
    return ask(pod, *NODES, plugins=plugins)


def answer(*plugins: type[Plugin], pod: Pod = WEB) -> PodAnswer:
    return answer_of(evaluated(pod, *NODES, plugins=plugins), pod.name)


def rows(page: Page, name: str) -> list[list[str]]:
    return [
        [getattr(cell, "text", str(cell)) for cell in row]
        for table in page.tables
        if table.name == name
        for row in table.rows
    ]


def test_what_pre_filter_rejects_is_a_row_of_its_plugin():
    found = web(NoTeam)
    assert rows(explanation_page(found), "obstacles") == [["2", "NoTeam: pod has no team", "n1"]]
    assert rows(explanation_page(found, by_plugin=True), "plugins")[0][:1] == ["NoTeam"]
    page = node_page(found, [0])
    assert page.verdict.text == "Pod default/web does not fit on n1: pod has no team."
    assert rows(page, "node-0")[0] == ["NoTeam", "rejects (eviction cannot help)", "pod has no team"]
    assert as_document(found)["plugins"]["NoTeam"]["preFilter"]["reasons"] == ["pod has no team"]


def test_what_pre_filter_leaves_out_is_a_row_of_its_plugin():
    found = web(OnlyN2)
    told = "node(s) didn't satisfy plugin OnlyN2"
    page = node_page(found, [0])
    assert page.verdict.text == f"Pod default/web does not fit on n1: {told}."
    assert rows(page, "node-0")[0] == ["OnlyN2", "rejects (eviction cannot help)", told]
    assert as_document(found)["plugins"]["OnlyN2"] == {"nodes": ["n2"]}
    others = [getattr(part, "text", "") for part in explanation_page(found).parts]
    assert "The other nodes: 1 node(s) didn't satisfy plugin(s) [OnlyN2]." in others
    full = ask(WEB, *NODES, filling("n2", cpu="2"), plugins=[OnlyN2])
    assert ["1", f"OnlyN2: {told}", "n1"] in rows(explanation_page(full), "obstacles")


def test_the_overview_and_the_checks_name_the_plugin_whose_pre_filter_rejects():
    found = web(NoTeam)
    overview = overview_page([answer(NoTeam)])
    assert rows(overview, "groups")[0][3] == rows(overview, "pods")[0][3] == "NoTeam: pod has no team"
    for page in (overview, explanation_page(found), node_page(found, [0])):
        assert page.checks[0].failure == "fits on no node; NoTeam: pod has no team"


def test_every_report_on_a_pod_that_fits_names_the_plugin_whose_pre_filter_leaves_nodes_out():
    found = web(OnlyN2)
    left_out = "1 node(s) didn't satisfy plugin(s) [OnlyN2]"
    overview = overview_page([answer(OnlyN2)])
    assert rows(overview, "fits") == [["1", "web", "1", "n2", left_out]]
    assert rows(overview, "pods")[0][3] == f"fits on 1 of 2 nodes; {left_out}"
    page = explanation_page(found)
    for one in (overview, page, node_page(found, [0])):
        assert one.checks[0] == Check("default", "web", note=f"fits on 1 of 2 nodes; {left_out}")
    assert ET.fromstring(as_junit(page)).find(".//testcase/system-out").text == f"fits on 1 of 2 nodes; {left_out}"
    told = "OnlyN2: node(s) didn't satisfy plugin OnlyN2"
    for every in (page, explanation_page(found, all_nodes=True)):
        fits, other = csv.DictReader(io.StringIO(as_csv(every)))
        assert (fits["node"], fits["obstacles"]) == ("n2", "")
        assert (other["node"], other["nodes"], other["total"], other["obstacles"]) == ("n1", "1", "", told)


def test_nodes_that_pre_filter_leaves_out_are_named_beside_the_nearest_obstacle():
    big = make_pod("big", requests={"cpu": "9"})
    why = "1 node: requests 9 cpu; the whole node has 2; 1 node(s) didn't satisfy plugin(s) [OnlyN2]"
    assert explanation_page(web(OnlyN2, pod=big)).checks[0].failure.partition("\n")[0] == f"fits on no node; {why}"
    assert rows(overview_page([answer(OnlyN2, pod=big)]), "groups")[0][3].splitlines()[0] == why


def test_pods_that_fit_without_a_pre_filter_have_no_note():
    overview = overview_page([answer()])
    assert rows(overview, "fits") == [["1", "web", "2", "n1"]]
    assert overview.checks == [Check("default", "web")]


def test_by_plugin_says_how_many_nodes_pre_filter_leaves_out():
    page = explanation_page(web(OnlyN2), by_plugin=True)
    assert rows(page, "plugins")[0] == ["OnlyN2", "1", "leaves out 1 node (before looking at nodes)"]
    found = ask(WEB, *NODES, make_node("n3", allocatable=SMALL), plugins=[OnlyN2])
    told = "leaves out 2 nodes (before looking at nodes)"
    assert rows(explanation_page(found, by_plugin=True), "plugins")[0] == ["OnlyN2", "2", told]


def test_a_pre_filter_without_an_objection_has_no_row():
    assert "NoTeam" not in web(NoTeam, pod=make_pod("web", labels={"team": "red"})).by_plugin


@pytest.mark.parametrize(
    ("plugin", "point", "why"), [(NoReserve, "reserve", "nothing to reserve"), (NoPermit, "permit", "permit says no")]
)
def test_a_pod_that_is_turned_down_after_the_filters(plugin, point, why):
    found = web(plugin)
    page = explanation_page(found)
    words = f"plugin {plugin.__name__} turns the pod down on n1 ({point}): {why}"
    assert page.verdict.text == f"Pod default/web fits on 2 of 2 nodes, but {words}."
    assert page.verdict.level is Level.BAD
    assert page.checks[0].failure == words
    assert page.main_table.name == "hooks"
    assert rows(page, "hooks") == [[plugin.__name__, point, "n1", why]]
    assert found.message == why
    (hook,) = as_document(found)["hooks"]
    assert hook == {
        "plugin": plugin.__name__,
        "point": point,
        "node": "n1",
        "code": "Unschedulable",
        "reasons": [why],
    }


def test_the_page_of_a_node_does_not_promise_it_to_a_pod_that_is_turned_down():
    page = node_page(web(NoPermit), [0])
    assert page.verdict.text == (
        "Pod default/web fits on n1, but plugin NoPermit turns the pod down on n1 (permit): permit says no."
    )
    assert page.verdict.level is Level.BAD


def test_a_running_pod_that_a_new_decision_would_turn_down():
    page = explanation_page(web(NoPermit, pod=make_pod("web", node="n1")))
    assert page.verdict.text == (
        "Pod default/web runs on n1; a new decision fails: "
        "plugin NoPermit turns the pod down on n1 (permit): permit says no."
    )


def test_what_was_taken_is_given_back():
    CALLS.clear()
    with Explainer([*NODES, WEB], plugins=[NoPermit]) as explainer:
        for _ in range(2):
            assert explainer.explain("default/web").turned_down is not None
        columns = explainer.cluster_state.columns
        assert (int(columns.n_pods.sum()), int(columns.requested.sum())) == (0, 0)
        assert not explainer.cluster_state.is_assumed(WEB)
    assert CALLS == ["reserve n1", "unreserve n1"] * 2


def test_a_pod_that_waits_in_permit():
    found = web(Gang)
    page = explanation_page(found)
    assert page.verdict.text == (
        "Pod default/web fits on 2 of 2 nodes and would go to n1, where it waits up to 30 s for Gang (permit)."
    )
    assert rows(page, "hooks") == [["Gang", "permit", "n1", "waits up to 30 s"]]
    assert as_document(found)["hooks"][0]["code"] == "Wait"


def test_a_fault_in_permit_ends_the_attempt():
    found = web(FailsInPermit)
    assert found.failure is not None
    assert "a plugin failed, so no node is chosen" in explanation_page(found).verdict.text


def test_a_pod_that_pre_enqueue_gates_is_headed_as_gated_by_its_plugin():
    found = web(Gate)
    page = explanation_page(found)
    words = "gated by plugin Gate: wait for the budget"
    assert (page.verdict.text, page.verdict.level) == (f"Pod default/web is {words}.", Level.WARNING)
    attempt = "The rest describes an attempt without that: it fits on 2 of 2 nodes and would go to n1."
    assert f"kube-scheduler does not try this pod now. {attempt}" in [getattr(part, "text", "") for part in page.parts]
    assert page.main_table.name == "hooks"
    assert rows(page, "hooks") == [["Gate", "preEnqueue", "", "wait for the budget"]]
    assert page.checks[0].failure == f"held back: {words}; fits on 2 of 2 nodes"
    document = as_document(found)
    assert (document["heldBack"], document["hooks"][0]["plugin"]) == ("wait for the budget", "Gate")
    overview = overview_page([answer(Gate)])
    assert rows(overview, "pods")[0][2:4] == ["held back", f"{words}; fits on 2 of 2 nodes"]
    assert overview.checks == [Check("default", "web", page.checks[0].failure)]
    assert node_page(found, [1]).verdict.text == f"Pod default/web fits on n2, but is {words}."


def test_what_an_attempt_for_a_gated_pod_that_fits_nowhere_would_find():
    page = explanation_page(web(Gate, pod=make_pod("big", requests={"cpu": "9"})))
    assert page.verdict.text == "Pod default/big is gated by plugin Gate: wait for the budget."
    assert any("without that: it fits on none of 2 nodes." in getattr(part, "text", "") for part in page.parts)


def test_a_gated_pod_with_another_verdict_has_the_gate_below_it():
    found = web(Gate)
    page = explanation_page(msgspec.structs.replace(found, refused="exceeded quota: pods"))
    assert page.verdict.text == "Pod default/web would not be created: exceeded quota: pods."
    said = "kube-scheduler does not try this pod now: gated by plugin Gate: wait for the budget."
    assert any(getattr(part, "text", "").startswith(said) for part in page.parts)


class Unknown(Plugin):
    def pre_filter(self, state, pod, nodes):
        return Status.undecided("its devices are not known")


def test_a_gated_pod_about_which_kubesched_cannot_decide():
    page = explanation_page(web(Gate, Unknown))
    assert page.verdict.text == "Pod default/web is gated by plugin Gate: wait for the budget."
    said = "attempt without that. Kubesched cannot tell where pod default/web fits: its devices are not known."
    assert any(getattr(part, "text", "").endswith(said) for part in page.parts)


def test_a_pod_that_is_being_deleted_is_not_promised_a_node():
    page = explanation_page(web(pod=make_pod("old", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})))
    assert page.verdict.text == "Pod default/old is being deleted."


def test_a_running_pod_that_would_be_gated_now():
    page = explanation_page(web(Gate, pod=make_pod("web", node="n1")))
    assert page.verdict.text == (
        "Pod default/web runs on n1; a new pod would be gated by plugin Gate: wait for the budget."
    )


def test_what_post_filter_says_has_the_name_of_the_plugin_and_is_not_preemption():
    page = explanation_page(web(NoRoom, pod=make_pod("big", requests={"cpu": "9"})))
    assert rows(page, "hooks") == [["NoRoom", "postFilter", "", "post filter of mine"]]
    (preemption,) = [part.text for part in page.parts if "Preemption" in getattr(part, "text", "")]
    assert "post filter of mine" not in preemption


def test_without_a_score_plugin_nothing_is_said_of_comparing_nodes():
    config = profile("{score: {disabled: [{name: '*'}]}}")
    found = ask(WEB, *NODES, config=config)
    page = explanation_page(found)
    texts = [getattr(part, "text", "") for part in page.parts]
    assert "No plugin scores in this profile: kube-scheduler takes the first node that it finds to fit." in texts
    assert not any("compare" in text or "highest total" in text for text in texts)
    assert node_page(found, [1]).verdict.text == "Pod default/web fits on n2; no plugin scores in this profile."
    documents = [as_document(found), node_page(found, [1]).document["asked"][0]]
    assert not {"choice", "defaultSample", "scores"} & documents[0].keys()
    assert not {"total", "scores"} & documents[1].keys()
    every = explanation_page(found, every_verdict=True)
    (verdicts,) = (table for table in every.tables if table.name == "verdicts")
    assert "total" not in {column.key for column in verdicts.columns}
    running = make_pod("run", node="n2")
    assert as_document(explain([*NODES, running], "default/run", config.encode()))["runsOn"] == {"node": "n2"}
    page = explanation_page(explain([*NODES, running], "default/run", config.encode()))
    assert page.verdict.text == "Pod default/run runs on n2, which is one of 2 nodes that fit; no plugin scores."


def test_plugins_without_objections_have_no_rows():
    assert web().hooks == []
    assert rows(explanation_page(web()), "hooks") == []
