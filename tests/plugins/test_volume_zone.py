import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import QueueingHint, Status
from kubesched.plugins import VolumeZone
from tests.plugins.hinting import hint
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod
from tests.plugins.storage_objects import ZONE, claim, storage_class, uses, volume

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
NO_ZONE = Status.unresolvable("node(s) had no available volume zone")
NODES = [
    node("z1", labels={ZONE: "z1"}),
    node("z2", labels={ZONE: "z2"}),
    node("region-only", labels={REGION: "r"}),
    node("nowhere"),
]


def ask(labels: dict) -> Asked:
    items = [*NODES, claim("c", volume="pv"), volume("pv", labels=labels)]
    return Asked(VolumeZone(), items, pod(volumes=uses("c")))


@pytest.mark.parametrize(
    ("labels", "rejected"),
    [
        ({ZONE: "z1"}, {"z2", "region-only"}),
        ({ZONE: "z1__ z2"}, {"region-only"}),
        ({BETA_ZONE: "z2"}, {"z1", "region-only"}),
        ({ZONE: "z1", REGION: "r"}, {"z1", "z2", "region-only"}),
    ],
)
def test_only_nodes_with_a_place_are_held_to_the_volumes(labels: dict, rejected: set[str]):
    asked = ask(labels)
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter() == dict.fromkeys(rejected, NO_ZONE)


@pytest.mark.parametrize("labels", [{}, {ZONE: "z1__"}, {ZONE: ""}])
def test_volumes_that_name_no_zone_are_no_question(labels: dict):
    assert ask(labels).pre_filter() == Status.SKIP


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([claim("c", volume="pv")], 'persistentvolume "pv" not found'),
        ([claim("c")], "PersistentVolumeClaim had no pv name and storageClass name"),
        ([claim("c", "x")], 'storageclass.storage.k8s.io "x" not found'),
        ([claim("c", "x"), storage_class("x", mode=None)], 'VolumeBindingMode not set for StorageClass "x"'),
        ([claim("c", "x"), storage_class("x", mode="Immediate")], "PersistentVolume had no name"),
    ],
)
def test_a_claim_without_a_volume_rejects_the_pod(items: list[dict], reason: str):
    asked = Asked(VolumeZone(), [*NODES, *items], pod(volumes=uses("c")))
    assert asked.pre_filter() == Status.unresolvable(reason)
    assert asked.filter() == dict.fromkeys(("z1", "z2", "region-only", "nowhere"), Status.unresolvable(reason))


def test_a_claim_that_waits_for_its_pod_demands_nothing():
    items = [*NODES, claim("c", "x"), storage_class("x")]
    assert Asked(VolumeZone(), items, pod(volumes=uses("c"))).pre_filter() == Status.SKIP


def test_without_pre_filter_the_filter_finds_the_demands_itself():
    assert ask({ZONE: "z1"}).filter() == {"z2": NO_ZONE, "region-only": NO_ZONE}


def test_a_volume_that_demands_something_else_helps():
    event = ClusterEvent(EventResource.PERSISTENT_VOLUME, ActionType.UPDATE)
    waiting = read_pod(pod(volumes=uses("c")))
    old, same, new = (read(volume("pv", labels=labels)) for labels in ({ZONE: "a"}, {ZONE: "a", "x": "y"}, {ZONE: "b"}))
    assert hint(VolumeZone(), event, waiting, old, new) is QueueingHint.QUEUE
    assert hint(VolumeZone(), event, waiting, old, same) is QueueingHint.SKIP
