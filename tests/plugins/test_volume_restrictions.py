import numpy as np
import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import PodChanges, QueueingHint, Status
from kubesched.plugins import VolumeRestrictions
from kubesched.state import PodBatch
from tests.plugins.hinting import POD_DELETE, hint
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod
from tests.plugins.storage_objects import claim, uses

NO_DISK = Status.unschedulable("node(s) had no available disk")
IN_USE = Status.unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
NODES = [node("a"), node("b")]
SINGLE = claim("single", modes=("ReadWriteOncePod",))


def disk(**source: dict) -> list[dict]:
    return [{"name": "v", **source}]


def ask(volumes: list[dict], placed: list[dict], *claims: dict) -> Asked:
    return Asked(VolumeRestrictions(), [*NODES, *claims, *placed], pod(volumes=volumes))


@pytest.mark.parametrize(
    ("mine", "theirs", "conflicts"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, True),
        (
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            False,
        ),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "e"}}, False),
        (
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            True,
        ),
        ({"iscsi": {"iqn": "i"}}, {"iscsi": {"iqn": "i", "lun": 2}}, True),
        (
            {"rbd": {"monitors": ["m1", "m2"], "image": "i", "pool": "p"}},
            {"rbd": {"monitors": ["m3", "m2"], "image": "i", "pool": "p"}},
            True,
        ),
        ({"rbd": {"monitors": ["m1"], "image": "i"}}, {"rbd": {"monitors": ["m2"], "image": "i"}}, False),
    ],
)
def test_a_disk_is_shared_by_readers_only(mine: dict, theirs: dict, conflicts: bool):
    asked = ask(disk(**mine), [pod("other", nodeName="a", volumes=disk(**theirs))])
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter() == ({"a": NO_DISK} if conflicts else {})


def test_a_claim_for_one_pod_is_in_use_on_every_node():
    asked = ask(uses("single"), [pod("other", nodeName="a", volumes=uses("single"))], SINGLE)
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter() == {"a": IN_USE, "b": IN_USE}


def test_a_claim_for_one_pod_that_nobody_uses_is_no_question():
    theirs = claim("single", modes=("ReadWriteOncePod",), namespace="other")
    stranger = pod("other", nodeName="a", volumes=uses("single"))
    stranger["metadata"]["namespace"] = "other"
    assert ask(uses("single"), [stranger], SINGLE, theirs).pre_filter() == Status.SKIP


def test_a_missing_claim_rejects_the_pod():
    assert ask(uses("x"), []).pre_filter() == Status.unresolvable('persistentvolumeclaim "x" not found')


def test_a_pod_without_claims_and_disks_is_skipped():
    assert ask([{"name": "v", "emptyDir": {}}], []).pre_filter() == Status.SKIP


def move(asked: Asked, table: object, position: int, other: dict, *, added: bool) -> None:
    on_node = [info for info in table.pods(position) if info.pod.name == other["metadata"]["name"]]
    info = asked.cluster.pod_info(read_pod(other)) if added else on_node[0]
    positions, batch = np.array([position]), PodBatch([info])
    (table.add if added else table.remove)(positions, batch)
    changes = PodChanges(table, positions, batch)
    (asked.plugin.add_pods if added else asked.plugin.remove_pods)(asked.state, asked.pod, changes)


def test_moving_the_user_of_a_claim_off_helps_the_node_that_it_was_on():
    other = pod("other", nodeName="a", volumes=uses("single"))
    asked = ask(uses("single"), [other], SINGLE)
    asked.pre_filter()
    before, table = asked.state.clone(), asked.nodes.copy()
    move(asked, table, 0, other, added=False)
    assert asked.filter(table) == {"b": IN_USE}
    move(asked, table, 0, other, added=True)
    assert asked.filter(table) == {"a": IN_USE, "b": IN_USE}
    asked.state = before
    assert asked.filter() == {"a": IN_USE, "b": IN_USE}


def test_moving_the_user_of_a_disk_helps_one_node_and_hurts_the_other():
    gce = disk(gcePersistentDisk={"pdName": "d"})
    other = pod("other", nodeName="a", volumes=gce)
    asked = ask(gce, [other])
    asked.pre_filter()
    table = asked.nodes.copy()
    move(asked, table, 0, other, added=False)
    move(asked, table, 1, other, added=True)
    assert asked.filter(table) == {"b": NO_DISK}


def test_without_pre_filter_the_filter_fails():
    with pytest.raises(RuntimeError) as failed:
        ask(uses("single"), [], SINGLE).filter()
    assert str(failed.value) == 'cannot read "PreFilterVolumeRestrictions" from cycleState'


def test_a_pod_that_leaves_helps_when_it_had_the_disk_or_the_claim():
    waiting = read_pod(pod(volumes=[*uses("single"), *disk(gcePersistentDisk={"pdName": "d"})]))
    for volumes, expected in (
        (uses("single"), QueueingHint.QUEUE),
        (disk(gcePersistentDisk={"pdName": "d"}), QueueingHint.QUEUE),
        (uses("another"), QueueingHint.SKIP),
        (disk(gcePersistentDisk={"pdName": "e"}), QueueingHint.SKIP),
    ):
        gone = read_pod(pod("gone", volumes=volumes, nodeName="a"))
        assert hint(VolumeRestrictions(), POD_DELETE, waiting, gone, None) is expected


def test_a_pod_that_leaves_is_put_to_the_pods_that_share_a_disk_or_a_claim():
    (entry,) = (one for one in VolumeRestrictions().events_to_register() if one.event.covers(POD_DELETE))
    waiting = read_pod(pod(volumes=[*uses("single"), *disk(gcePersistentDisk={"pdName": "d"})]))
    for volumes, shares in (
        (uses("single"), True),
        (disk(gcePersistentDisk={"pdName": "d"}), True),
        (uses("another"), False),
        ([], False),
    ):
        gone = read_pod(pod("gone", volumes=volumes, nodeName="a"))
        assert set(entry.objects(waiting)).isdisjoint(entry.keys_of(gone)) is not shares


def test_a_new_claim_helps_the_pods_that_name_it():
    event = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
    waiting = read_pod(pod(volumes=uses("single")))
    assert hint(VolumeRestrictions(), event, waiting, None, read(SINGLE)) is QueueingHint.QUEUE
    assert hint(VolumeRestrictions(), event, waiting, None, read(claim("another"))) is QueueingHint.SKIP
