"""ResourceQuotas refuse the new pods that would exceed them."""

import pytest

from kubesched.admission import Refusals
from kubesched.api import Pod
from kubesched.snapshot import load_snapshot
from tests.snapshot.builders import listed, other, pod, stream


def quota(status=None, name="q", scopes=None, selector=None, **hard):
    spec = {"hard": {key.replace("_", "."): amount for key, amount in hard.items()}}
    spec |= ({"scopes": scopes} if scopes else {}) | (
        {"scopeSelector": {"matchExpressions": selector}} if selector else {}
    )
    return other("v1", "ResourceQuota", name, metadata={"namespace": "shop"}, spec=spec, status=status or {})


def asking(name="p", limits=None, **requests):
    return pod(name, containers=[{"name": "c", "resources": {"requests": requests, "limits": limits or {}}}])


def refusals(*objects):
    loaded = load_snapshot(stream(listed(*objects)))
    return Refusals(loaded, loaded.of(Pod))


def new(document):
    (found,) = load_snapshot(stream(document)).of(Pod)
    return found


def test_pods_are_counted_until_the_quota_is_used_up():
    api = refusals(quota(cpu="3", status={"hard": {"cpu": "3"}, "used": {"cpu": "500m"}}))
    assert api.admit(new(asking("a", cpu="2"))) == ""
    assert api.admit(new(asking("b", cpu="1"))) == (
        "exceeded quota: q, requested: cpu=1, used: cpu=2500m, limited: cpu=3"
    )
    assert api.admit(new(asking("c", cpu="500m"))) == ""


def test_without_a_status_the_pods_of_the_namespace_are_counted():
    old = [asking(f"old-{i}", memory="1Gi") for i in range(2)]
    done = asking("done", memory="9Gi") | {"status": {"phase": "Succeeded"}}
    api = refusals(*old, done, quota(requests_memory="2560Mi", pods="9"))
    assert api.admit(new(asking("p", memory="1Gi"))) == (
        "exceeded quota: q, requested: requests.memory=1Gi, used: requests.memory=2Gi, limited: requests.memory=2560Mi"
    )


@pytest.mark.parametrize(("spec", "status", "limited"), [("9", "3", "3"), ("1", "3", "3"), ("3", "", "3")])
def test_the_limit_is_that_of_the_status_which_the_api_server_compares_with(spec: str, status: str, limited: str):
    hard = {"hard": {"cpu": status}} if status else {}
    api = refusals(quota(cpu=spec, status=hard))
    assert api.admit(new(asking("a", cpu="3"))) == ""
    assert api.admit(new(asking("b", cpu="1"))).endswith(f"used: cpu=3, limited: cpu={limited}")


def test_what_the_status_does_not_limit_is_not_limited():
    api = refusals(quota(cpu="1", pods="1", status={"hard": {"pods": "1"}}))
    assert api.admit(new(asking("a", cpu="3"))) == ""
    assert "requested: pods=1, used: pods=1, limited: pods=1" in api.admit(new(asking("b", cpu="3")))


def test_what_pods_free_can_be_used_again():
    old = asking("old", cpu="2")
    api = refusals(old, quota(cpu="3", status={"used": {"cpu": "3"}}))
    assert api.admit(new(asking("p", cpu="1")))
    api.count_again([])
    assert api.admit(new(asking("p", cpu="1"))) == ""


@pytest.mark.parametrize(
    ("hard", "manifest", "fault"),
    [
        ({"pods": "0"}, pod("p"), "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"),
        (
            {"count/pods": "0"},
            pod("p"),
            "exceeded quota: q, requested: count/pods=1, used: count/pods=0, limited: count/pods=0",
        ),
        (
            {"requests_example.com/gpu": "1"},
            pod("p", containers=[{"name": "c", "resources": {"requests": {"example.com/gpu": 2}}}]),
            (
                "exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=0, "
                "limited: requests.example.com/gpu=1"
            ),
        ),
        (
            {"limits_cpu": "4", "requests_cpu": "4"},
            asking("p", cpu="1"),
            "failed quota: q: must specify limits.cpu for: c",
        ),
        (
            {"limits_memory": "4Gi", "cpu": "4"},
            pod("p", containers=[{"name": "a"}, {"name": "b"}]),
            "failed quota: q: must specify cpu for: a,b; limits.memory for: a,b",
        ),
    ],
)
def test_the_message_is_that_of_the_api_server(hard, manifest, fault):
    hard = {key.replace("requests_example", "requests.example"): amount for key, amount in hard.items()}
    assert refusals(quota(**hard)).admit(new(manifest)) == fault


@pytest.mark.parametrize(
    ("scope", "spec", "counts"),
    [
        ({"scopes": ["BestEffort"]}, {}, True),
        ({"scopes": ["NotBestEffort"]}, {}, False),
        ({"scopes": ["Terminating"]}, {"activeDeadlineSeconds": 5}, True),
        ({"scopes": ["NotTerminating"]}, {"activeDeadlineSeconds": 5}, False),
        ({"selector": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}, {}, False),
        (
            {"selector": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]},
            {"priorityClassName": "high"},
            True,
        ),
        (
            {"selector": [{"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]}]},
            {"priorityClassName": "high"},
            False,
        ),
        ({"selector": [{"scopeName": "PriorityClass", "operator": "DoesNotExist"}]}, {}, True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {}, False),
    ],
)
def test_scopes_choose_the_pods(scope, spec, counts):
    assert bool(refusals(quota(pods="0", **scope)).admit(new(pod("p", **spec)))) is counts


def test_a_quota_of_another_namespace_does_not_count():
    elsewhere = quota(pods="0") | {"metadata": {"name": "q", "namespace": "dev"}}
    assert refusals(elsewhere).admit(new(pod("p"))) == ""


def test_what_has_to_be_specified_comes_before_what_is_exceeded():
    api = refusals(quota(name="a", pods="0"), quota(name="b", cpu="1"))
    assert api.admit(new(pod("p"))) == "failed quota: b: must specify cpu for: main"


def test_a_pod_with_resources_of_its_own_need_not_specify_others():
    api = refusals(quota(cpu="1", memory="1Gi"))
    assert api.admit(new(pod("p", resources={"requests": {"cpu": "100m"}}))) == ""


def test_best_effort_pods_with_resources_of_their_own_are_told_by_these():
    api = refusals(quota(pods="0", scopes=["BestEffort"]))
    containers = asking(cpu="1")["spec"]["containers"]
    assert api.admit(new(pod("p", containers=containers))) == ""
    assert api.admit(new(pod("p", containers=containers, resources={})))


@pytest.mark.parametrize(
    ("requests", "used", "message"),
    [
        (["1Gi", "1G"], "512M", "requested: memory=2073741824, used: memory=512M, limited: memory=1Gi"),
        (["1e9"], "0.25Gi", "requested: memory=1e9, used: memory=256Mi, limited: memory=1Gi"),
        (["1500M"], "0", "requested: memory=1500M, used: memory=0, limited: memory=1Gi"),
    ],
)
def test_each_amount_is_shown_as_it_was_written(requests, used, message):
    api = refusals(quota(memory="1Gi", status={"hard": {"memory": "1Gi"}, "used": {"memory": used}}))
    containers = [{"name": f"c{i}", "resources": {"requests": {"memory": one}}} for i, one in enumerate(requests)]
    assert api.admit(new(pod("p", containers=containers))) == f"exceeded quota: q, {message}"
