import pytest

from kubesched.plugins.volume_provisioning import NO_STORAGE, NONE_TO_BIND, provisioning_problems
from tests.plugins.one_plugin import load, node, read
from tests.plugins.storage_objects import ZONE, capacity, claim, csi_driver, one_of, storage_class

NODES = [node("z1", labels={ZONE: "z1"}), node("z2", labels={ZONE: "z2"})]


def problems(wanted: dict, *items: dict) -> list[int]:
    snapshot = load([*NODES, wanted, *items]).snapshot()
    return provisioning_problems(read(wanted), snapshot, snapshot.nodes).tolist()


def in_zone(zone: str) -> dict:
    return {"matchLabels": {ZONE: zone}}


@pytest.mark.parametrize("provisioner", ["", "kubernetes.io/no-provisioner"])
def test_a_class_without_provisioner_makes_nothing(provisioner: str):
    assert problems(claim("c", "x"), storage_class("x", provisioner)) == [NONE_TO_BIND, NONE_TO_BIND]


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([], [0, 0]),
        ([{}], [NONE_TO_BIND, NONE_TO_BIND]),
        ([{"matchLabelExpressions": [{"key": ZONE, "values": ["z2", "z3"]}]}], [NONE_TO_BIND, 0]),
        ([{}, {"matchLabelExpressions": [{"key": ZONE, "values": ["z1"]}]}], [0, NONE_TO_BIND]),
    ],
)
def test_a_class_may_be_kept_to_some_topologies(terms: list, expected: list[int]):
    assert problems(claim("c", "x"), storage_class("x", allowedTopologies=terms)) == expected


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ([], [NO_STORAGE, NO_STORAGE]),
        ([capacity("a", "x", "5Gi", in_zone("z1"))], [0, NO_STORAGE]),
        ([capacity("a", "x", "4Gi", in_zone("z1")), capacity("b", "x", "6Gi", in_zone("z1"))], [0, NO_STORAGE]),
        ([capacity("a", "x", "9Gi", {}, maximumVolumeSize="4Gi")], [NO_STORAGE, NO_STORAGE]),
        ([capacity("a", "x", "9Gi", {})], [0, 0]),
        ([capacity("a", "x", "9Gi", None)], [NO_STORAGE, NO_STORAGE]),
        ([capacity("a", "another", "9Gi", {})], [NO_STORAGE, NO_STORAGE]),
        ([capacity("a", "x", "9Gi", {**one_of(ZONE, "z2"), **in_zone("z2")})], [NO_STORAGE, 0]),
    ],
)
def test_a_driver_that_publishes_its_capacity_must_have_enough(published: list[dict], expected: list[int]):
    items = [storage_class("x"), csi_driver("csi.example.com"), *published]
    assert problems(claim("c", "x", size="5Gi"), *items) == expected


def test_capacity_is_no_question_for_a_claim_of_no_size_and_for_other_drivers():
    published = [csi_driver("csi.example.com")]
    assert problems(claim("c", "x", size=None), storage_class("x"), *published) == [0, 0]
    assert problems(claim("c", "x"), storage_class("x", "other.example.com"), *published) == [0, 0]
