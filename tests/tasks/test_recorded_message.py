"""What kube-scheduler itself said of a pod is beside an answer that differs, with what is known of the difference."""

import pytest

from kubesched.api import KubeObject
from kubesched.explanation import Explanation, explain
from kubesched.pages.explanations import Rows, explanation_page, overview_page
from kubesched.pages.formats import as_text
from kubesched.planning import PendingPods
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "9"}
AGAIN = "It has not tried the pod since, or its configuration is not the one that decides here."


def asked(message: str, *nodes: KubeObject, reason: str = "Unschedulable", **pod: object) -> Explanation:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    return explain([*nodes, make_pod("web", status={"conditions": [condition]}, **pod)], "default/web")


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("1 node(s) had untolerated taint {dedicated: ml}.", "No node has a taint dedicated=ml now."),
        ("1 node(s) had taint {k: }, that the pod didn't tolerate.", "No node has a taint k now."),
        ("1 Insufficient cpu. preemption: 0/1 nodes are available.", "Node n1 has enough cpu now."),
        ("1 Insufficient nvidia.com/gpu.", "Node n1 has enough nvidia.com/gpu now."),
    ],
)
def test_what_has_changed_since_is_named(message, why):
    recorded = asked(f"0/1 nodes are available: {message}", make_node("n1")).recorded
    assert recorded is not None
    assert recorded.since == "2026-01-01T00:00:00Z"
    assert recorded.why == f"{why} {AGAIN}"


def test_nodes_that_came_since_are_counted():
    recorded = asked("0/1 nodes are available: 1 it rained.", make_node("n1"), make_node("n2")).recorded
    assert recorded is not None
    assert recorded.why == f"It counted 1 node, and the cluster has 2. {AGAIN}"


def test_where_nothing_is_known_the_possible_causes_are_named():
    recorded = asked("0/1 nodes are available: 1 it rained.", make_node("n1")).recorded
    assert recorded is not None
    assert recorded.why.startswith("The cluster has changed since, or its configuration is not")


def test_the_page_quotes_it():
    message = "0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: ml}."
    page = explanation_page(asked(message, make_node("n1")))
    quoted = f'In the snapshot kube-scheduler says (since 2026-01-01T00:00:00Z): "{message}" No node has'
    assert quoted in as_text(page, 300)
    assert page.document["recorded"]["message"] == message


@pytest.mark.parametrize("text", ["taint {k: v}", "taint(s)"])
def test_the_same_reasons_are_not_repeated(text):
    tainted = make_node("n1", taints=["k=v:NoSchedule"])
    said = f"0/1 nodes are available: 1 node(s) had untolerated {text}. preemption: 0/1 nodes are available."
    assert asked(said, tainted).recorded is None
    two = make_node("n1", allocatable=SMALL), make_node("n2", allocatable=SMALL)
    assert asked("0/1 nodes are available: 1 Insufficient cpu.", *two, requests={"cpu": "9"}).recorded is None


def test_a_gate_or_a_pod_that_runs_has_nothing_to_compare():
    assert asked("Scheduling is blocked.", make_node("n1"), reason="SchedulingGated").recorded is None
    assert asked("0/1 nodes are available: 1 it rained.", make_node("n1"), node="n1").recorded is None


@pytest.mark.parametrize("message", ["0/1 nodes are available", "0/1 nodes are available: ."])
def test_a_message_without_reasons_says_nothing(message):
    assert asked(message, make_node("n1")).recorded is None


def test_the_list_quotes_it_for_the_pods_that_fit():
    said = "0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: ml}."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
    pods = [make_pod(name, status={"conditions": [condition]}) for name in "abcde"]
    large = make_pod("large", requests={"cpu": "9"}, status={"conditions": [condition]})
    rows = Rows()
    with PendingPods([make_node("n1", allocatable=ROOM), *pods, large], set_up(), lambda pod: "web") as pending:
        lines = {answer.pod: rows.take(answer) for answer in pending.answers()}
    text = as_text(overview_page(rows), 300)
    assert text.count('In the snapshot kube-scheduler says: "0/1 nodes are available: ') == 3
    assert "kube-scheduler says so of 2 more pods." in text
    assert all(line["recorded"]["message"] == said for line in lines.values())
