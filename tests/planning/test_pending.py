"""The pending pods as a simulation places them."""

import io
import json
from collections.abc import Iterable
from typing import Any

import pytest

from kubesched.api import KubeObject
from kubesched.errors import InputError
from kubesched.explanation import PodAnswer, State
from kubesched.framework import Plugin, PreFilterResult, Status
from kubesched.pages.explanations import overview_page
from kubesched.pages.formats import Table
from kubesched.pages.simulations import report_page, victims_table
from kubesched.planning import PendingPods
from kubesched.session import Simulator
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL
from tests.planning.test_fit import deployment, stream

NODE = make_node("n1", allocatable=SMALL)


def answers(*objects: KubeObject, plugins: Iterable[type[Plugin]] = ()) -> dict[str, tuple[State, str, str, str]]:
    """Name -> state, node, why and fix."""
    with PendingPods(objects, set_up(None, plugins), lambda pod: pod.name) as pending:
        return {answer.workload: _short(answer) for answer in pending.answers()}


def _short(answer: PodAnswer) -> tuple[State, str, str, str]:
    told = answer.tell()
    return answer.state, answer.node, told.outcome.why, told.fix


def cpu(amount: str) -> dict[str, str]:
    return {"cpu": amount}


def test_each_pod_takes_its_room_from_the_next_ones():
    found = answers(NODE, *(make_pod(f"web-{i}", requests=cpu("1500m")) for i in range(2)))
    assert found["web-0"] == (State.FITS, "n1", "fits on 1 of 1 nodes", "")
    state, node, why, fix = found["web-1"]
    assert (state, node, why) == (State.NOWHERE, "", "the only node: cpu is short by 1: requests 1.5, 500m of 2 free")
    assert fix == "add a node like n1 -> 1 node"


def test_a_nominated_pod_of_higher_priority_keeps_its_room():
    leaving = make_pod("old", node="n1", requests=cpu("1"), metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    urgent = make_pod("urgent", requests=cpu("1500m"), priority=9, status={"nominatedNodeName": "n1"})
    found = answers(NODE, leaving, urgent, make_pod("small", requests=cpu("800m")))
    assert [found[name][0] for name in ("urgent", "small")] == [State.NOWHERE, State.NOWHERE]
    assert found["urgent"][3] == "wait until default/old (n1) has ended -> 1 node"


def test_a_pod_is_not_to_be_moved_that_has_its_node_only_from_the_simulation():
    owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "w", "controller": True}]
    second = make_node("n2", allocatable={**SMALL, "cpu": "1"})
    web = make_pod("web", requests=cpu("1"), priority=9, metadata={"ownerReferences": owner})
    full = make_pod("full", node="n2", requests=cpu("400m"))
    fix = answers(NODE, second, full, web, make_pod("large", requests=cpu("2")))["large"][3]
    assert "default/web" not in fix
    assert fix


def test_who_evicts_and_who_is_evicted_is_told():
    low = make_pod("low", node="n1", labels={"app": "low"}, requests=cpu("2"), priority=-1)
    spec = {"selector": {"matchLabels": {"app": "low"}}, "minAvailable": 1}
    budget = make_object("PodDisruptionBudget", "all", spec=spec, status={"disruptionsAllowed": 0})
    state, node, why, _ = answers(NODE, low, budget, make_pod("high", requests=cpu("2"), priority=5))["high"]
    assert (state, node) == (State.PREEMPTS, "n1")
    assert why == (
        "Preemption would make room on n1 by evicting default/low (priority -1, then lost), "
        "which would break disruption budget default/all"
    )


