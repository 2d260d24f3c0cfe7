"""Which controllers create a new pod in the place of an evicted one, and when a Job does."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kubesched.api import Job, KubeObject, Pod, kind_of
from kubesched.controllers import Controllers, Successor, controllers_of, successor_of, with_failures
from kubesched.testing import make_object, make_pod

DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def owned(kind: str, version: str, **fields: Any) -> Pod:
    owner = {"apiVersion": version, "kind": kind, "name": "j", "uid": "u", "controller": True}
    return make_pod("p", node="n1", metadata={"ownerReferences": [owner]}, **fields)


def job(status: dict[str, Any] | None = None, **spec: Any) -> Job:
    made = make_object("Job", "j", spec=spec, status=status or {})
    assert isinstance(made, Job)
    return made


def of_job(known: Job | None, n_evicted: int = 1, **fields: Any) -> Successor:
    return successor_of(owned("Job", "batch/v1", **fields), lambda kind, key: known, n_evicted)


@pytest.mark.parametrize(
    ("kind", "version", "is_made"),
    [
        ("ReplicaSet", "apps/v1", True),
        ("StatefulSet", "apps/v1", True),
        ("ReplicationController", "v1", True),
        ("ReplicaSet", "", True),
        ("CloneSet", "apps.kruise.io/v1alpha1", True),
        ("StrimziPodSet", "core.strimzi.io/v1", True),
        ("ReplicaSet", "example.com/v1", None),
        ("Workflow", "argoproj.io/v1alpha1", None),
        ("TaskRun", "tekton.dev/v1", None),
        ("PyTorchJob", "kubeflow.org/v1", None),
        ("Job", "batch.volcano.sh/v1alpha1", None),
        ("Thing", "example.com/v1", None),
    ],
)
def test_only_known_controllers_create_a_pod_again(kind: str, version: str, is_made: bool | None):
    found = successor_of(owned(kind, version), lambda kind, key: None)
    assert found.is_made is is_made
    assert bool(found.why) is not is_made


DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def of_set(kind: str, *known: KubeObject, name: str = "p", listed: tuple[str, ...] = ()) -> Successor:
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    owner = {"apiVersion": version, "kind": kind, "name": "j", "uid": "u", "controller": True}
    pod = make_pod(name, node="n1", metadata={"ownerReferences": [owner]})
    objects = {(kind_of(one), one.key): one for one in known}
    cluster = controllers_of([*known, pod], listed_kinds=listed)
    return successor_of(pod, lambda kind, key: objects.get((kind, key)), controllers=cluster)


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "StatefulSet"])
def test_a_controller_that_needs_no_pod_creates_none(kind: str):
    assert of_set(kind, make_object(kind, "j", spec={"replicas": 1}), name="j-0").is_made is True
    assert of_set(kind, make_object(kind, "j"), name="j-0").is_made is True
    assert of_set(kind, make_object(kind, "j", spec={"replicas": 0}), name="j-0").is_made is False
    assert of_set(kind, make_object(kind, "j", metadata=DELETED), name="j-0").is_made is False


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "StatefulSet"])
def test_a_controller_that_only_it_lacks_is_doubtful(kind: str):
    assert of_set(kind).is_made is True
    found = of_set(kind, make_object(kind, "other"))
    assert (found.is_made, found.why) == (None, f"{kind} j is not in the snapshot, which has the others")
    assert of_set(kind, listed=(kind,)).is_made is None


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
def test_of_more_pods_than_replicas_each_may_not_be_created_again(kind: str):
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    owner = {"apiVersion": version, "kind": kind, "name": "j", "uid": "u", "controller": True}
    more = [make_pod(f"p{i}", node="n2", metadata={"ownerReferences": [owner]}) for i in range(2)]
    leaving = make_pod("p9", node="n2", metadata={"ownerReferences": [owner], **DELETED})
    ended = make_pod("p8", node="n2", metadata={"ownerReferences": [owner]}, status={"phase": "Succeeded"})
    one = make_object(kind, "j", spec={"replicas": 2})
    assert of_set(kind, one, *more).is_made is None
    assert "2 replicas and 3 pods" in of_set(kind, one, *more).why
    assert of_set(kind, one, more[0], leaving, ended).is_made is True


@pytest.mark.parametrize(
    ("name", "is_made"), [("j-1", False), ("j-2", True), ("j-3", True), ("j-4", False), ("j", True)]
)
def test_a_stateful_set_keeps_the_pods_of_its_ordinals(name: str, is_made: bool):
    one = make_object("StatefulSet", "j", spec={"replicas": 2, "ordinals": {"start": 2}})
    assert of_set("StatefulSet", one, name=name).is_made is is_made


@pytest.mark.parametrize(
    ("kind", "version"), [("ReplicaSet", "apps/v1"), ("Job", "batch/v1"), ("CloneSet", "apps.kruise.io/v1alpha1")]
)
def test_nobody_creates_a_pod_in_a_namespace_that_is_being_deleted(kind: str, version: str):
    ending = make_object("Namespace", "default", metadata=DELETED)
    known = {"Namespace": ending, "Job": job(backoffLimit=3)}
    found = successor_of(owned(kind, version), lambda kind, key: known.get(kind))
    assert (found.is_made, found.why) == (
        False,
        "namespace default is being deleted, so no pod can be created in it",
    )


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "now", "is_made"),
    [
        ("2026-01-01T10:00:00Z", NOON, False),
        ("2026-01-01T11:10:00Z", NOON, None),
        ("2026-01-01T11:50:00Z", NOON, True),
        ("2026-01-01T12:50:00+01:00", NOON, True),
        ("2026-01-01T11:50:00Z", None, None),
        ("soon", NOON, None),
        (None, NOON, None),
    ],
)
def test_a_job_near_its_deadline_may_not_end_with_a_new_pod(
    start: str | None, now: datetime | None, is_made: bool | None
):
    one = job({"startTime": start} if start else {}, activeDeadlineSeconds=3600)
    found = successor_of(owned("Job", "batch/v1"), lambda kind, key: one, controllers=Controllers(taken_at=now))
    assert found.is_made is is_made
    assert found.ends_job is (is_made is False)
    assert ("activeDeadlineSeconds of 3,600" in found.why) is not is_made


def test_a_job_that_would_fail_anyway_fails_for_that_reason():
    one = job(activeDeadlineSeconds=3600, backoffLimit=0)
    found = successor_of(owned("Job", "batch/v1"), lambda kind, key: one)
    assert (found.is_made, "backoffLimit" in found.why) == (False, True)


def test_a_pod_without_a_controller_has_no_successor():
    assert successor_of(make_pod("p"), lambda kind, key: None).is_made is False


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("kind", "version", "fields"),
    [
        ("DaemonSet", "apps/v1", {}),
        ("Node", "v1", {}),
        ("ReplicaSet", "apps/v1", {"status": {"phase": "Succeeded"}}),
        ("StatefulSet", "apps/v1", {"status": {"phase": "Failed"}}),
        ("ReplicaSet", "apps/v1", LEAVING),
        ("Thing", "example.com/v1", LEAVING),
        ("", "", LEAVING),
    ],
)
def test_a_pod_that_is_not_created_again_and_costs_nothing(kind: str, version: str, fields: dict[str, Any]):
    owner = {"apiVersion": version, "kind": kind, "name": "j", "uid": "u", "controller": True}
    about = {"ownerReferences": [owner] if kind else [], **(fields if fields is LEAVING else {})}
    pod = make_pod("p", node="n1", metadata=about, **({} if fields is LEAVING else fields))
    found = successor_of(pod, lambda kind, key: None)
    assert (found.is_made, found.costs_nothing, found.is_loss) == (False, True, False)


def test_a_pod_of_a_stateful_set_that_is_being_deleted_is_created_again():
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "j", "uid": "u", "controller": True}
    pod = make_pod("p", node="n1", metadata={"ownerReferences": [owner], **LEAVING})
    assert successor_of(pod, lambda kind, key: None).is_made


@pytest.mark.parametrize(
    ("known", "n_evicted", "is_made"),
    [
        (None, 1, None),
        (job(backoffLimit=0), 1, False),
        (job(backoffLimit=1), 1, True),
        (job(backoffLimit=1), 2, False),
        (job({"failed": 1}, backoffLimit=1), 1, False),
        (job(), 6, True),
        (job(), 7, False),
        (job(backoffLimit=None), 7, False),
        (job(backoffLimitPerIndex=0, completions=2), 1, False),
        (job(backoffLimitPerIndex=1, completions=2), 1, True),
        (job({"succeeded": 2}, completions=2), 1, False),
        (job({"succeeded": 1}, completions=2), 1, True),
        (job({"succeeded": 1}), 1, False),
        (job(suspend=True), 1, False),
        (job(parallelism=0), 1, False),
        (job({"conditions": [{"type": "Failed", "status": "True"}]}), 1, False),
        (job({"conditions": [{"type": "Failed", "status": "False"}]}), 1, True),
        (job(managedBy="kueue.x-k8s.io/multikueue"), 1, None),
        (job(managedBy="kubernetes.io/job-controller"), 1, True),
    ],
)
def test_a_job_creates_a_pod_within_its_limits(known: Job | None, n_evicted: int, is_made: bool | None):
    assert of_job(known, n_evicted).is_made is is_made


@pytest.mark.parametrize(
    ("rules", "is_made"),
    [
        ([{"action": "Ignore", **DISRUPTED}], True),
        ([{"action": "FailJob", **DISRUPTED}], False),
        ([{"action": "FailIndex", **DISRUPTED}], False),
        ([{"action": "Count", **DISRUPTED}], False),
        ([{"action": "Ignore", "onPodConditions": [{"type": "ConfigIssue"}]}], False),
        ([{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}], True),
        (
            [
                {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
                {"action": "Ignore", **DISRUPTED},
            ],
            True,
        ),
        (
            [
                {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}},
                {"action": "Ignore", **DISRUPTED},
            ],
            None,
        ),
        ([{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [143]}}], None),
    ],
)
def test_the_first_rule_of_the_failure_policy_that_fits_an_eviction_counts(rules: list[Any], is_made: bool | None):
    assert of_job(job(backoffLimit=0, podFailurePolicy={"rules": rules})).is_made is is_made


@pytest.mark.parametrize(("count", "is_made"), [("1", False), ("9" * 5000, True), ("\u0661", True), ("-1", True)])
def test_the_failures_of_an_index_are_in_the_annotation_of_its_pod(count: str, is_made: bool):
    known = job(backoffLimitPerIndex=1, completions=2)
    failed = {"batch.kubernetes.io/job-index-failure-count": count}
    assert of_job(known, annotations=failed).is_made is is_made


def test_an_ignored_eviction_is_no_failure_and_one_too_many_fails_the_job():
    pod = owned("Job", "batch/v1")
    ignoring = job(podFailurePolicy={"rules": [{"action": "Ignore", **DISRUPTED}]})
    assert with_failures(ignoring, pod, 3).status.failed == 0
    once = with_failures(job(backoffLimit=1), pod, 1)
    assert (once.status.failed, of_job(once).is_made) == (1, False)
    twice = with_failures(once, pod, 1)
    assert of_job(twice).why == "Job j has ended"
