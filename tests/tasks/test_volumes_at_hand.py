"""A claim that waits for its pod and finds no volume: the volumes at hand are named with what is wrong with each."""

import pytest

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import ask, texts, why
from tests.tasks.clusters import mounting, owned

HOST = "kubernetes.io/hostname"
OLD = {"namespace": "default", "name": "data", "uid": "old-uid"}
NODE = make_node("n1", labels={HOST: "n1", "rack": "r1"})
POD = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})


def storage_class(name: str, provisioner: str = "kubernetes.io/no-provisioner", **fields: object) -> KubeObject:
    return make_object(
        "StorageClass", name, provisioner=provisioner, volumeBindingMode="WaitForFirstConsumer", **fields
    )


def claim(storage: str = "10Gi", class_name: str = "manual", **spec: object) -> KubeObject:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return make_object(
        "PersistentVolumeClaim", "data", uid="new-uid", spec={**asked, "storageClassName": class_name, **spec}
    )


def volume(name: str, phase: str = "Available", **spec: object) -> KubeObject:
    has = {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "manual"}
    return make_object("PersistentVolume", name, spec={**has, **spec}, status={"phase": phase})


@pytest.mark.parametrize(
    ("at_hand", "words"),
    [
        ([], "there is none"),
        ([volume("pv", capacity={"storage": "5Gi"})], "pv has 5Gi of 10Gi"),
        ([volume("pv", accessModes=["ReadWriteMany"])], "pv is ReadWriteMany, not ReadWriteOnce"),
        ([volume("pv", volumeMode="Block")], "pv has volumeMode Block, not Filesystem"),
        ([volume("pv", storageClassName="slow")], "pv has class slow"),
        ([volume("pv", storageClassName="slow", capacity={"storage": "5Gi"})], "there is none"),
        ([volume("pv", "Failed")], "pv is Failed"),
        (
            [volume("pv", "Bound", claimRef={"namespace": "ahmed", "name": "home", "uid": "u"})],
            "pv is taken by claim ahmed/home",
        ),
        (
            [volume("pv", "Released", claimRef=OLD)],
            "pv is kept for the deleted claim default/data (Released, claimRef.uid old-uid)",
        ),
        (
            [volume("pv", capacity={"storage": "5Gi"}, accessModes=["ReadWriteMany"])],
            "pv has 5Gi of 10Gi and is ReadWriteMany, not ReadWriteOnce",
        ),
    ],
)
def test_a_volume_is_named_with_what_is_wrong_with_it(at_hand: list[KubeObject], words: str):
    said = why(POD, NODE, storage_class("manual"), claim(), *at_hand)
    assert said == {"VolumeBinding": f"claim data finds no volume of class manual: {words}"}


def test_a_volume_that_is_elsewhere_is_named_with_its_place():
    terms = [{"matchExpressions": [{"key": HOST, "operator": "In", "values": ["n2"]}]}]
    local = volume("pv", nodeAffinity={"required": {"nodeSelectorTerms": terms}})
    said = why(POD, NODE, storage_class("manual"), claim(), local)
    assert said == {"VolumeBinding": "claim data finds no volume of class manual: pv is on n2"}


def test_what_can_be_mended_comes_before_what_is_taken():
    taken = [volume(f"pv-{i}", "Bound", claimRef={"namespace": "a", "name": f"c{i}"}) for i in range(4)]
    said = why(POD, NODE, storage_class("manual"), claim(), *taken, volume("small", capacity={"storage": "1Gi"}))
    taken_words = "; ".join(f"pv-{i} is taken by claim a/c{i}" for i in range(2))
    assert said["VolumeBinding"].endswith(f": small has 1Gi of 10Gi; {taken_words}; 2 more")


def test_a_released_volume_is_freed_for_the_claim_of_the_same_name():
    first, second = texts(POD, NODE, storage_class("manual"), claim(), volume("pv", "Released", claimRef=OLD))
    assert first == (
        "clear spec.claimRef.uid of volume pv, which is Released and has the data of the deleted claim default/data"
    )
    assert second == "add a PersistentVolume of 10Gi of class manual for claim default/data"