def nominated() -> list[KubeObject]:
    """A pod that evicts, and waits on another node then; another one takes the room that this makes."""
    leaving = make_pod("v1", node="a", requests=cpu("1"), metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    return [
        *(make_node(name, allocatable=SMALL) for name in ("a", "b")),
        make_pod("urgent", requests=cpu("1500m"), priority=1000, status={"nominatedNodeName": "a"}),
        leaving,
        make_pod("full", node="b", requests=cpu("1750m")),
        make_pod("small", requests=cpu("250m")),
        make_pod("urgent2", requests=cpu("1500m"), priority=900, status={"nominatedNodeName": "gone"}),
    ]


def test_a_pod_that_fits_only_where_preemption_makes_room_for_another_one_names_the_victim():
    found = answers(*nominated())
    assert found["urgent"][:3] == (
        State.PREEMPTS,
        "b",
        "takes room on b that preemption makes for default/urgent2 by evicting default/full",
    )
    with PendingPods(nominated(), set_up(), lambda pod: pod.name) as pending:
        assert [
            [str(getattr(cell, "text", cell)) for cell in row]
            for row in victims_table("victims", "", pending.report.removed).rows
        ] == [["- default/full", "-", "b", "default/urgent2"]]


def test_a_pod_that_would_fit_beside_the_victim_needs_no_eviction():
    assert answers(*nominated())["small"][0] is State.FITS


def test_a_simulation_says_on_which_node_preemption_makes_room():
    page = report_page(Simulator(nominated()).run())
    notes = [note for part in page.parts if isinstance(part, Table) for note in part.notes]
    assert "Preemption would make room for default/urgent2 on b by evicting default/full." in notes


def test_pods_that_are_not_tried_are_held_back():
    gated = make_pod("gated", spec={"schedulingGates": [{"name": "not-yet"}]})
    state, _, why, fix = answers(NODE, gated, make_pod("web", requests=cpu("2")))["gated"]
    assert state is State.HELD_BACK
    assert why == "gated by plugin SchedulingGates: waiting for scheduling gates: [not-yet]; fits on 1 of 1 nodes"
    assert fix == "let the controller of the scheduling gate not-yet remove it (see whether that runs) -> 1 node"


def of_manifests(*documents: dict[str, Any], to: Iterable[KubeObject]) -> Iterable[KubeObject]:
    cluster = io.BytesIO(json.dumps([json.loads(one.raw) for one in to]).encode())
    return load_snapshot(cluster, manifests=[stream(*documents)])


def test_pods_that_the_api_server_refuses_are_held_back_by_its_words():
    quota = make_object("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": "1"}})
    cluster = of_manifests(deployment(3), to=[NODE, quota])
    with PendingPods(cluster, set_up(), lambda pod: "web") as pending:
        page = overview_page(pending.answers())
    table = next(part for part in page.parts if isinstance(part, Table))
    rows = [[getattr(cell, "text", cell) for cell in row] for row in table.rows]
    assert len(rows) == 1
    assert rows[0][:3] == [2, "held back", "web"]
    assert "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1" in rows[0]


def test_pods_that_a_stateful_set_does_not_create_yet_are_held_back_as_in_a_simulation():
    template = {"metadata": {"labels": {"app": "db"}}, "spec": deployment(1, cpu="9")["spec"]["template"]["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "db"}}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}
    found = answers(*of_manifests(manifest, to=[NODE]))
    assert [found[name][0] for name in ("db-0", "db-1")] == [State.NOWHERE, State.HELD_BACK]
    assert found["db-1"][2].startswith("its StatefulSet would not create it before default/db-0 is ready")


class NotOnN1(Plugin):
    def permit(self, state, pod, node_name):
        return Status.unschedulable("the team has no budget")


def test_a_pod_that_fits_and_is_turned_down_later_has_the_words_of_the_simulation():
    state, node, why, _ = answers(NODE, make_pod("web"), plugins=[NotOnN1])["web"]
    assert (state, node) == (State.NOWHERE, "")
    assert "the team has no budget" in why


class Fails(Plugin):
    def filter(self, state, pod, node):
        raise KeyError("x")


def test_a_plugin_that_fails_is_told_with_its_line():
    state, _, why, fix = answers(NODE, make_pod("web"), plugins=[Fails])["web"]
    assert (state, fix) == (State.FAILED, "")
    assert "test_pending.py:" in why


def test_each_attempt_is_explained_on_the_cluster_that_it_finds():
    pods = [make_pod(f"web-{i}", requests=cpu("1500m")) for i in range(2)]
    fits = {}
    with PendingPods([NODE, *pods], set_up(), lambda pod: pod.name, repeats=True) as pending:
        keys = [answer.pod for answer in pending.answers()]
        pending.each_attempt(keys, lambda explanation: fits.update({explanation.pod.name: explanation.fits}))
    assert fits == {"web-0": True, "web-1": False}


def test_a_closed_one_gives_its_setup_free_for_another_cluster():
    setup = set_up()
    with PendingPods([NODE], setup, str), pytest.raises(InputError, match="another cluster"):
        PendingPods([NODE], setup, str)
    with PendingPods([NODE], setup, str):
        pass


class OnlyN2(Plugin):
    def pre_filter(self, state, pod, nodes):
        return PreFilterResult(frozenset({"n2"}))


def test_a_pod_that_fits_is_told_with_the_nodes_that_pre_filter_leaves_out():
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    found = answers(*nodes, make_pod("web"), plugins=[OnlyN2])["web"]
    why = "fits on 1 of 2 nodes; 1 node(s) didn't satisfy plugin(s) [OnlyN2]"
    assert found == (State.FITS, "n2", why, "")


def test_pods_that_lose_their_room_to_the_queue_are_counted_apart():
    pods = [make_pod(f"web-{i}", requests=cpu("1500m")) for i in range(3)]
    with PendingPods([NODE, *pods, make_pod("big", requests=cpu("9"))], set_up(), lambda pod: pod.name) as pending:
        page = overview_page(pending.answers(), fit_alone=pending.fit_alone)
    assert pending.fit_alone == {"default/web-1", "default/web-2"}
    assert page.verdict.text == "4 pending pods: 3 fit nowhere (2 of them fit if tried alone), 1 fits."
