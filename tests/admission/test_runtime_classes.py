"""A new pod gets what its RuntimeClass has, or the API server refuses it."""

import pytest

from kubesched.admission import Refusals
from kubesched.api import Pod
from tests.admission.test_admission import expanded
from tests.snapshot.builders import other, pod, workload

CLASS = other(
    "node.k8s.io/v1",
    "RuntimeClass",
    "kata",
    handler="kata",
    overhead={"podFixed": {"cpu": "250m"}},
    scheduling={"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
)


def refusal_of(manifest, *objects):
    loaded = expanded(manifest, *objects)
    (found,) = loaded.of(Pod)
    return Refusals(loaded, []).admit(found)


@pytest.mark.parametrize("place", ["manifests", "cluster"])
def test_overhead_selector_and_tolerations_are_added(place):
    manifest = workload("Deployment", template={"runtimeClassName": "kata", "nodeSelector": {"disk": "ssd"}})
    loaded = expanded(manifest, CLASS) if place == "manifests" else expanded(manifest, cluster=[CLASS])
    (found,) = loaded.of(Pod)
    assert found.requests == {"cpu": 250}
    assert found.node_selector == {"kata": "yes", "disk": "ssd"}
    assert "kata" in {toleration.key for toleration in found.tolerations}
    assert Refusals(loaded, []).admit(found) == ""


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"runtimeClassName": "gvisor"}, 'pod rejected: RuntimeClass "gvisor" not found'),
        (
            {"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}},
            "conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; pod.spec.nodeSelector[kata] = no",
        ),
        (
            {"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            {"runtimeClassName": "plain", "overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        ({"overhead": {}}, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"),
        ({"runtimeClassName": "kata", "overhead": {}}, ""),
    ],
)
def test_what_contradicts_the_class_is_refused(spec, fault):
    plain = other("node.k8s.io/v1", "RuntimeClass", "plain", handler="runc")
    assert refusal_of(pod("p", **spec), CLASS, plain) == fault


def test_an_empty_overhead_is_that_of_the_class():
    (found,) = expanded(pod("p", runtimeClassName="kata", overhead={}), CLASS).of(Pod)
    assert found.spec.overhead == {"cpu": "250m"}


def test_a_pod_that_tolerates_everything_gets_no_further_tolerations():
    (found,) = expanded(pod("p", runtimeClassName="kata", tolerations=[{"operator": "Exists"}]), CLASS).of(Pod)
    assert [toleration.key for toleration in found.tolerations] == [""]


def test_without_any_runtime_class_nothing_is_refused():
    assert refusal_of(pod("p", runtimeClassName="kata")) == ""


def test_pods_of_the_cluster_stay_as_they_are():
    present = pod("old", runtimeClassName="kata")
    (found,) = expanded(CLASS, cluster=[present]).of(Pod)
    assert found.requests == {}
    assert found.node_selector == {}
