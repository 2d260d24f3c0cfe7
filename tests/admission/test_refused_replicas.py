from typing import Any

import pytest

from kubesched.admission import refused_replicas
from kubesched.api import KubeObject
from kubesched.testing import make_object, make_pod

LABELS = {"app": "ads"}
REFUSAL = (
    'pods "ads-5d-" is forbidden: exceeded quota: team, requested: requests.cpu=1, used: requests.cpu=3, '
    "limited: requests.cpu=3"
)
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "ads", "uid": "d", "controller": True}


def pods(n: int, kind: str = "ReplicaSet", name: str = "ads-5d", **more: Any) -> list[KubeObject]:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "x", "controller": True}
    metadata = {"ownerReferences": [owner]}
    return [make_pod(f"{name}-{i}", requests={"cpu": "1"}, metadata=metadata, node="n1", **more) for i in range(n)]


def template(cpu: str = "1") -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    return {
        "metadata": {"labels": LABELS},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": resources}]},
    }


def owner(kind: str = "ReplicaSet", name: str = "ads-5d", cpu: str = "1", **more: Any) -> KubeObject:
    spec = {"selector": {"matchLabels": LABELS}, "template": template(cpu), **more.pop("spec", {"replicas": 6})}
    metadata = {"ownerReferences": [DEPLOYMENT]} if kind == "ReplicaSet" else {}
    return make_object(kind, name, metadata=metadata, spec=spec, **more)


def noted(message: str = REFUSAL) -> dict[str, Any]:
    failed = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    return {"replicas": 3, "conditions": [failed]}


def quota(**hard: str) -> KubeObject:
    limits = {name.replace("_", "."): amount for name, amount in hard.items()}
    return make_object("ResourceQuota", "team", spec={"hard": limits}, status={"hard": limits})


def test_the_condition_of_a_replica_set_says_which_pods_do_not_exist_and_what_the_quota_has_to_allow():
    (one,) = refused_replicas([owner(status=noted()), *pods(3)])
    assert one.workload == "Deployment default/ads"
    assert one.text == "3 of 6 pods do not exist: exceeded quota team (requests.cpu 3 of 3)"
    assert one.fix == "raise quota default/team: requests.cpu from 3 to 6, or lower the requests"
    assert (one.quota, one.hard, one.message) == ("default/team", {"requests.cpu": "6"}, REFUSAL)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("ReplicaSet", {"replicas": 6}),
        ("StatefulSet", {"replicas": 6, "serviceName": "ads"}),
        ("ReplicationController", {"replicas": 6, "selector": LABELS}),
        ("Job", {"parallelism": 6, "completions": 9}),
    ],
)
def test_the_quota_of_the_snapshot_is_asked_where_no_condition_says_it(kind, spec):
    (one,) = refused_replicas([owner(kind, spec=spec), *pods(3, kind), quota(requests_cpu="4")])
    assert one.text == "2 of 6 pods do not exist: exceeded quota team (requests.cpu 4 of 4)"  # one more is created
    assert one.hard == {"requests.cpu": "6"}


def test_the_template_is_asked_where_a_workload_has_no_pod():
    (one,) = refused_replicas([owner(spec={"replicas": 2}), quota(requests_cpu="500m")])
    assert one.text == "2 of 2 pods do not exist: exceeded quota team (requests.cpu 0 of 500m)"
    (one,) = refused_replicas([owner(cpu="", spec={"replicas": 1}), quota(requests_cpu="1")])
    assert one.text == "1 of 1 pods does not exist: failed quota: team: must specify requests.cpu for: c"


def test_a_limit_range_gives_the_requests_that_count():
    limits = make_object("LimitRange", "l", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "2"}}]})
    (one,) = refused_replicas([owner(cpu="", spec={"replicas": 2}), limits, quota(requests_cpu="1")])
    assert one.hard == {"requests.cpu": "4"}


def test_two_replica_sets_of_one_rollout_are_one_workload():
    old, new = owner(spec={"replicas": 3}), owner(name="ads-6f", status=noted(), spec={"replicas": 2})
    (one,) = refused_replicas([old, new, *pods(3)])
    assert (one.n_refused, one.n_wanted) == (2, 5)


@pytest.mark.parametrize(
    "objects",
    [
        [owner(), *pods(6), quota(requests_cpu="6")],
        [owner(status=noted()), *pods(6)],
        [owner(), *pods(3)],  # nothing says why; they may come
        [owner(), *pods(3), quota(requests_cpu="6")],
        [owner("Job", spec={"parallelism": 3, "suspend": True}), quota(pods="0")],
        [owner("Job", spec={"parallelism": 3, "completions": 4}, status={"succeeded": 4}), quota(pods="0")],
    ],
)
def test_a_workload_whose_pods_exist_or_may_come_is_not_named(objects):
    assert refused_replicas(objects) == ()


def test_a_refusal_for_another_reason_keeps_the_words_of_the_api_server():
    message = 'admission webhook "policy.example.com" denied the request: no'
    (one,) = refused_replicas([owner(status=noted(message)), *pods(3)])
    assert one.text == f"3 of 6 pods do not exist: {message}"
    assert one.quota == ""
