"""What the formats make of an answer of fit: cases for CI, and a page for people."""

import re
import xml.etree.ElementTree as ET

import pytest

from kubesched.api import UpdateStrategy
from kubesched.framework import Plugin, Status
from kubesched.pages.formats import as_csv, as_html, as_junit, as_markdown, as_text
from kubesched.pages.plans import fit_page
from kubesched.planning import fit
from kubesched.planning import rollout as planning_rollout
from kubesched.testing import make_node, make_pod
from tests.planning.drain_clusters import owned_by
from tests.planning.test_rollout import nodes, running, stream, workload

GROWS = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}


def cases(answer):
    """Name -> the failure, or None, of each JUnit case."""
    suites = ET.fromstring(as_junit(fit_page(answer)))
    assert int(suites.get("tests")) == len(suites.findall(".//testcase"))
    assert int(suites.get("failures")) == len(suites.findall(".//failure"))
    failures = {case.get("name"): case.find("failure") for case in suites.iter("testcase")}
    return {name: one.get("message") if one is not None else None for name, one in failures.items()}


def test_victims_with_long_names_are_one_line_each():
    node = "gke-prod-europe-highmem-87b98bf6-f5tf31d.internal"
    others = [make_node(f"gke-prod-europe-default-{i}.internal", allocatable={"cpu": "1"}) for i in range(2)]
    low = make_pod(
        "recommendation-7abbcf62-00006",
        namespace="platform",
        node=node,
        requests={"cpu": "8"},
        priority=-5,
        metadata=owned_by("ReplicaSet", "recommendation-7abbcf62"),
    )
    answer = fit([make_node(node, allocatable={"cpu": "8", "pods": "9"}), *others, low], {"cpu": "8"})
    assert "- platform/recommendation-7abbcf62-00006   ReplicaSet   highmem-87b98bf6-f5tf31d   default/pod" in as_text(
        fit_page(answer), 100
    )


def test_pool_and_zone_are_columns_only_where_nodes_have_them():
    page = fit_page(fit(nodes(2), {"cpu": "1"}))
    assert "POOL" not in as_text(page, 120)
    zoned = [make_node(f"n{i}", zone="ab"[i]) for i in range(2)]
    shown = as_text(fit_page(fit(zoned, {"cpu": "1"})), 120)
    assert "NODE   PODS   ZONE" in shown


def test_junit_has_a_case_for_each_workload_with_the_name_that_it_has_in_every_run():
    found = cases(fit(nodes(1, cpu="3"), stream(workload(replicas=2, cpu="2"))))
    short = "1 of 2 pods: the only node: cpu is short by 1: requests 2, 1 of 3 free. Fix: add a node like n0 (1 node)."
    assert found == {"Deployment web": short}


def test_a_rollout_that_stops_is_one_failure_in_junit():
    stops = cases(fit([*nodes(4, cpu="1"), *running(4)], stream(workload(**GROWS)), rollout=True))
    stopped = (
        "The rollout of Deployment default/web would stop after 1 step: 4 of 4 old pods would be left. With "
        "maxSurge: 0 and maxUnavailable: 1 it would end, because old pods make way first; "
        "3 pods would run at the lowest point."
    )
    assert stops == {"Deployment web": stopped}
    works = cases(fit([*nodes(4), *running(4)], stream(workload(**GROWS)), rollout=True))
    assert works == {"Deployment web": None}


