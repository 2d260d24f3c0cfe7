"""What comes in the place of a pod that goes is the same for a drain, for nodes that are removed, and for compare."""

from kubesched.api import PersistentVolume, PersistentVolumeClaim, Pod
from kubesched.comparison.placed_again import parse_pod_choice, placed_again
from kubesched.planning import WhatIf, compared, drain, new_pods
from kubesched.session import Session
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import owned_by

SCRATCH = {"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}
LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}


def pod(name, kind, spec=None, **metadata):
    return make_pod(name, node="n0", spec=spec or {}, metadata=owned_by(kind, name) | metadata)


def removed(*objects):
    return WhatIf(remove=("n0",)).applied([*NODES, *objects]).objects


def drained(*objects):
    return drain([*NODES, *objects], ["n0"]).objects


def replaced(*objects):
    return placed_again([*NODES, *objects], parse_pod_choice("all"), ["default-scheduler"])


NODES = [make_node("n0"), make_node("n1")]
WAYS = (removed, drained, replaced)


def pods(objects):
    return sorted(one.name for one in objects if isinstance(one, Pod))


def test_a_pod_that_is_being_deleted_comes_back_only_in_a_stateful_set():
    leaving = [pod("web", "ReplicaSet", **LEAVING), pod("db-0", "StatefulSet", **LEAVING)]
    assert pods(removed(*leaving)) == pods(drained(*leaving)) == ["db-0"]


def test_the_claim_of_an_ephemeral_volume_is_unbound_again():
    web = pod("web", "ReplicaSet", SCRATCH)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": web.uid, "controller": True}
    claim = make_object(
        "PersistentVolumeClaim",
        "web-scratch",
        metadata={"ownerReferences": [owner]},
        spec={"volumeName": "pv-1", "storageClassName": "local"},
        status={"phase": "Bound"},
    )
    volume = make_object("PersistentVolume", "pv-1", spec={"storageClassName": "local"}, status={"phase": "Bound"})
    for way in WAYS:
        after = way(web, claim, volume)
        (new,) = [one for one in after if isinstance(one, PersistentVolumeClaim)]
        assert (way, new.spec.volume_name) == (way, "")
        assert pods(after) == ["web"]
        assert "pv-1" not in [one.name for one in after]


def test_a_local_disk_is_offered_again_once_its_ephemeral_claim_has_gone():
    claim = make_object("PersistentVolumeClaim", "web-scratch", spec={"volumeName": "pv-1"})
    spec = {
        "claimRef": {"name": "web-scratch"},
        "local": {"path": "/mnt/disk"},
        "persistentVolumeReclaimPolicy": "Delete",
    }
    for way in WAYS:
        after = way(pod("web", "ReplicaSet", SCRATCH), claim, make_object("PersistentVolume", "pv-1", spec=spec))
        (volume,) = [one for one in after if isinstance(one, PersistentVolume)]
        assert (way, volume.spec.claim_ref, volume.status.phase) == (way, None, "Available")


def test_pods_of_nodes_do_not_come_back():
    bound = [pod("agent", "DaemonSet"), pod("proxy", "Node")]
    assert pods(removed(*bound)) == []


def test_a_pod_is_lost_where_its_job_ends_and_one_of_an_unknown_controller_may_be():
    step, migrate = pod("step", "Workflow"), pod("migrate", "Job")
    job = make_object("Job", "migrate", spec={"backoffLimit": 0})
    for way in WAYS:
        assert (way, pods(way(job, step, migrate))) == (way, ["migrate", "step"] if way is replaced else ["step"])
    assert WhatIf(remove=("n0",)).applied([*NODES, job, step, migrate]).notes == [
        "0 pods of the removed node would be re-created",
        "1 pod would be lost: default/migrate (Job migrate would fail: its backoffLimit is 0)",
        (
            "1 pod may be lost: default/step (Workflow is not known to create its pods again); "
            "placed here as if re-created"
        ),
    ]


def test_lost_pods_are_told_in_the_first_sentence_and_in_few_notes():
    steps = [pod(f"step{i}", f"Kind{i}") for i in range(5)]
    known = [*NODES, *steps, make_pod("bare", node="n0")]
    changed = WhatIf(remove=("n0",)).applied(known)
    assert (changed.lost, changed.may_be_lost) == (("default/bare",), tuple(one.key for one in steps))
    assert len(changed.notes) == 3
    assert "; and for 2 other reasons; placed here" in changed.notes[2]
    with Session(known, new=new_pods(known)) as session:
        found = compared(session, changed).difference
    assert "1 pod would be lost; 5 pods may be lost; no pod would stay pending" in found.text
    assert (found.lost, found.may_be_lost) == (changed.lost, changed.may_be_lost)


def test_the_other_pods_of_a_job_that_ends_leave_the_nodes_that_stay():
    job = make_object("Job", "migrate", spec={"backoffLimit": 0})
    here, there = (
        make_pod(name, node=node, metadata=owned_by("Job", "migrate")) for name, node in (("a", "n0"), ("b", "n1"))
    )
    assert pods(removed(job, here, there)) == pods(drained(job, here, there)) == []
    assert WhatIf(remove=("n0",)).applied([*NODES, job, here, there]).notes[1] == (
        "2 pods would be lost: default/a, default/b (Job migrate would fail: its backoffLimit is 0)"
    )
