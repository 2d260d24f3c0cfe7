"""Pods of DaemonSets belong to one node, which every answer about them names."""

import pytest

from kubesched.explanation import explain, with_reasons
from kubesched.pages.explanations import explanation_page
from kubesched.pages.formats import as_text
from kubesched.pages.plans import fit_page
from kubesched.planning import fit
from kubesched.session import Session
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL
from tests.planning.test_rollout import stream, workload


def daemon_pod(node: str, **more):
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "a", "controller": True}
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    metadata = {"ownerReferences": [owner]}
    return make_pod("agent-x", metadata=metadata, spec={"affinity": {"nodeAffinity": required}}, **more)


def test_a_pod_for_a_node_that_is_gone_is_deleted_by_its_controller():
    explanation = explain([make_node("n1"), daemon_pod("n-gone")], "default/agent-x")
    said = "node n-gone, for which DaemonSet agent made the pod, is not in the cluster; the controller deletes the pod"
    assert explanation.fixes == ()
    assert explanation.outcome.why == said
    text = as_text(explanation_page(explanation), 200)
    assert f"N{said[1:]}." in text
    assert "To fit on n1" not in text


def test_a_pod_whose_node_is_there_is_about_that_node_alone():
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    explanation = explain([*nodes, daemon_pod("n2", requests={"cpu": "9"})], "default/agent-x")
    assert explanation.outcome.why == "its node n2: requests 9 cpu; the whole node has 2"
    fits = explain([*nodes, daemon_pod("n2")], "default/agent-x")
    assert fits.best == ["n2"]


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_fit_names_the_node_whose_pod_would_stay_pending(name):
    nodes = [make_node("n1"), make_node(name, allocatable={"cpu": "50m", "memory": "1Gi", "pods": "9"})]
    page = fit_page(fit(nodes, stream(workload(kind="DaemonSet", cpu="100m"))))
    assert page.verdict.text.startswith(f"1 of 2 would fit; the 2nd: its node {name}: requests 100m cpu; ")
    (left,) = (part for part in page.parts if getattr(part, "name", "") == "left")
    assert name in str(left.rows)


def test_simulate_names_it_too():
    with Session([make_node("n1", allocatable=SMALL), daemon_pod("n1", requests={"cpu": "9"})]) as session:
        (placement,) = with_reasons(session, session.schedule()).placements
    assert placement.diagnosis.startswith("its node n1: ")
