"""Pods that are to run at once, of which a part has a node: every report says so."""

import pytest

from kubesched.api import KubeObject
from kubesched.explanation import explain
from kubesched.pages.explanations import explanation_page
from kubesched.pages.formats import as_json, as_junit, as_markdown, as_text
from kubesched.pages.simulations import report_page, summary_of
from kubesched.planning import simulate
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import owned_by

NODES = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}) for i in (1, 2)]
GROUP = {"scheduling.x-k8s.io/pod-group": "ring"}


def worker(i: int, node: str = "", **fields):
    return make_pod(f"w-{i}", namespace="ml", requests={"cpu": "1"}, node=node, **fields)


def ring(n: int, running: int = 0, needs: int = 5, **fields) -> list[KubeObject]:
    nodes = [f"n{1 + i % 2}" if i < running else "" for i in range(n)]
    group = make_object("CoschedulingPodGroup", "ring", namespace="ml", spec={"minMember": needs})
    return [*NODES, group, *(worker(i, node, labels=GROUP, **fields) for i, node in enumerate(nodes))]


@pytest.mark.parametrize(("running", "have"), [(0, "would have"), (3, "would have"), (4, "have")])
def test_a_simulation_says_how_many_pods_of_a_gang_have_a_node(running: int, have: str):
    report = simulate(ring(5, running))
    page = report_page(report)
    sentence = f"4 of 5 pods of gang ml/ring {have} a node; the gang needs 5 at once."
    texts = (as_text(page, width=200), as_markdown(page), summary_of(report))
    assert all(sentence in text for text in texts)
    assert "only 4 of the 5 that it needs fit" in as_junit(page)
    assert page.document["gangs"][0]["fit"] == 4
    assert as_json(page)


def test_a_gang_that_has_all_its_nodes_is_not_worth_a_word():
    page = report_page(simulate(ring(4, 1, needs=4)))
    assert "gang" not in as_text(page, width=200).lower()
    assert page.document["gangs"][0]["runs"]


def test_a_job_of_which_a_part_runs_is_a_row_and_no_loss():
    pods = [worker(i, "n1" if i < 2 else "", metadata=owned_by("Job", "train")) for i in range(5)]
    page = report_page(simulate([*NODES, *pods]))
    assert "gang" not in page.verdict.text
    assert "they would wait if they need the others" in as_text(page, width=200)


@pytest.mark.parametrize("running", [0, 3])
def test_a_pod_is_explained_as_one_of_its_gang(running: int):
    explanation = explain(ring(5, running), "ml/w-4")
    page = explanation_page(explanation)
    assert f"{running} of 5 pods of gang ml/ring have a node; the gang needs 5 at once." in as_text(page, width=200)
    assert page.document["gang"] == {
        "gang": "ml/ring",
        "kind": "group",
        "needs": 5,
        "pods": 5,
        "fit": running,
        "runs": False,
        "outcome": explanation.gang.outcome,
    }


def test_nothing_is_said_of_a_gang_of_another_scheduler():
    page = report_page(simulate(ring(5, spec={"schedulerName": "volcano"})))
    assert "gang" not in as_text(page, width=200).lower()


def test_a_pod_without_a_gang_has_none():
    assert explain([*NODES, worker(1)], "ml/w-1").gang is None
