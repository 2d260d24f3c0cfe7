"""The pages of drain, as they are read."""

import io
import xml.etree.ElementTree as ET

from rich.console import Console

from kubesched import Drain, Drainer, drain
from kubesched.api import KubeObject
from kubesched.pages.formats import Page, as_csv, as_html, as_junit, print_page
from kubesched.pages.plans import drain_page, each_page, most_page
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.planning.drain_clusters import budget, owned_by

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}


def cluster(n_nodes: int = 3) -> list[KubeObject]:
    """A pod of every fate on n1, and n2 and n3 with room."""
    web, tmp = owned_by("ReplicaSet", "web"), {"volumes": [{"name": "tmp", "emptyDir": {}}]}
    one = {"cpu": "500m"}
    return [
        *(make_node(f"n{i}", allocatable=ROOM) for i in range(1, n_nodes + 1)),
        make_pod("web-1", node="n1", labels={"app": "web"}, requests=one, metadata=web, spec=tmp),
        make_pod("web-2", node="n1", labels={"app": "web"}, requests=one, metadata=web),
        budget("web", "web", 1),
        make_pod("db-0", node="n1", labels={"app": "db"}, requests=one, metadata=owned_by("StatefulSet", "db")),
        budget("db", "db", 0),
        make_pod("big", node="n1", requests={"cpu": "5"}, metadata=owned_by("ReplicaSet", "big")),
        make_pod("alone", node="n1"),
        make_pod("agent", node="n1", metadata=owned_by("DaemonSet", "agent")),
        make_pod("static", node="n1", metadata=owned_by("Node", "n1")),
        make_pod("done", node="n1", metadata=owned_by("Job", "done"), status={"phase": "Succeeded"}),
    ]


def text(page: Page, *, wide: bool = False) -> str:
    file = io.StringIO()
    print_page(page, Console(file=file, width=160, markup=False, emoji=False, highlight=False), wide=wide)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def everything() -> Drain:
    return drain(cluster(), ["n1"])


def test_the_verdict_counts_every_fate():
    assert drain_page(everything()).verdict.text == (
        "Draining n1 breaks 3 of 5 pods: 1 would stay pending, 1 would never be evicted, 1 would be lost."
    )


def test_pods_that_would_be_lost_are_saved_first():
    alone = [make_pod(name, namespace=space, node="n1") for name, space in (("a", "ci"), ("b", "ci"), ("c", "dev"))]
    page = drain_page(drain([*cluster()[:3], *alone], ["n1"]))
    assert page.verdict.text == "Draining n1 breaks all 3 pods, which would be lost."
    assert page.next_command == (
        "kubectl get pod -n ci a b -o yaml > lost-ci.yaml && kubectl get pod -n dev c -o yaml > lost-dev.yaml"
    )


def test_a_drain_without_harm_ends_with_the_kubectl_command():
    objects = [one for one in cluster() if one.name not in ("db-0", "big", "alone")]
    page = drain_page(drain(objects, ["n1"]))
    assert page.verdict.text == (
        "n1 could be drained: all 2 pods would run elsewhere, in 2 steps. "
        "What is in emptyDir volumes of 1 pod would be lost."
    )
    assert page.next_command == "kubectl drain n1 --ignore-daemonsets --delete-emptydir-data"


def test_a_budget_that_blocks_the_drain_is_shown_next():
    objects = [one for one in cluster() if one.name not in ("big", "alone")]
    assert drain_page(drain(objects, ["n1"])).next_command == "kubectl describe poddisruptionbudget -n default db"


def test_a_pod_that_stays_pending_leads_to_its_explanation():
    page = drain_page(everything(), explain="kubesched explain after.json")
    assert page.next_command == "kubesched explain after.json --pod default/big"


def test_the_tables_name_who_moves_waits_is_held_up_and_lost():
    shown = text(drain_page(everything()))
    for line in (
        "2   + ReplicaSet default/web   n2, n3   1 to 2",
        "1   ReplicaSet default/big   2 nodes: requests 5 cpu; the whole node has 4",
        "default/web      2             1   allows the evictions in 2 steps",
        "default/db       1             0   blocks 1 pod: it allows no eviction",
        "1   default/alone            the pod: no controller would create it again   --force",
        "1   ReplicaSet default/web   data in emptyDir volumes",
        "1 pod would stay, because a DaemonSet runs it there. 1 pod is static and would stay. 1 pod has finished.",
    ):
        assert line in shown, f"{line}\n\n{shown}"


