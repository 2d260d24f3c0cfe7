"""A pod whose claim is not in order: the cause in words, and the name that was meant before a new object."""

import pytest

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import ask, bound_claim, claim, texts, with_claim
from tests.tasks.clusters import mounting, owned

POD, NODE = with_claim("data"), make_node("n1")


def storage_class(name: str, mode: str = "WaitForFirstConsumer", **fields: object) -> KubeObject:
    return make_object("StorageClass", name, volumeBindingMode=mode, **{"provisioner": "x.example.com", **fields})


def volume(name: str = "pv-1", phase: str = "Available", **spec: object) -> KubeObject:
    has = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    return make_object("PersistentVolume", name, spec={**has, **spec}, status={"phase": phase})


def cause(*objects: KubeObject, pod=POD) -> str:
    """What keeps the pod from every node: the list has it, and the table of nodes has nothing else."""
    explanation = ask(pod, NODE, *objects)
    (row,) = explanation.rows
    assert explanation.outcome.why == "; ".join(row.texts)
    return explanation.outcome.why


# --- the name of a claim ---


def test_a_misspelt_claim_is_corrected_before_one_is_created():
    pod, other = with_claim("dtaa"), [bound_claim(), volume()]
    assert cause(*other, pod=pod) == "claim default/dtaa does not exist (claim data does)"
    assert texts(pod, NODE, *other) == [
        "correct the name of claim dtaa, which does not exist, to data",
        "create PersistentVolumeClaim default/dtaa",
    ]


def test_a_claim_of_another_number_is_not_meant():
    others = [make_object("PersistentVolumeClaim", f"data-db-{i}", spec={"volumeName": "pv-1"}) for i in (0, 1)]
    assert texts(with_claim("data-db-2"), NODE, *others) == ["create PersistentVolumeClaim default/data-db-2"]


def test_a_claim_of_another_namespace_is_told():
    other = make_object("PersistentVolumeClaim", "data", namespace="shop")
    assert cause(other) == "claim default/data does not exist (namespace shop has one of that name)"


# --- the name of a class ---


def test_a_misspelt_class_is_corrected_before_one_is_created():
    objects = [claim(storageClassName="fsat"), storage_class("slow"), storage_class("fast")]
    assert cause(*objects) == "claim default/data names StorageClass fsat, which does not exist"
    assert texts(POD, NODE, *objects) == [
        "recreate claim default/data with StorageClass fast; fsat does not exist",
        "create StorageClass fsat, which claim default/data names",
    ]


@pytest.mark.parametrize(
    ("missing", "first"), [("fast-ssd", "premium-rwo or hdd or slow"), ("x", "hdd or slow or premium-rwo")]
)
def test_a_class_that_is_alike_or_the_default_comes_first(missing: str, first: str):
    default = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    classes = [storage_class("slow"), storage_class("premium-rwo"), storage_class("hdd", **default)]
    said = texts(POD, NODE, claim(storageClassName=missing), *classes)
    existing = f"recreate claim default/data with a StorageClass that exists ({first})"
    assert said[0] == f"{existing}, or create StorageClass {missing}"


def test_a_claim_without_a_class_gets_one_that_exists():
    objects = [claim(), storage_class("fast", "Immediate")]
    assert cause(*objects) == "claim default/data names no StorageClass, and none is the default"
    assert texts(POD, NODE, *objects) == ["recreate claim default/data with a StorageClass (fast)"]


# --- a claim that is bound before the pod is scheduled ---


def test_a_provisioner_that_made_no_volume_is_named():
    objects = [claim(storageClassName="now"), storage_class("now", "Immediate")]
    assert cause(*objects) == "claim default/data has no volume yet: provisioner x.example.com has made none"


def test_a_class_without_an_object_is_one_by_hand_where_volumes_have_it():
    old = {"namespace": "default", "name": "data", "uid": "old"}
    objects = [claim(storageClassName="manual"), volume(phase="Released", storageClassName="manual", claimRef=old)]
    assert cause(*objects) == (
        "claim data finds no volume of class manual: "
        "pv-1 is kept for the deleted claim default/data (Released, claimRef.uid old)"
    )
    first, second = texts(POD, NODE, *objects)
    assert first.startswith("clear spec.claimRef.uid of volume pv-1, which is Released")
    assert second.startswith("add a PersistentVolume of ")


@pytest.mark.parametrize(
    ("at_hand", "words"),
    [
        ([], "names volume pv-1, which does not exist"),
        ([volume()], "is not bound to volume pv-1 yet"),
        (
            [volume(claimRef={"namespace": "a", "name": "b"})],
            "is not bound to volume pv-1 yet: pv-1 is taken by claim a/b",
        ),
    ],
)
def test_a_claim_that_names_its_volume(at_hand: list[KubeObject], words: str):
    assert cause(claim(volumeName="pv-1"), *at_hand) == f"claim default/data {words}"


def test_a_claim_whose_volume_is_gone():
    assert cause(bound_claim()) == "claim default/data is bound to volume pv-1, which does not exist"


def test_a_claim_that_names_a_volume_of_another_claim_does_without_it():
    objects = [claim(volumeName="pv-1", storageClassName="fast"), storage_class("fast")]
    assert texts(POD, NODE, *objects) == ["recreate claim default/data without spec.volumeName pv-1"]


