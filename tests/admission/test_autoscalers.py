"""A new workload has as many replicas as its autoscaler gives it at once."""

import pytest

from kubesched.api import HorizontalPodAutoscaler, Pod, ReplicaSet
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
