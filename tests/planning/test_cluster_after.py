"""The cluster after a run is at rest: another simulation changes nothing, and budgets count what runs."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kubesched.api import KubeObject, Pod, PodDisruptionBudget
from kubesched.errors import InputError
from kubesched.planning import Fate, check, cluster_after_run, drain, fit
from kubesched.session import Session, Simulator
from kubesched.snapshot import ClusterObjects, as_read
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import budget, claimed_cluster, owned_by, random_cluster
from tests.trials import seeds

ROOM = {"cpu": "4", "pods": "9"}


def places(objects) -> dict[str, str]:
    return {one.key: one.node_name for one in objects if isinstance(one, Pod)}


def simulated(objects: list[KubeObject]) -> tuple[KubeObject, ...]:
    with Session(objects) as session:
        return cluster_after_run(session, session.schedule(), as_read(objects))


def web(name: str, node: str = "", cpu: str = "1", **fields) -> Pod:
    metadata = owned_by("ReplicaSet", "web-5d8")
    return make_pod(name, node=node, requests={"cpu": cpu}, labels={"app": "web"}, metadata=metadata, **fields)


CLUSTERS = [random_cluster, claimed_cluster]


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("seed", seeds(6))
def test_another_simulation_changes_nothing(cluster: Callable[[int], list[KubeObject]], seed: int):
    objects = cluster(seed)
    for after in (simulated(objects), drain(objects, ["n0", "n1"]).objects):
        report = Simulator(after).run()
        assert [one.pod for one in report.placements if one.node] == []
        assert report.victims == ()
        assert all(one.before == one.after for one in report.devices)
        assert places(simulated(list(after))) == places(after)


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("seed", seeds(4))
def test_placed_pods_are_where_the_report_has_them(cluster: Callable[[int], list[KubeObject]], seed: int):
    objects = cluster(seed)
    report = Simulator(objects).run()
    after = places(simulated(objects))
    if not report.victims:
        assert after == places(objects) | {one.pod: one.node for one in report.placements}


def test_a_placed_pod_runs_without_the_condition_of_its_last_attempt():
    failed = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}
    status = {"phase": "Pending", "conditions": [failed], "nominatedNodeName": "n1"}
    after = simulated([make_node("n1", allocatable=ROOM), web("web-1", status=status)])
    (pod,) = (one for one in after if isinstance(one, Pod))
    assert pod.document["spec"]["nodeName"] == "n1"
    conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
    assert pod.document["status"] == {"phase": "Running", "conditions": conditions}


def test_an_evicted_pod_is_created_again_and_placed_or_pending():
    high = make_pod("high", requests={"cpu": "4"}, priority=9, metadata=owned_by("ReplicaSet", "high"))
    first = make_node("n1", allocatable=ROOM)
    bare = make_pod("bare", node="n1", requests={"cpu": "1"})
    objects = [first, web("web-1", "n1"), bare, high]
    assert places(simulated(objects)) == {"default/web-1": "", "default/high": "n1"}
    small = make_node("n2", allocatable={"cpu": "1", "pods": "9"})
    assert places(simulated([*objects, small])) == {"default/web-1": "n2", "default/high": "n1"}


def test_budgets_count_the_placed_pods_and_those_that_left():
    objects = [make_node("n1", allocatable=ROOM), web("web-1"), web("web-2"), budget("web", "web", 1)]
    (after,) = (one for one in simulated(objects) if isinstance(one, PodDisruptionBudget))
    assert after.status.disruptions_allowed == 3
    high = make_pod("high", requests={"cpu": "4"}, priority=9)
    objects = [make_node("n1", allocatable=ROOM), web("web-1", "n1"), high, budget("web", "web", 1)]
    (after,) = (one for one in simulated(objects) if isinstance(one, PodDisruptionBudget))
    assert after.status.disruptions_allowed == 0


WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, resources: {requests: {cpu: 500m}}}]}
"""