OLD = {"namespace": "default", "name": "data", "uid": "old"}


def test_the_data_of_a_released_volume_comes_before_an_empty_one():
    kept = volume(phase="Released", claimRef=OLD, storageClassName="fast", persistentVolumeReclaimPolicy="Retain")
    first, second = texts(POD, NODE, claim(volumeName="pv-1", storageClassName="fast"), kept, storage_class("fast"))
    assert first.startswith("clear spec.claimRef.uid of volume pv-1, which is Released and has the data of")
    assert second == (
        "recreate claim default/data without spec.volumeName pv-1 (an empty volume; the data in pv-1 stays there)"
    )


@pytest.mark.parametrize("phase", ["Available", "Bound"])
def test_a_claim_that_is_being_bound_needs_nothing_but_time(phase: str):
    mine = claim(volumeName="pv-1", storageClassName="fast")
    ref = {"namespace": "default", "name": "data", **({"uid": mine.uid} if phase == "Bound" else {})}
    kept = volume(phase=phase, claimRef=ref, storageClassName="fast")
    (only,) = texts(POD, NODE, mine, kept, storage_class("fast"))
    assert only == "wait: the volume controller binds claim default/data to volume pv-1"


def test_a_claim_that_is_being_deleted_is_waited_for():
    leaves = {"deletionTimestamp": "2026-11-01T00:00:00Z"}
    spec = {"accessModes": ["ReadWriteOnce"], "volumeName": "pv-1"}
    old = make_object("PersistentVolumeClaim", "data-db-0", metadata=leaves, spec=spec)
    pod = make_pod("db-0", spec=mounting("data-db-0"), metadata=owned("StatefulSet", "db"))
    (fix,) = ask(pod, NODE, old, volume()).fixes
    assert fix.text == (
        "wait until claim default/data-db-0 is gone, then delete pod default/db-0: StatefulSet db makes both again, "
        "and the new claim is empty"
    )
    assert [patch.action for patch in fix.patches] == [""]  # nobody takes a deletion back
    alone = make_pod("db-0", spec=mounting("data-db-0"))
    assert texts(alone, NODE, old, volume()) == [
        "wait until claim default/data-db-0 is gone, then create it again: the new one is empty"
    ]


def test_a_pod_that_evicts_the_user_of_its_claim_is_told_what_makes_it():
    one = {"accessModes": ["ReadWriteOncePod"]}
    kept = volume(**one)
    user = make_pod("vault-0", node="n1", spec=mounting("data"), metadata=owned("StatefulSet", "vault"))
    spec = {**mounting("data"), "priorityClassName": "urgent"}
    backup = make_pod("backup", priority=100, spec=spec, metadata=owned("Job", "backup"))
    explanation = ask(backup, NODE, bound_claim(**one), kept, user)
    assert explanation.preemption is not None
    assert explanation.preemption.claims == ("data",)
    assert explanation.outcome.why == (
        "Preemption would make room on n1 by evicting default/vault-0 (priority 0, then pending): "
        "priority class urgent makes it evict the pod that has its claim data (mount a clone or snapshot instead)"
    )
    assert [fix.text for fix in explanation.fixes] == [
        "mount a clone or snapshot of claim data, or wait until default/vault-0 (n1) has ended"
    ]


def test_what_nearly_suits_comes_before_a_new_volume():
    by_hand = storage_class("manual", "WaitForFirstConsumer", provisioner="kubernetes.io/no-provisioner")
    shared = volume("nfs", accessModes=["ReadWriteMany"], storageClassName="manual")
    first, second = texts(POD, NODE, by_hand, claim(storageClassName="manual"), shared)
    assert first == "recreate claim default/data with access mode ReadWriteMany, as volume nfs has"
    assert second.startswith("add a PersistentVolume of ")
    ten = {"resources": {"requests": {"storage": "10Gi"}}}
    for size, is_near in (("9Gi", True), ("2Gi", False)):
        small = volume("small", storageClassName="manual", capacity={"storage": size})
        said = texts(POD, NODE, by_hand, claim(storageClassName="manual", **ten), small)
        assert said.index(f"recreate claim default/data with {size}, as volume small has") == (0 if is_near else 1)


def test_a_class_that_makes_no_volumes_is_not_offered_for_one_that_is_missing():
    """And the new class counts like the one that is offered: its driver takes so many volumes on a node."""
    by_hand = storage_class("local-ssd", provisioner="kubernetes.io/no-provisioner")
    driver = {"name": "x.example.com", "nodeID": "n", "topologyKeys": [], "allocatable": {"count": 0}}
    full = [make_node("n2"), make_object("CSINode", "n2", spec={"drivers": [driver]})]
    fixes = ask(POD, NODE, *full, claim(storageClassName="premium"), by_hand, storage_class("gp")).fixes
    assert {(fix.text, fix.nodes) for fix in fixes} == {
        ("recreate claim default/data with a StorageClass that exists (gp), or create StorageClass premium", ("n1",)),
        ("create StorageClass premium, which claim default/data names", ("n1",)),
    }


def test_a_class_that_is_missing_can_be_created_beside_one_that_makes_no_volumes():
    by_hand = storage_class("local-ssd", provisioner="kubernetes.io/no-provisioner")
    assert texts(POD, NODE, claim(storageClassName="premium"), by_hand) == [
        "create StorageClass premium, which claim default/data names"
    ]
