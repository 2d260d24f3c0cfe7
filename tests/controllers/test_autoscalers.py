"""A new workload has as many replicas as its autoscaler gives it at once."""

import pytest

from kubesched.api import HorizontalPodAutoscaler, Pod, ReplicaSet
from kubesched.errors import InputError
from tests.admission.test_admission import expanded
from tests.snapshot.builders import other, workload

SHOP = {"metadata": {"namespace": "shop"}}


def autoscaler(version="autoscaling/v2", kind="Deployment", status=None, **spec):
    target = {"apiVersion": "apps/v1", "kind": kind, "name": "web"}
    fields = {"spec": {"scaleTargetRef": target, "maxReplicas": 4, **spec}, "status": status or {}}
    return other(version, "HorizontalPodAutoscaler", "scale", **SHOP, **fields)


@pytest.mark.parametrize(
    ("written", "least", "tried"),
    [({}, 3, 3), ({"replicas": 1}, 3, 3), ({"replicas": 4}, 3, 4), ({"replicas": 9}, 3, 4), ({}, None, 1)],
)
def test_replicas_are_within_minimum_and_maximum(written, least, tried):
    bounds = {} if least is None else {"minReplicas": least}
    loaded = expanded(workload("Deployment", **written), autoscaler(**bounds))
    assert len(loaded.of(Pod)) == tried
    assert (
        f"<stream>, document 1: Deployment shop/web: replicas are minReplicas {least or 1} to maxReplicas 4, "
        f"tried with {tried} (HorizontalPodAutoscaler scale)"
    ) in loaded.notes


@pytest.mark.parametrize("version", ["autoscaling/v1", "autoscaling/v2beta2", "autoscaling/v2"])
def test_every_version_of_the_kind_counts(version):
    of_version = {"targetCPUUtilizationPercentage": 80} if version == "autoscaling/v1" else {"metrics": []}
    scaler = autoscaler(version, minReplicas=3, **of_version)
    assert len(expanded(workload("Deployment"), scaler).of(Pod)) == 3


def test_an_autoscaler_of_the_cluster_counts_with_what_it_wants_now():
    scaler = autoscaler(minReplicas=2, maxReplicas=40, status={"desiredReplicas": 12})
    assert len(expanded(workload("Deployment"), cluster=[scaler]).of(Pod)) == 12
    assert len(expanded(workload("Deployment", replicas=5), cluster=[scaler]).of(Pod)) == 5


def test_a_workload_with_0_replicas_is_not_scaled():
    assert not expanded(workload("Deployment", replicas=0), autoscaler(minReplicas=3)).of(Pod)


def test_an_autoscaler_of_another_workload_does_not_count():
    other_kind = autoscaler(kind="StatefulSet", minReplicas=3)
    elsewhere = {**autoscaler(minReplicas=3), "metadata": {"name": "scale", "namespace": "dev"}}
    assert len(expanded(workload("Deployment"), other_kind, elsewhere).of(Pod)) == 1
    assert len(expanded(workload("StatefulSet"), other_kind).of(Pod)) == 3


def test_a_scaled_object_of_keda_counts():
    spec = {"scaleTargetRef": {"name": "web"}, "minReplicaCount": 3}
    loaded = expanded(workload("Deployment"), other("keda.sh/v1alpha1", "ScaledObject", "queue", **SHOP, spec=spec))
    assert len(loaded.of(Pod)) == 3
    assert any(
        note.endswith("minReplicas 3 to maxReplicas 100, tried with 3 (ScaledObject queue)") for note in loaded.notes
    )


def test_the_replica_set_has_the_number_too_and_the_autoscaler_is_in_the_cluster():
    loaded = expanded(workload("Deployment"), autoscaler(minReplicas=3))
    (made,) = loaded.of(ReplicaSet)
    assert made.document["spec"]["replicas"] == 3
    assert len(loaded.of(HorizontalPodAutoscaler)) == 1


def refused(*manifests):
    with pytest.raises(InputError) as caught:
        expanded(*manifests)
    return str(caught.value)


@pytest.mark.parametrize(
    ("bounds", "fault"),
    [
        ({"minReplicas": -5}, "spec.minReplicas: found -5; expected 0 or more"),
        ({"minReplicas": 5, "maxReplicas": 2}, "spec.maxReplicas: found 2; expected at least minReplicas, which is 5"),
        ({"maxReplicas": 0}, "spec.maxReplicas: found 0; expected 1 or more"),
        ({"minReplicas": 2**40}, f"spec.minReplicas: found {2**40}; expected an int32"),
    ],
)
def test_bounds_that_an_api_server_refuses_are_a_fault_of_the_autoscaler(bounds, fault):
    text = refused(workload("Deployment"), autoscaler(**bounds))
    assert "HorizontalPodAutoscaler shop/scale" in text
    assert fault in text
    assert "Deployment" not in text


def test_bounds_beyond_any_cluster_name_the_autoscaler():
    text = refused(workload("Deployment"), autoscaler(minReplicas=2_000_000_000, maxReplicas=2_000_000_000))
    assert "spec.replicas, set by HorizontalPodAutoscaler scale: found 2000000000; expected 0 to 500000" in text


def test_a_scaled_object_with_crossed_bounds_is_refused():
    spec = {"scaleTargetRef": {"name": "web"}, "minReplicaCount": 5, "maxReplicaCount": 2}
    text = refused(workload("Deployment"), other("keda.sh/v1alpha1", "ScaledObject", "queue", **SHOP, spec=spec))
    assert "ScaledObject shop/queue" in text
    assert "spec.maxReplicaCount: found 2; expected at least minReplicaCount, which is 5" in text


@pytest.mark.parametrize("turned", [False, True])
def test_several_autoscalers_of_one_workload_are_named(turned):
    first = autoscaler(minReplicas=3)
    second = {**autoscaler(minReplicas=6, maxReplicas=8), "metadata": {"name": "more", "namespace": "shop"}}
    loaded = expanded(workload("Deployment"), *((second, first) if turned else (first, second)))
    assert len(loaded.of(Pod)) == 6
    (note,) = [note for note in loaded.notes if "minReplicas" in note]
    assert "minReplicas 6 to maxReplicas 8, tried with 6" in note
    for name in ("scale", "more"):
        assert f"HorizontalPodAutoscaler {name}" in note
    assert note.endswith(", which both scale it)")
