import io
import json

import pytest

from kubesched.explanation import Explainer, explain
from kubesched.framework import Diagnosis, FilterResult, Rejections, Status
from kubesched.plugins.dynamic_resources import DynamicResources
from kubesched.snapshot import load_snapshot
from tests.device_cluster import device_cluster
from tests.plugins.dynamic_resources.device_objects import (
    allocation,
    ask,
    claim,
    device,
    device_class,
    resource_slice,
    selecting,
    using,
)
from tests.plugins.one_plugin import Asked, node, pod

NODES = [node("a"), node("b")]
NO_DEVICES = Status.unresolvable("cannot allocate all claims")
WANTING = pod(resourceClaims=using("mine"))


def asked_about(**spec: object) -> Asked:
    return Asked(DynamicResources(), NODES, pod(**spec))


def test_a_pod_without_claims_passes_and_scores_0():
    asked = asked_about()
    assert asked.plugin.pre_enqueue(asked.pod) is Status.SUCCESS
    assert asked.pre_filter() is Status.SKIP
    assert asked.score() == {"a": 0, "b": 0}
    assert asked.plugin.reserve(asked.state, asked.pod, "a") is Status.SUCCESS
    assert asked.plugin.pre_bind_pre_flight(asked.state, asked.pod, "a") is Status.SKIP


IMPLICIT = "deviceclass.resource.kubernetes.io/gpu"
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"extendedResourceName": "example.com/gpu"},
}


@pytest.mark.parametrize("resource", ["example.com/gpu", IMPLICIT])
def test_devices_serve_a_resource_where_no_device_plugin_does(resource: str):
    plugged = node("plugged", allocatable={"cpu": "4", resource: "1"})
    items = [*NODES, plugged, CLASS, resource_slice("a", [device("d")])]
    asked = Asked(DynamicResources(), items, pod(requests={"cpu": "1", resource: "1"}))
    assert asked.pre_filter() is Status.SUCCESS
    assert asked.filter() == {"b": NO_DEVICES}


@pytest.mark.parametrize("requests", [{"cpu": "1"}, {"example.com/fpga": "1"}, {"example.com/gpu": "0"}])
def test_other_pods_pass_beside_a_device_class(requests: dict):
    assert Asked(DynamicResources(), [*NODES, CLASS], pod(requests=requests)).pre_filter() is Status.SKIP


def test_without_its_class_a_resource_is_left_to_the_device_plugins():
    assert Asked(DynamicResources(), NODES, pod(requests={IMPLICIT: "1"})).pre_filter() is Status.SKIP


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


def test_an_error_names_the_claims_of_the_pod_that_is_asked_about():
    gpus = [resource_slice(name, [device("d")]) for name in "ab"]
    broken = ask(selectors=selecting('device.attributes["gpu.example.com"].numa == 1'))
    items = [*NODES, device_class(), *gpus, claim("first", broken), claim("second", broken)]
    pods = [{**pod(name, resourceClaims=using(name)), "kind": "Pod"} for name in ("first", "second")]
    with Explainer(load_snapshot(io.StringIO(json.dumps({"kind": "List", "items": [*items, *pods]})))) as explainer:
        for name in ("first", "second", "first"):
            found = explainer.explain(f"default/{name}")
            error = f"claim default/{name}: selector #0: CEL runtime error: no such key: numa"
            assert found.failure is not None
            assert found.failure.message == f'running "DynamicResources" filter plugin: {error}'


def test_a_pod_that_runs_with_a_device_fits_where_it_is():
    explanation = explain(device_cluster(), "default/on-dra-1")
    assert (explanation.runs_on, "dra-1" in explanation.feasible) == ("dra-1", True)


def test_a_claim_that_is_allocated_elsewhere_is_given_back_if_no_other_pod_uses_it():
    mine = claim("mine", ask(), status=allocation("a", "d"))
    used = {**mine["status"], "reservedFor": [{"resource": "pods", "name": "other", "uid": "other"}]}
    for status, n_writes, words in (
        (mine["status"], 1, "deallocation of ResourceClaim completed"),
        (used, 0, "still not schedulable"),
    ):
        asked = Asked(DynamicResources(), [NODES[1], device_class(), {**mine, "status": status}], WANTING)
        asked.pre_filter()
        assert asked.filter() == {"b": Status.unresolvable("resourceclaim not available on the node")}
        result, said = asked.plugin.post_filter(asked.state, asked.pod, diagnosis_of(asked))
        assert said == Status.unschedulable(words)
        writes = result.writes if result else ()
        assert [one.subresource for one in writes] == ["status"] * n_writes
        assert all(one.object.status.allocation is None for one in writes)


def diagnosis_of(asked: Asked) -> Diagnosis:
    verdicts = asked.plugin.filter_nodes(asked.state, asked.pod, asked.nodes)
    diagnosis = Diagnosis(len(asked.nodes))
    diagnosis.take_in(FilterResult(asked.nodes, [Rejections("DynamicResources", verdicts)]))
    return diagnosis
