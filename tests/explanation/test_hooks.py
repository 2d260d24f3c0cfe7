"""What plugins decide outside of the filters: PreEnqueue, PreFilter, PostFilter, Reserve and Permit."""

import pytest

from kubesched.api import Pod
from kubesched.explanation import Explainer, Explanation, as_document, explain, explanation_page, node_page
from kubesched.framework import Plugin, PreFilterResult, Status, Wait
from kubesched.reports import Level, Page
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, filling, profile

NODES = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
WEB = make_pod("web", requests={"cpu": "1"})
CALLS: list[str] = []


class Gate(Plugin):
    def pre_enqueue(self, pod):
        return Status.unresolvable("gated by Gate")


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
    assert rows(page, "node-0")[0] == ["NoTeam", "rejects for good", "pod has no team"]
    assert as_document(found)["plugins"]["NoTeam"]["preFilter"]["reasons"] == ["pod has no team"]


def test_what_pre_filter_leaves_out_is_a_row_of_its_plugin():
    found = web(OnlyN2)
    told = "node(s) didn't satisfy plugin OnlyN2"
    page = node_page(found, [0])
    assert page.verdict.text == f"Pod default/web does not fit on n1: {told}."
    assert rows(page, "node-0")[0] == ["OnlyN2", "rejects for good", told]
    assert as_document(found)["plugins"]["OnlyN2"] == {"nodes": ["n2"]}
    others = [getattr(part, "text", "") for part in explanation_page(found).parts]
    assert "The other nodes: 1 node(s) didn't satisfy plugin(s) [OnlyN2]." in others
    full = ask(WEB, *NODES, filling("n2", cpu="2"), plugins=[OnlyN2])
    assert ["1", f"OnlyN2: {told}", "n1"] in rows(explanation_page(full), "obstacles")


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


def test_what_pre_enqueue_says_has_the_name_of_the_plugin():
    found = web(Gate)
    assert found.held_back == "gated by Gate"
    assert rows(explanation_page(found), "hooks") == [["Gate", "preEnqueue", "", "gated by Gate"]]


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
    running = make_pod("run", node="n2")
    page = explanation_page(explain([*NODES, running], "default/run", config.encode()))
    assert page.verdict.text == "Pod default/run runs on n2, which is one of 2 nodes that fit; no plugin scores."


def test_plugins_without_objections_have_no_rows():
    assert web().hooks == []
    assert rows(explanation_page(web()), "hooks") == []