def test_the_data_of_another_claim_comes_after_an_empty_volume():
    other = {"namespace": "default", "name": "other", "uid": "u"}
    first, second = texts(POD, NODE, storage_class("manual"), claim(), volume("pv", "Released", claimRef=other))
    assert first == "add a PersistentVolume of 10Gi of class manual for claim default/data"
    assert second == (
        "clear spec.claimRef of volume pv, which is Released and has the data of the deleted claim default/other"
    )


def test_a_claim_can_ask_for_what_a_volume_has():
    small = volume("pv", capacity={"storage": "5Gi"}, accessModes=["ReadWriteMany"])
    said = texts(POD, NODE, storage_class("manual"), claim(), small)
    assert said[1] == "recreate claim default/data with 5Gi and access mode ReadWriteMany, as volume pv has"


# --- storage that the driver publishes ---


def capacity(name: str, node: str, **sizes: str) -> KubeObject:
    return make_object(
        "CSIStorageCapacity", name, storageClassName="zfs", nodeTopology={"matchLabels": {HOST: node}}, **sizes
    )


ZFS = [
    storage_class("zfs", "zfs.example.com"),
    make_object("CSIDriver", "zfs.example.com", spec={"storageCapacity": True}),
    make_node("n2", labels={HOST: "n2"}),
]


def test_the_capacity_and_the_largest_volume_are_told():
    published = [capacity("a", "n1", capacity="30Gi"), capacity("b", "n2", capacity="50Gi", maximumVolumeSize="35Gi")]
    objects = [NODE, *ZFS, claim("40Gi", "zfs"), *published]
    (row,) = ask(POD, *objects).rows
    assert row.texts == ("claim data asks for 40Gi of class zfs, which has at most 30Gi to 35Gi for the node",)
    smaller = "recreate claim default/data with 35Gi instead of 40Gi, the most that class zfs has, on n2"
    assert texts(POD, *objects) == [smaller]  # n2 has 50Gi free already
    less = [capacity("a", "n1", capacity="35Gi")]
    assert texts(POD, *objects[:-2], *less)[-1] == "free or add storage of class zfs on n1: the claim asks for 40Gi"


def test_a_smaller_claim_is_not_larger_than_what_there_is():
    said = texts(POD, NODE, *ZFS, claim("40Gi", "zfs"), capacity("a", "n1", capacity="37580000000"))
    assert said[0].startswith("recreate claim default/data with 34.9Gi instead of 40Gi")


def test_no_volume_is_made_by_hand_for_a_class_that_makes_them():
    objects = [NODE, *ZFS, claim("40Gi", "zfs")]
    assert why(POD, *objects) == {
        "VolumeBinding": "claim data asks for 40Gi of class zfs, which has nothing for the node"
    }
    assert texts(POD, *objects) == [
        "let CSI driver zfs.example.com publish its storage: no CSIStorageCapacity of class zfs is there for n1"
    ]


def test_a_class_that_makes_volumes_elsewhere_is_told():
    elsewhere = [{"matchLabelExpressions": [{"key": "rack", "values": ["r7", "r8"]}]}]
    made = storage_class("zfs", "zfs.example.com", allowedTopologies=elsewhere)
    said = why(POD, NODE, made, claim("1Gi", "zfs"))
    assert said == {"VolumeBinding": "claim data: class zfs makes volumes only in rack r7 or r8"}
    assert texts(POD, NODE, made, claim("1Gi", "zfs")) == [
        "add a node like n1 in rack r7: class zfs makes no volumes elsewhere"
    ]


def test_a_smaller_claim_of_a_stateful_set_is_not_all():
    """Its template asks for as much again, and the claim has no data to lose."""
    of = {"metadata": owned("StatefulSet", "db")}
    pod = make_pod("db-0", spec=mounting("data-db-0"), **of)
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "zfs", "resources": {"requests": {"storage": "40Gi"}}}
    asks = make_object("PersistentVolumeClaim", "data-db-0", spec=spec)
    fix = ask(pod, NODE, *ZFS, asks, capacity("a", "n1", capacity="50Gi", maximumVolumeSize="35Gi")).fixes[0]
    assert fix.text.endswith("; change volumeClaimTemplates, too: recreate StatefulSet db with --cascade=orphan")
    assert "without its data" not in str(fix.patches)
