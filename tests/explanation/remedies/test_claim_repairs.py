"""Claims and volumes: what is created, bound, restored or moved."""

import pytest

from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import (
    ZONE,
    bound_claim,
    claim,
    fixes_of,
    texts,
    with_claim,
)


def test_a_claim_that_is_missing_is_created():
    assert texts(with_claim("data"), make_node("n1")) == ["create PersistentVolumeClaim default/data"]


def test_a_storage_class_that_is_missing_is_created():
    said = texts(with_claim("data"), make_node("n1"), claim(storageClassName="fast"))
    assert said == ["create StorageClass fast, which claim default/data names"]


def test_a_claim_that_does_not_wait_for_the_pod_is_bound():
    fast = make_object("StorageClass", "fast", provisioner="x.example.com", volumeBindingMode="Immediate")
    said = texts(with_claim("data"), make_node("n1"), claim(storageClassName="fast"), fast)
    assert said == [
        "bind PersistentVolumeClaim default/data to a volume (its StorageClass fast does not wait for the pod)"
    ]


def test_a_volume_that_is_gone_is_restored():
    said = texts(with_claim("data"), make_node("n1"), bound_claim())
    assert said == ["restore PersistentVolume pv-1, to which claim default/data is bound"]


@pytest.mark.parametrize("by_label", [True, False])
def test_a_disk_stays_in_its_zone(by_label):
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}]}
    where = {"labels": {ZONE: "b"}} if by_label else {}
    spec = {} if by_label else {"nodeAffinity": {"required": terms}}
    volume = make_object("PersistentVolume", "pv-1", spec={"capacity": {"storage": "1Gi"}, **spec}, **where)
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b")]
    said = texts(with_claim("data", nodeSelector={ZONE: "a"}), *nodes, bound_claim(), volume)
    assert f"change the node selector {ZONE}=a to {ZONE}=b" in said
    assert "recreate claim default/data in zone a (a disk stays in its zone; copy the data first)" in said


def test_a_claim_that_finds_no_volume_gets_one():
    local = make_object(
        "StorageClass",
        "local",
        provisioner="kubernetes.io/no-provisioner",
        volumeBindingMode="WaitForFirstConsumer",
    )
    wanted = claim(storageClassName="local", resources={"requests": {"storage": "5Gi"}})
    said = texts(with_claim("data"), make_node("n1"), local, wanted)
    assert said == ["add a PersistentVolume of 5Gi of class local for claim default/data"]


def test_a_claim_with_data_is_not_deleted_lightly():
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    spec = {"volumes": [{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}]}
    older = make_object("PersistentVolumeClaim", "db-data", spec=template["spec"])
    fixes = fixes_of(make_pod("db", spec=spec), make_node("n1"), older)
    (only,) = fixes
    assert only.startswith(
        "rename the volume, because PersistentVolumeClaim default/db-data was not created for the pod"
    )
    assert not fixes[only].keeps_intent