def test_a_way_out_without_a_running_pod_is_called_an_outage(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(planning_rollout, "_STRATEGIES", {"type: Recreate": UpdateStrategy("Recreate")})
    answer = fit([*nodes(4, cpu="1"), *running(4)], stream(workload(**GROWS)), rollout=True)
    text = " ".join(as_text(fit_page(answer), 120).split())
    assert (
        "With type: Recreate it would end, because old pods make way first; no pod would run in the meantime: "
        "an outage." in text
    )


def test_junit_of_the_largest_number_fails_where_no_pod_fits():
    (why,) = cases(fit(nodes(1), {"cpu": "9"}, maximum=True)).values()
    assert why.startswith("the only node: requests 9 cpu; the whole node has 4. Fix: ")
    assert list(cases(fit(nodes(1), {"cpu": "2"}, maximum=True)).values()) == [None, None]


def test_html_has_the_answer_and_every_table():
    low = make_pod("low", node="n0", requests={"cpu": "3"}, priority=-5)
    pools = [make_node(f"n{i}", labels={"pool": "ab"[i]}, allocatable={"cpu": "4", "pods": "9"}) for i in range(2)]
    html = as_html(fit_page(fit([*pools, low], {"cpu": "3"}, replicas=3)))
    (heading,) = re.findall(r"<h1[^>]*>(.*?)</h1>", html, re.DOTALL)
    assert heading == (
        "2 of 3 would fit; the 3rd: all nodes: cpu is short by 2: requests 3, 1 of 4 free. "
        "Fix: add a node like n0 (1 node)."
    )
    titles = ["By pool", "Where they would go: 2 nodes", "Would stay pending: 1", "Would be evicted to make room: 1"]
    assert [html.index(title) for title in titles] == sorted(html.index(title) for title in titles)
    assert html.index(titles[-1]) < html.index("Nodes: requested of allocatable")
    assert "default/low" in html
    assert "autoscalers and the timing of controllers" in html


def test_with_several_workloads_the_page_says_whose_pods_do_not_fit():
    small, large = workload(replicas=1), workload(kind="StatefulSet", replicas=2, cpu="3")
    large["metadata"]["name"] = "db"
    page = fit_page(fit(nodes(1), stream(small, large)))
    assert "2 of 3 would fit; StatefulSet default/db, 1 of 2: " in page.verdict.text


def of_three_workloads():
    """A Deployment that fits, a StatefulSet that fits in part, and a Pod that does not fit."""
    small, large = workload(replicas=1), workload(kind="StatefulSet", replicas=2, cpu="3")
    large["metadata"]["name"] = "db"
    container = {"name": "c", "image": "i", "resources": {"requests": {"memory": "90Gi"}}}
    alone = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": {"containers": [container]}}
    return fit(nodes(1), stream(small, large, alone))


def test_several_workloads_have_a_row_each():
    answer = of_three_workloads()
    cpu, memory = (f"{one.diagnosis}. Fix: {one.fix.replace(' -> ', ' (')})." for one in answer.placements[2:])
    page = fit_page(answer)
    (table,) = (part for part in page.parts if getattr(part, "name", "") == "workloads")
    assert [column.heading for column in table.columns] == ["WORKLOAD", "PODS", "WOULD FIT", "WHY NOT THE REST"]
    for shown in (as_text(page, 120), as_markdown(page)):
        assert "StatefulSet default/db" in shown.partition("WOULD FIT")[2].partition("Nodes:")[0]
    assert page.document["byWorkload"] == [
        {"workload": "Deployment default/web", "asked": 1, "fit": 1, "why": []},
        {"workload": "StatefulSet default/db", "asked": 2, "fit": 1, "why": [cpu]},
        {"workload": "Pod default/big", "asked": 1, "fit": 0, "why": [memory]},
    ]
    assert "WHY NOT THE REST" in as_html(page)


def test_csv_has_a_row_for_each_pod_of_one_workload_or_several():
    header, web, *db, big = as_csv(fit_page(of_three_workloads())).splitlines()
    assert header == "pod,owner,node,why"
    assert re.fullmatch(r"default/web-\S+,Deployment/web,n0,", web)
    assert db[0] == "default/db-0,StatefulSet/db,n0,"
    assert db[1].startswith('default/db-1,StatefulSet/db,,"the only node: cpu is short by 3: requests 3, ')
    assert big.startswith("default/big,,,the only node: requests 90Gi memory; the whole node has 8Gi. Fix: ")
    assert as_csv(fit_page(fit(nodes(1), {"cpu": "1"}))).splitlines() == [header, "default/pod,,n0,"]


def test_junit_has_a_case_for_each_of_several_workloads():
    found = cases(of_three_workloads())
    assert found["Deployment web"] is None
    assert found["big"].startswith("the only node: requests 90Gi memory; the whole node has 8Gi.")
    assert len(found) == 3


def test_different_reasons_of_one_workload_are_counted():
    small_node = make_node("n9", allocatable={"cpu": "4", "memory": "8Gi", "pods": "0"})
    daemons, small = workload(kind="DaemonSet", cpu="2"), workload(replicas=1, cpu="1m")
    small["metadata"]["name"] = "small"
    busy = make_pod("busy", node="n0", requests={"cpu": "4"})
    page = fit_page(fit([*nodes(2), small_node, busy], stream(daemons, small)))
    (line,) = (one for one in page.document["byWorkload"] if one["workload"] == "DaemonSet default/web")
    assert (line["asked"], line["fit"]) == (3, 1)
    assert sorted(why.partition(": ")[0] for why in line["why"]) == ["1 pod", "1 pod"]
    assert any("its node n9: " in why for why in line["why"])


def test_one_workload_has_no_table_of_workloads():
    page = fit_page(fit(nodes(1), stream(workload(replicas=9))))
    assert not [part for part in page.parts if getattr(part, "name", "") == "workloads" and part.rows]
    (left,) = (part for part in page.parts if getattr(part, "name", "") == "left")
    assert left.rows[0][0] == 5


def test_where_some_pods_of_a_workload_fit_the_next_question_is_about_more_nodes():
    page = fit_page(
        fit(nodes(1), stream(workload(replicas=9))),
        explain="kubesched explain c.json",
        again="kubesched fit c.json -f w.json",
    )
    assert page.next_command == "kubesched fit c.json -f w.json --nodes-like n0"


def test_the_largest_number_is_not_offered_where_there_is_none():
    asked = [workload(kind="DaemonSet"), workload(replicas=1), {**workload(replicas=1), "metadata": {"name": "b"}}]
    for documents in (asked[:1], asked[1:]):
        assert fit_page(fit(nodes(1), stream(*documents)), again="kubesched fit c.json -f w.json").next_command == ""


class Closed(Plugin):
    def pre_enqueue(self, pod):
        return Status.unresolvable("wait for the budget")


class NoTeam(Plugin):
    def pre_filter(self, state, pod, nodes):
        return Status.unresolvable("pod has no team")


class NoPermit(Plugin):
    def permit(self, state, pod, node_name):
        return Status.unschedulable("1 permit says no")


@pytest.mark.parametrize(
    ("plugin", "why"),
    [
        (Closed, "gated by plugin Closed: wait for the budget; fits on 1 of 1 nodes."),
        (NoTeam, "NoTeam: pod has no team."),
        (NoPermit, "plugin NoPermit turns the pod down on n1 (permit): 1 permit says no."),
    ],
)
def test_a_pod_that_is_rejected_outside_of_the_filters_has_the_plugin_s_name(plugin, why):
    page = fit_page(fit([make_node("n1", allocatable={"cpu": "4"})], [make_pod("web")], plugins=[plugin]))
    assert page.verdict.text == f"0 of 1 would fit: {why}"
    assert page.main_table.rows == [["default/web", "", "", why]]
    assert page.checks[0].failure == why
    assert page.document["pods"][0]["plugin"] == plugin.__name__