def test_fit_after_fit_counts_the_pods_of_both(tmp_path):
    manifest = tmp_path / "web.yaml"
    manifest.write_text(WEB)
    first = fit([make_node("n1", allocatable=ROOM)], manifest, keeps_objects=True)
    assert sorted(places(first.objects).values()) == ["n1"] * 3
    second = fit(first.objects, manifest, add=True, keeps_objects=True)
    assert (second.n_fit, len(places(second.objects))) == (3, 6)
    assert fit(second.objects, manifest, add=True, maximum=True).n_fit == 2
    assert fit([make_node("n1", allocatable=ROOM)], manifest, maximum=True).n_fit == 8
    replaced = fit(second.objects, manifest, rollout=True, keeps_objects=True)
    assert (replaced.n_fit, [one.n_old for one in replaced.rollouts]) == (3, [6])
    assert len(places(replaced.objects)) == 3


def test_what_is_asked_for_is_no_cluster():
    with pytest.raises(InputError, match="keeps_objects and a search are mutually exclusive"):
        fit([make_node("n1")], {"cpu": "1"}, maximum=True, keeps_objects=True)


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"minAvailable": 2}, 0),
        ({"minAvailable": "50%"}, 1),
        ({"minAvailable": 1}, 1),
        ({"maxUnavailable": 1}, 1),
        ({"maxUnavailable": "50%"}, 1),
        ({"maxUnavailable": 0}, 0),
    ],
)
def test_the_budget_of_a_manifest_gets_its_status(spec: dict, allowed: int):
    written = make_object("PodDisruptionBudget", "web", spec={**spec, "selector": {"matchLabels": {"app": "web"}}})
    objects = [make_node("n1", allocatable=ROOM), web("web-1"), web("web-2"), written]
    (after,) = (one for one in simulated(objects) if isinstance(one, PodDisruptionBudget))
    assert (after.status.disruptions_allowed, after.status.current_healthy) == (allowed, 2)


def test_a_pending_pod_is_missing_for_the_budget_of_a_manifest():
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    budget_of_manifest = make_object("PodDisruptionBudget", "web", spec=spec)
    objects = [make_node("n1", allocatable=ROOM), web("web-1"), web("web-2", cpu="9"), budget_of_manifest]
    (after,) = (one for one in simulated(objects) if isinstance(one, PodDisruptionBudget))
    assert (after.status.disruptions_allowed, after.status.expected_pods) == (0, 2)


def test_fit_in_python_counts_when_the_cluster_was_read():
    """A Job that has run out of its time by then creates no pod for the one that is evicted."""
    spec, status = {"activeDeadlineSeconds": 60, "backoffLimit": 6}, {"startTime": "2026-01-01T00:00:00Z"}
    job = make_object("Job", "low", spec=spec, status=status)
    low = make_pod("low-1", node="n1", requests={"cpu": "4"}, metadata=owned_by("Job", "low"))
    high = make_pod("high", requests={"cpu": "4"}, priority=9)
    read = ClusterObjects((make_node("n1", allocatable=ROOM), job, low), taken_at=datetime(2026, 1, 2, tzinfo=UTC))
    assert places(fit(read, [high], keeps_objects=True).objects) == {"default/high": "n1"}
    assert "default/low-1" in places(fit([*read], [high], keeps_objects=True).objects)


def test_the_placed_pod_of_a_manifest_is_from_then_on_like_any_other(tmp_path):
    nodes = [make_node(f"n{i}", allocatable=ROOM) for i in (1, 2)]
    manifest = tmp_path / "web.yaml"
    manifest.write_text(WEB)
    written = fit(nodes, manifest, keeps_objects=True).objects
    (node, *_) = {one.node_name for one in written if isinstance(one, Pod)}
    result = drain(written, [node])
    assert {pod.fate for pod in result.pods} == {Fate.MOVES}
    assert "no-other-node" not in {finding.rule for finding in check(written).findings}
