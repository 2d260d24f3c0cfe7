import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import Code, Diagnosis, QueueingHint, Status
from kubesched.plugins.dynamic_resources import DynamicResources
from tests.plugins.hinting import NODE_ADD, hint
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

NODES = [node("a"), node("b")]


def asked_about(**spec: object) -> Asked:
    return Asked(DynamicResources(), NODES, pod(**spec))


def test_a_pod_without_claims_passes_and_scores_0():
    asked = asked_about()
    assert asked.plugin.pre_enqueue(asked.pod) is Status.SUCCESS
    assert asked.pre_filter() is Status.SKIP
    assert asked.score() == {"a": 0, "b": 0}
    assert asked.plugin.reserve(asked.state, asked.pod, "a") is Status.SUCCESS
    assert asked.plugin.pre_bind_pre_flight(asked.state, asked.pod, "a") is Status.SKIP


def test_a_pod_with_claims_is_turned_down():
    rejected = asked_about(resourceClaims=[{"name": "gpu"}]).pre_filter()
    assert rejected == Status.undecided("kubesched does not place pods with resource claims yet")
    assert rejected.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


IMPLICIT = "deviceclass.resource.kubernetes.io/gpu"
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"extendedResourceName": "example.com/gpu"},
}


@pytest.mark.parametrize("resource", ["example.com/gpu", IMPLICIT])
def test_a_pod_whose_resource_a_device_class_serves_is_not_decided(resource: str):
    asked = Asked(DynamicResources(), [*NODES, CLASS], pod(requests={"cpu": "1", resource: "1"}))
    sentence = f"kubesched does not place pods whose {resource} is served through DeviceClass gpu yet"
    assert asked.pre_filter() == Status.undecided(sentence)


@pytest.mark.parametrize("requests", [{"cpu": "1"}, {"example.com/fpga": "1"}, {"example.com/gpu": "0"}])
def test_other_pods_pass_beside_a_device_class(requests: dict):
    assert Asked(DynamicResources(), [*NODES, CLASS], pod(requests=requests)).pre_filter() is Status.SKIP


def test_without_its_class_a_resource_is_left_to_the_device_plugins():
    assert Asked(DynamicResources(), NODES, pod(requests={IMPLICIT: "1"})).pre_filter() is Status.SKIP


def test_a_class_that_comes_changes_or_goes_is_worth_a_try_for_the_pods_that_it_serves():
    served, gpu = read_pod(pod(requests={"example.com/gpu": "1"})), read(CLASS)
    other = read({**CLASS, "spec": {"extendedResourceName": "example.com/fpga"}})
    for old, new in ((None, gpu), (gpu, None), (gpu, other), (other, gpu)):
        action = ActionType.ADD if old is None else ActionType.DELETE if new is None else ActionType.UPDATE
        event = ClusterEvent(EventResource.DEVICE_CLASS, action)
        assert hint(DynamicResources(), event, served, old, new) is QueueingHint.QUEUE
        unserved = read_pod(pod(requests={"cpu": "1"}))
        assert hint(DynamicResources(), event, unserved, old, new) is QueueingHint.SKIP
    changed = ClusterEvent(EventResource.DEVICE_CLASS, ActionType.UPDATE)
    assert hint(DynamicResources(), changed, served, gpu, gpu) is QueueingHint.SKIP
    with_claims = read_pod(pod(requests={"example.com/gpu": "1"}, resourceClaims=[{"name": "gpu"}]))
    assert hint(DynamicResources(), changed, with_claims, gpu, other) is QueueingHint.SKIP


def test_post_filter_has_nothing_to_free():
    asked = asked_about()
    asked.pre_filter()
    answer = asked.plugin.post_filter(asked.state, asked.pod, Diagnosis(2))
    assert answer == (None, Status.unschedulable("no new claims to deallocate"))


def test_post_filter_fails_where_pre_filter_did_not_run():
    asked = asked_about()
    assert asked.plugin.post_filter(asked.state, asked.pod, Diagnosis(2)) == (None, Status.error("not found"))


def test_filter_and_score_fail_where_pre_filter_is_switched_off():
    asked = asked_about()
    for hook in (asked.filter, asked.score, lambda: asked.plugin.score_part(asked.state, asked.pod)):
        with pytest.raises(RuntimeError, match=r"^not found$"):
            hook()


def test_every_new_node_is_worth_a_try():
    assert hint(DynamicResources(), NODE_ADD, read_pod(pod()), None, read(NODES[0])) is QueueingHint.QUEUE
