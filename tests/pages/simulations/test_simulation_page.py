import json
from pathlib import Path

import pytest

from kubesched.framework import Plugin, PreFilterResult, Status
from kubesched.pages.formats import Level, Table
from kubesched.pages.formats.model import as_cell
from kubesched.pages.simulations import report_page
from kubesched.scheduler import TieBreak
from kubesched.session import Simulator, without_post_filter
from kubesched.session.place import place_all
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, shop, write
from tests.device_cluster import GPU, NOT_DECIDED, device_cluster


@pytest.fixture
def text(tmp_path: Path) -> list[str]:
    return squeezed(run("simulate", write(tmp_path, *shop())).stdout)


def squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_verdict_comes_first(text):
    counts = "2 would be placed, 1 would stay pending, 1 would not be tried. 1 pod of other schedulers."
    assert " ".join(text[:3]) == (f"4 pending pods: {counts} 1 pod would be evicted. Requested: cpu 75%, memory 0%.")


def test_placed_pods_come_with_their_nodes(text):
    assert "Would be placed: 2" in text
    assert "1 + default/urgent n1" in text
    assert "1 + default/fits n1" in text


def test_pods_left_pending_come_with_the_cause_and_the_fix_that_explain_finds(text, tmp_path):
    assert "Would stay pending: 1" in text
    place = next(i for i, line in enumerate(text) if line.startswith("1 default/huge "))
    cause, fix = text[place].removeprefix("1 default/huge "), text[place + 1].removeprefix("fix: ")
    explained = json.loads(run("explain", write(tmp_path, *shop()), "-o", "json").stdout)["pods"]
    (huge,) = (one for one in explained if one["pod"] == "default/huge")
    assert (cause, fix) == (huge["why"], huge["fix"])


def test_wide_text_has_kube_scheduler_s_words_and_every_pod_and_node(tmp_path):
    said = squeezed(run("simulate", write(tmp_path, *shop()), "-o", "wide").stdout)
    assert [line for line in said if line.startswith("1 default/huge") and "0/2 nodes are available" in line]
    assert "Every pod" in said
    assert [line for line in said if line.startswith("n2 b ")]


def test_colours_repeat_what_the_marks_and_titles_say():
    report = Simulator([*shop()]).run()
    tables = {
        table.name: [as_cell(entry).level for entry in table.rows[0]]
        for table in report_page(report).tables
        if table.rows
    }
    assert tables["placed"][1] is Level.GOOD
    assert tables["pending"][1] is tables["notTried"][1] is Level.WARNING
    assert tables["victims"][0] is Level.BAD


def test_pods_that_were_not_tried_come_with_the_reason(text):
    assert "Would not be tried: 1" in text
    assert "Of other schedulers: 1" in text
    held = "gated by plugin SchedulingGates: waiting for scheduling gates: [not-yet]"
    assert f"1 default/gated {held}; fits on 2 of 2 nodes" in text


def test_victims_come_with_their_owner_and_for_whom_they_left(text):
    assert "Would be evicted to make room: 1" in text
    assert "- default/cheap Job/nightly n1 default/urgent" in text


def test_the_next_command_explains_a_pending_pod_of_the_same_cluster(tmp_path):
    path = write(tmp_path, *shop())
    new = write(tmp_path, make_pod("new"), name="new.json")
    said = squeezed(run("simulate", path, "--manifest", new).stdout)
    assert said[-1] == f"Next: kubesched explain {path} --manifest {new} --pod default/huge"
    assert "Not modelled: autoscalers and the timing of controllers." in said


def test_pods_of_one_owner_share_a_line(tmp_path):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": True}
    pods = [make_pod(f"web-{i}", requests={"cpu": "1"}, metadata={"ownerReferences": [owner]}) for i in range(8)]
    nodes = [make_node(f"n{i}", allocatable={"cpu": "1"}) for i in range(8)]
    said = squeezed(run("simulate", write(tmp_path, *nodes, *pods)).stdout)
    assert "8 + ReplicaSet default/web-1 n0, n1, n2, n3 and 4 more" in said


def test_pods_of_a_deployment_share_a_line_whatever_their_replica_set(tmp_path):
    above = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    pods = []
    for name in ("web-1", "web-2"):
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": True}
        pods.append(make_object("ReplicaSet", name, namespace="default", metadata={"ownerReferences": [above]}))
        pods.append(make_pod(f"{name}-x", metadata={"ownerReferences": [owner]}))
    said = squeezed(run("simulate", write(tmp_path, make_node("n1"), *pods)).stdout)
    assert "2 + Deployment default/web n1" in said