def test_data_of_a_pod_that_is_never_evicted_is_not_deleted():
    tmp = {"volumes": [{"name": "tmp", "emptyDir": {}}]}
    nodes = [make_node(f"n{i}", allocatable=ROOM) for i in (1, 2)]
    db = make_pod("db-0", node="n1", labels={"app": "db"}, metadata=owned_by("StatefulSet", "db"), spec=tmp)
    web = make_pod("web-1", node="n1", metadata=owned_by("ReplicaSet", "web"), spec=tmp)
    shown = text(drain_page(drain([*nodes, db, web, budget("db", "db", 0)], ["n1"])))
    assert "Would be lost, because nothing re-creates it" in shown
    assert "1   ReplicaSet default/web   data in emptyDir volumes   --delete-emptydir-data" in shown
    assert "data in" not in text(drain_page(drain([*nodes, db, budget("db", "db", 0)], ["n1"])))


def test_csv_has_a_line_for_each_pod():
    lines = as_csv(drain_page(everything())).splitlines()
    assert len(lines) == 1 + 8
    assert "default/web-1,ReplicaSet/web,n1,moves,n2,1,,," in lines


def test_json_names_the_fate_of_each_pod():
    document = drain_page(everything()).document
    assert document["canGo"] is False
    assert {pod["pod"]: pod["fate"] for pod in document["pods"]}["default/db-0"] == "blocked"
    assert document["summary"] == {
        "moves": 2,
        "pending": 1,
        "notKnown": 0,
        "otherScheduler": 0,
        "blocked": 1,
        "lost": 1,
        "mayBeLost": 0,
        "hangs": 0,
        "gone": 1,
        "returns": 0,
        "stays": 2,
        "stillPending": 0,
    }


def test_each_lists_the_nodes_that_could_go_first():
    with Drainer(cluster(), set_up()) as drainer:
        page = each_page(list(drainer.each()))
    assert page.verdict.text == "2 of 3 nodes could be drained, each alone."
    assert [line["node"] for line in page.lines] == ["n1", "n2", "n3"]
    shown = text(page)
    assert shown.index(" n2 ") < shown.index(" n1 ")
    assert "1 pending: ReplicaSet default/big; 1 blocked: StatefulSet default/db; 1 lost: default/alone" in shown


def test_most_names_the_set_and_says_that_it_was_found_by_search():
    with Drainer(cluster(), set_up()) as drainer:
        page = most_page(drainer.most(), 3)
    assert page.verdict.text == "Found 2 of 3 nodes that could be drained together. A larger set may exist."
    assert page.next_command == "kubectl drain n2 n3"


def test_a_set_of_one_node_is_one_node():
    with Drainer([make_node("n1", allocatable=ROOM)], set_up()) as drainer:
        page = most_page(drainer.most(), 1)
    assert page.main_table.title == "The set: 1 node"
    assert page.verdict.text == "The only node could be drained."


def test_where_no_node_could_go_no_set_was_found():
    objects = [make_node("n1", allocatable=ROOM), make_node("n2", allocatable=ROOM)]
    objects += [make_pod("alone", node="n1"), make_pod("single", node="n2")]
    with Drainer(objects, set_up()) as drainer:
        page = most_page(drainer.most(), 2)
    assert page.verdict.text == "None of 2 nodes could be drained."
    assert page.next_command == ""


def test_pods_with_one_fate_are_all_pods():
    stuck = make_pod("big", node="n1", requests={"cpu": "4"}, metadata=owned_by("ReplicaSet", "big"))
    nodes = [make_node(f"n{i}", allocatable=ROOM) for i in (1, 2)]
    (alone, both) = (drain_page(drain([*nodes, stuck], names)).verdict.text for names in (["n1"], ["n1", "n2"]))
    assert alone == "n1 could be drained: its only pod would run elsewhere."
    assert both == "Draining 2 nodes breaks their only pod, which would stay pending."


def test_room_that_is_made_elsewhere_is_the_harm():
    low = make_pod("low", node="n2", requests={"cpu": "4"}, priority=1)
    high = [
        make_pod(f"high-{i}", node="n1", requests={"cpu": "2"}, priority=9, metadata=owned_by("ReplicaSet", "high"))
        for i in range(2)
    ]
    nodes = [make_node(f"n{i}", allocatable=ROOM) for i in (1, 2)]
    assert drain_page(drain([*nodes, low, *high], ["n1"])).verdict.text == (
        "Draining n1 evicts 1 pod of other nodes to make room."
    )


def test_html_has_a_heat_map_of_all_nodes_before_and_after():
    page = as_html(drain_page(everything()))
    assert '<th scope="col">BEFORE</th><th scope="col">AFTER</th>' in page
    assert page.count("<i class=h") == 3 * 2 * 3  # cpu, memory and pods, before and after, of three nodes
    assert 'title="n2: 0% -&gt; 12%"' in page


