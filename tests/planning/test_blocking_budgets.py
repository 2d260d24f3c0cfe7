"""Why a disruption budget allows no eviction, and what helps."""

import io

import pytest

from kubesched import drain
from kubesched.api import PodDisruptionBudget
from kubesched.pages.plans import drain_page
from kubesched.planning import Drain
from kubesched.planning.blocking_budgets import why_it_blocks
from kubesched.snapshot import ClusterObjects, load_snapshot, only_read_fields, write_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import owned_by

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def drained(n_pods: int, spec: dict, status: dict, *, n_ready: int = 9) -> Drain:
    pods = [
        make_pod(
            f"web-{i}",
            node="n1",
            labels={"app": "web"},
            metadata=owned_by("ReplicaSet", "web"),
            status=READY if i < n_ready else {"phase": "Running"},
        )
        for i in range(n_pods)
    ]
    selector = {"matchLabels": {"app": "web"}}
    budget = make_object("PodDisruptionBudget", "web", spec={"selector": selector, **spec}, status=status)
    return drain([make_node("n1"), make_node("n2"), *pods, budget], ["n1"])


@pytest.mark.parametrize(
    ("n_pods", "spec", "why", "fix"),
    [
        (1, {"minAvailable": 1}, "minAvailable 1 of 1 pod", "run a second replica, or set maxUnavailable: 1 instead"),
        (3, {"minAvailable": 3}, "minAvailable 3 of 3 pods", "set maxUnavailable: 1 instead, or run 4 replicas"),
        (3, {"minAvailable": "100%"}, "minAvailable 100% of 3 pods", "set maxUnavailable: 1 instead"),
        (
            1,
            {"minAvailable": "50%"},
            "minAvailable 50%, rounded up to 1, of 1 pod",
            "run a second replica, or set maxUnavailable: 1 instead",
        ),
        (
            1,
            {"minAvailable": "75%"},
            "minAvailable 75%, rounded up to 1, of 1 pod",
            "run 4 replicas, or set maxUnavailable: 1 instead",
        ),
        (
            3,
            {"minAvailable": "99%"},
            "minAvailable 99%, rounded up to 3, of 3 pods",
            "set maxUnavailable: 1 instead",
        ),
        (1, {"minAvailable": 3}, "minAvailable 3 of 1 pod", "run 4 replicas, or set maxUnavailable: 1 instead"),
        (3, {"maxUnavailable": 0}, "maxUnavailable is 0", "set maxUnavailable: 1"),
        (3, {"maxUnavailable": "0%"}, "maxUnavailable is 0%", "set maxUnavailable: 1"),
    ],
)
@pytest.mark.parametrize("has_status", [True, False])
def test_a_budget_that_never_allows_anything_names_its_field(
    n_pods: int, spec: dict, why: str, fix: str, has_status: bool
):
    counts = {"currentHealthy": n_pods, "desiredHealthy": n_pods, "expectedPods": n_pods}
    result = drained(n_pods, spec, {"disruptionsAllowed": 0, **(counts if has_status else {})})
    (use,) = result.budgets
    assert (use.why, use.fix) == (why, fix)
    (table,) = [table for table in drain_page(result).tables if table.name == "budgets"]
    pods = "1 pod" if n_pods == 1 else f"{n_pods} pods"
    assert table.rows[0][-1].text == f"blocks {pods}: {why}; {fix}"


def test_a_budget_that_waits_for_a_pod_names_it():
    status = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3}
    (use,) = drained(3, {"minAvailable": 2}, status, n_ready=2).budgets
    policy = "set unhealthyPodEvictionPolicy: AlwaysAllow to evict those that are not ready"
    assert use.why == "2 of 3 pods are healthy, 2 have to be"
    assert use.fix == f"get web-2 ready first, or {policy}"
    (use,) = drained(3, {"minAvailable": 2, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, status, n_ready=2).budgets
    assert use.fix == "get web-2 ready first"


@pytest.mark.parametrize(("node", "helps"), [("n1", False), ("n2", True)])
def test_a_policy_for_pods_that_are_not_ready_helps_only_to_evict_such_a_pod(node: str, helps: bool):
    """The healthy pod on n1 may not go, whatever the policy is."""
    more = {"labels": {"app": "web"}, "metadata": owned_by("ReplicaSet", "web")}
    pods = [
        make_pod("well", node="n1", status=READY, **more),
        make_pod("ill", node="n2", status={"phase": "Running"}, **more),
    ]
    status = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 2}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1}
    budget = make_object("PodDisruptionBudget", "web", spec=spec, status=status)
    (use,) = drain([make_node("n1"), make_node("n2"), make_node("n3"), *pods, budget], [node]).budgets
    assert use.fix.startswith("get ill ready first")
    assert ("AlwaysAllow" in use.fix) is helps


def test_as_many_pods_have_to_become_ready_as_the_budget_lacks():
    status = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 4}
    (use,) = drained(4, {"minAvailable": 2}, status, n_ready=2).budgets
    assert use.fix.startswith("get 1 of web-2 and web-3 ready first, or ")


def test_a_budget_that_allows_evictions_is_not_blamed():
    status = {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3}
    (use,) = drained(3, {"minAvailable": 2}, status).budgets
    assert (use.why, use.fix) == ("", "")


def test_a_saved_snapshot_names_the_same_field():
    status = {"expectedPods": 2, "currentHealthy": 2, "desiredHealthy": 2}
    budget = make_object("PodDisruptionBudget", "web", spec={"minAvailable": 2}, status=status)
    saved = io.BytesIO()
    write_snapshot(only_read_fields(ClusterObjects((make_node("n1"), budget))), saved)
    saved.seek(0)
    (again,) = load_snapshot(saved).of(PodDisruptionBudget)
    assert why_it_blocks(again, []) == why_it_blocks(budget, []) != ("", "")