def test_pending_pods_of_one_owner_share_their_reasons_whatever_the_numbers(tmp_path):
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "night", "uid": "r", "controller": True}
    own = {"ownerReferences": [owner]}
    pods = [make_pod(f"p{i}", requests={"cpu": cpu}, metadata=own) for i, cpu in enumerate(("1", "9", "9"))]
    said = squeezed(run("simulate", write(tmp_path, make_node("n1", allocatable={"cpu": "1"}), *pods)).stdout)
    assert "2 Job default/night the only node: requests 9 cpu; the whole node has 1" in said


def test_the_cause_is_that_of_the_nearest_nodes_not_of_the_last_filter(tmp_path):
    tainted = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    nodes = [make_node("n1", labels={"disk": "ssd"}, spec={"taints": tainted}), make_node("n2"), make_node("n3")]
    pods = [make_pod("p", spec={"nodeSelector": {"disk": "ssd"}})]
    said = squeezed(run("simulate", write(tmp_path, *nodes, *pods)).stdout)
    assert "1 default/p 1 node: taint k=v:NoSchedule is not tolerated" in said
    assert "fix: tolerate k=v:NoSchedule -> 1 node" in said
    assert not [line for line in said if "the last" in line or "another cause" in line]


def test_without_effects_the_text_names_the_room_that_preemption_would_make(tmp_path):
    said = squeezed(run("simulate", write(tmp_path, *shop()), "--no-preemption-effects").stdout)
    assert "Would be evicted to make room: 1" in said
    assert "Preemption would make room for default/urgent on n1 by evicting default/cheap." in said
    counts = "2 would be placed, 2 would stay pending. 1 pod of other schedulers. 1 pod would be evicted."
    assert said[0] == f"4 pending pods: {counts}"


def test_csv_has_a_row_for_each_pod(tmp_path):
    rows = run("simulate", write(tmp_path, *shop()), "-o", "csv").stdout.splitlines()
    assert rows[0] == "pod,owner,state,node,why,fix,message"
    assert rows[1] == "default/urgent,,placed,n1,,,"
    assert len(rows) == 6


def test_lines_in_a_pipe_end_without_blanks_and_without_colours(tmp_path):
    said = run("simulate", write(tmp_path, *shop())).stdout
    assert not [line for line in said.splitlines() if line != line.rstrip()]
    assert "\x1b" not in said


def test_an_eviction_is_marked_with_the_disruption_budget_that_it_breaks(tmp_path):
    low = make_pod("low", node="n1", labels={"app": "low"}, requests={"cpu": "4"}, priority=1)
    spec = {"selector": {"matchLabels": {"app": "low"}}, "minAvailable": 1}
    budget = make_object(
        "PodDisruptionBudget", "keep", namespace="default", spec=spec, status={"disruptionsAllowed": 0}
    )
    high = make_pod("high", requests={"cpu": "4"}, priority=9)
    file = write(tmp_path, make_node("n1", allocatable={"cpu": "4"}), low, budget, high)
    said = squeezed(run("simulate", file).stdout)
    assert "POD OWNER NODE MAKES ROOM FOR BREAKS BUDGET" in said
    assert "- default/low - n1 default/high default/keep" in said
    (victim,) = json.loads(run("simulate", file, "-o", "json").stdout)["victims"]
    assert victim["broken"] == ["default/keep"]


