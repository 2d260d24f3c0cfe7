from kubesched.admission.claim_defaults import default_claim, default_storage_class, ephemeral_claims
from kubesched.snapshot import load_snapshot
from tests.snapshot.builders import listed, other, stream


def storage_class(name, created, **annotations):
    metadata = {"creationTimestamp": created, "annotations": annotations}
    return other("storage.k8s.io/v1", "StorageClass", name, metadata=metadata)


def defaulted(spec, storage_class="fast", **annotations):
    claim = {"metadata": {"name": "c", "annotations": annotations}, "spec": spec}
    default_claim(claim, storage_class)
    return claim["spec"]


def test_the_newest_class_marked_as_default_is_the_default():
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    beta = {"storageclass.beta.kubernetes.io/is-default-class": "true"}
    classes = [
        storage_class("old", "2025-01-01T00:00:00Z", **marked),
        storage_class("new", "2026-01-01T00:00:00Z", **beta),
        storage_class("unmarked", "2026-06-01T00:00:00Z"),
        storage_class("no", "2026-06-01T00:00:00Z", **{"storageclass.kubernetes.io/is-default-class": "false"}),
    ]
    assert default_storage_class(load_snapshot(stream(listed(*classes))).objects) == "new"
    assert default_storage_class([]) == ""


def test_a_claim_without_a_class_gets_the_default_one():
    assert defaulted({}) == {"volumeMode": "Filesystem", "storageClassName": "fast"}


def test_a_claim_keeps_the_class_it_names():
    assert defaulted({"storageClassName": "", "volumeMode": "Block"}) == {"storageClassName": "", "volumeMode": "Block"}
    assert "storageClassName" not in defaulted({}, **{"volume.beta.kubernetes.io/storage-class": "slow"})


def test_without_a_default_class_a_claim_has_none():
    assert defaulted({}, storage_class="") == {"volumeMode": "Filesystem"}


def test_an_ephemeral_volume_brings_a_claim_that_the_pod_owns():
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    pod = {
        "metadata": {"name": "p", "namespace": "shop", "uid": "u"},
        "spec": {
            "volumes": [
                {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}},
                {"name": "other", "emptyDir": {}},
            ]
        },
    }
    (claim,) = ephemeral_claims(pod)
    assert claim["metadata"]["name"] == "p-scratch"
    assert claim["metadata"]["namespace"] == "shop"
    assert claim["metadata"]["labels"] == {"a": "b"}
    assert claim["metadata"]["ownerReferences"][0]["uid"] == "u"
    assert claim["spec"] == {"accessModes": ["ReadWriteOnce"]}
