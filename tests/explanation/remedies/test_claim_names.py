"""Claims and StorageClasses whose names nothing has."""

from kubesched.testing import make_node, make_object
from tests.explanation.asking import claim, texts, with_claim


def storage_class(name: str, **fields: object) -> object:
    return make_object(
        "StorageClass", name, provisioner="x.example.com", volumeBindingMode="WaitForFirstConsumer", **fields
    )


def test_a_misspelt_claim_is_corrected():
    said = texts(with_claim("dtaa"), make_node("n1"), claim(storageClassName="fast"), storage_class("fast"))
    assert said == [
        "correct the name of claim dtaa, which does not exist, to data",
        "create PersistentVolumeClaim default/dtaa",
    ]


def test_a_claim_of_another_namespace_is_not_meant():
    other = make_object("PersistentVolumeClaim", "data", namespace="other", spec={"accessModes": ["ReadWriteOnce"]})
    assert texts(with_claim("dtaa"), make_node("n1"), other) == ["create PersistentVolumeClaim default/dtaa"]


def test_a_misspelt_storage_class_is_corrected():
    said = texts(
        with_claim("data"), make_node("n1"), claim(storageClassName="premium-rw0"), storage_class("premium-rwo")
    )
    assert said[0] == "recreate claim default/data with StorageClass premium-rwo; premium-rw0 does not exist"


def test_a_storage_class_that_is_missing_is_replaced_by_one_that_waits_for_the_pod_the_likeliest_first():
    classes = [storage_class("standard"), storage_class("balanced", parameters={"type": "pd-ssd"})]
    now = make_object("StorageClass", "now", provisioner="x.example.com", volumeBindingMode="Immediate")
    said = texts(with_claim("data"), make_node("n1"), claim(storageClassName="fast-ssd"), *classes, now)
    existing = "recreate claim default/data with a StorageClass that exists (balanced or standard)"
    assert said == [
        f"{existing}, or create StorageClass fast-ssd",
        "create StorageClass fast-ssd, which claim default/data names",
    ]