def test_a_pod_that_is_placed_and_evicted_again_is_counted_once(tmp_path):
    """hi needs t in its zone; low takes its node before t is there."""
    term = {"labelSelector": {"matchLabels": {"app": "t"}}, "topologyKey": "zone"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [make_node(name, allocatable={"cpu": "1"}, labels={"zone": "z", "name": name}) for name in ("n1", "n2")]

    def pinned(name, node, priority, **fields):
        fields["spec"] = {"nodeSelector": {"name": node}} | fields.get("spec", {})
        return make_pod(name, requests={"cpu": "1"}, priority=priority, **fields)

    pods = [pinned("hi", "n1", 10, spec={"affinity": affinity}), pinned("t", "n2", 5, labels={"app": "t"})]
    report = Simulator([*nodes, *pods, pinned("low", "n1", 0)]).run()
    page = report_page(report)
    assert page.verdict.text == "3 pending pods: 2 would be placed, 1 would be placed and evicted again."
    tables = {part.name: len(part.rows) for part in page.parts if isinstance(part, Table)}
    assert (tables["evictedAgain"], tables["victims"]) == (1, 0)


def test_with_evictions_the_report_ends_with_what_the_simulation_leaves_out(tmp_path):
    said = squeezed(run("simulate", write(tmp_path, *shop())).stdout)
    assert "Pods evicted by preemption do not come back: the simulation does not re-create them." in said


@pytest.mark.usefixtures("no_search")
def test_pods_that_are_not_decided_are_not_said_to_stay_pending(tmp_path):
    path = write(tmp_path, *device_cluster(), make_pod("wants-gpu", priority=9, requests={GPU: 1}))
    result = run("simulate", path)
    said = squeezed(result.stdout)
    assert said[0] == "1 pending pod: 1 cannot be decided."
    assert f"1 default/wants-gpu {NOT_DECIDED}" in " ".join(said)
    assert "Cannot be decided: 1" in said
    assert "evict" not in result.stdout
    assert (result.exit_code, run("simulate", path, "--fail-on-pending").exit_code) == (0, 1)
    (line,) = run("simulate", path, "-o", "jsonl").stdout.splitlines()
    assert json.loads(line)["state"] == "notDecided"


class Closed(Plugin):
    def pre_enqueue(self, pod):
        return Status.unresolvable("wait for the budget")


class NoTeam(Plugin):
    def pre_filter(self, state, pod, nodes):
        return Status.unresolvable("pod has no team")


class NotN1(Plugin):
    def pre_filter(self, state, pod, nodes):
        return PreFilterResult(frozenset({"n2"}))


class NoReserve(Plugin):
    def reserve(self, state, pod, node_name):
        return Status.unschedulable("1 reserve says no")


class NoPermit(Plugin):
    def permit(self, state, pod, node_name):
        return Status.unschedulable("1 permit says no")


@pytest.mark.parametrize(
    ("plugin", "words", "message"),
    [
        (Closed, "wait for the budget", "wait for the budget"),
        (NoTeam, "pod has no team", "0/2 nodes are available: pod has no team."),
        (NoReserve, "1 reserve says no", "0/1 nodes are available: 1 1 reserve says no."),
        (NoPermit, "1 permit says no", "0/1 nodes are available: 1 1 permit says no."),
    ],
)
def test_a_pod_that_is_rejected_outside_of_the_filters_has_the_plugin_s_name(plugin, words, message):
    nodes = [make_node(name, allocatable={"cpu": "1"}) for name in ("n1", "n2")]
    report = Simulator([*nodes, make_pod("web")], plugins=[plugin]).run()
    (one,) = report.placements
    assert (one.plugin, without_post_filter(one.message)) == (plugin.__name__, message)
    page = report_page(report)
    why = f"{plugin.__name__}: {words}"
    assert [as_cell(cell).text for cell in page.main_table.rows[0]][4] == why
    assert page.checks[0].failure.startswith(f"{why}\n")
    assert page.lines[0]["plugin"] == plugin.__name__
    tables = (table for table in page.tables if table.name in ("pending", "notTried"))
    assert [as_cell(row[2]).text for table in tables for row in table.rows] == [why]


def test_a_pod_that_pre_filter_rejects_in_its_only_trial_has_the_plugin_s_name():
    simulator = Simulator([make_node("n1"), make_pod("web")], plugins=[NoTeam])
    (one,) = place_all(simulator, TieBreak.FIRST).placements
    assert (one.plugin, one.diagnosis) == ("NoTeam", "NoTeam: pod has no team")


@pytest.mark.parametrize("tried_once", [False, True])
def test_nodes_that_pre_filter_leaves_out_are_among_the_nodes_of_the_obstacle(tried_once):
    nodes = [make_node(name, allocatable={"cpu": "1"}) for name in ("n1", "n2")]
    simulator = Simulator([*nodes, make_pod("web", requests={"cpu": "9"})], plugins=[NotN1])
    report = place_all(simulator, TieBreak.FIRST) if tried_once else simulator.run()
    left_out = "1 node(s) didn't satisfy plugin(s) [NotN1]"
    assert report.placements[0].diagnosis == f"NodeResourcesFit: the last node of 2: Insufficient cpu; {left_out}"
    assert report.placements[0].plugin == ""