def test_junit_has_a_case_for_each_workload_of_a_drain():
    suites = ET.fromstring(as_junit(drain_page(everything())))
    failed = {case.get("name"): case[0].get("message") for case in suites.iter("testcase") if len(case)}
    assert suites.get("tests") == "7"
    assert {name: str(why)[:24] for name, why in failed.items()} == {
        "StatefulSet db": "disruption budget defaul",
        "ReplicaSet big": "2 nodes: requests 5 cpu;",
        "alone": "no controller would crea",
    }


def test_junit_has_a_case_for_each_node_that_is_tried():
    with Drainer(cluster(), set_up()) as drainer:
        suites = ET.fromstring(as_junit(each_page(list(drainer.each()))))
    assert [(case.get("name"), len(case)) for case in suites.iter("testcase")] == [("n1", 1), ("n2", 0), ("n3", 0)]


def test_junit_fails_where_no_set_of_nodes_could_go():
    with Drainer([make_node("n1", allocatable=ROOM), make_pod("alone", node="n1")], set_up()) as drainer:
        suites = ET.fromstring(as_junit(most_page(drainer.most(), 1)))
    assert (suites.get("tests"), suites.get("failures")) == ("1", "1")


def test_every_report_says_what_is_not_modelled():
    assert any("Not modelled" in limit for limit in drain_page(everything()).limits)


def with_pending_pods() -> list[KubeObject]:
    """n1 runs a pod that moves, and gets a pending pod that fits there alone; another pending pod fits nowhere."""
    here = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    web = owned_by("ReplicaSet", "web")
    return [
        *(make_node(f"n{i}", allocatable=ROOM) for i in range(1, 3)),
        make_pod("web-1", node="n1", requests={"cpu": "1"}, metadata=web),
        make_pod("pinned-1", requests={"cpu": "1"}, metadata=owned_by("ReplicaSet", "pinned"), spec=here),
        make_pod("huge-1", requests={"cpu": "9"}, metadata=owned_by("ReplicaSet", "huge")),
    ]


FIRST = "Pending pods are placed first: 1 would get a node, 1 would stay pending."


def test_a_pod_that_is_pending_already_is_shown_and_prevents_nothing():
    page = drain_page(drain(with_pending_pods(), ["n1"]), explain="kubesched explain after.json")
    assert page.verdict.text == (
        "n1 could be drained: its only pod would run elsewhere. 1 pod would stay pending, as before the drain."
    )
    shown = text(page)
    assert FIRST.replace("node,", "node, 1 of them on n1,") in shown
    assert "Would stay pending, as before the drain: 1" in shown
    assert "1   ReplicaSet default/pinned   " in shown.partition("as before the drain: 1")[2]
    assert page.next_command == "kubectl drain n1"
    (pod,) = (pod for pod in page.document["pods"] if pod["pod"] == "default/pinned-1")
    assert (pod["fate"], pod["wasPending"]) == ("stillPending", True)
    assert page.document["summary"]["stillPending"] == 1
    (row,) = (line for line in as_csv(page).splitlines() if "pinned" in line)
    assert row.startswith("default/pinned-1,ReplicaSet/pinned,n1,stillPending,,0,")
    assert row.endswith(",yes")
    assert "Would stay pending, as before the drain: 1" in as_html(page)
    failures = ET.fromstring(as_junit(page)).get("failures")
    assert failures == "0"


def test_each_and_most_say_that_pending_pods_are_placed_first():
    with Drainer(with_pending_pods(), set_up()) as drainer:
        each, most = each_page(list(drainer.each())), most_page(drainer.most(), 2)
    assert each.verdict.text == "2 of 2 nodes could be drained, each alone."
    assert FIRST in text(each).splitlines()
    assert text(most).splitlines()[1] == FIRST
    (line,) = (line for line in each.lines if line["node"] == "n1")
    assert (line["evicted"], line["pending"], line["stillPending"]) == (1, [], ["default/pinned-1"])
    assert (each.document["placedBefore"], each.document["pendingBefore"]) == (1, 1)


def test_each_names_the_pending_pods_that_a_drain_evicts_again():
    high = make_pod("high", node="n1", requests={"cpu": "4"}, priority=9, metadata=owned_by("ReplicaSet", "high"))
    low = make_pod("low", requests={"cpu": "4"}, metadata=owned_by("ReplicaSet", "low"))
    nodes = [make_node(f"n{i}", allocatable=ROOM) for i in (1, 2)]
    with Drainer([*nodes, high, low], set_up()) as drainer:
        lines = each_page(list(drainer.each())).lines
    again = {line["node"]: (line["canGo"], line["evictedAgain"], line["stillPending"]) for line in lines}
    assert again == {"n1": (True, ["default/low"], []), "n2": (True, [], ["default/low"])}


def test_without_pending_pods_no_line_is_about_them():
    with Drainer(cluster(), set_up()) as drainer:
        assert "placed first" not in text(each_page(list(drainer.each())))
