"""Volumes that are attached to nodes: those of a pod that leaves its node are detached, and stay counted until then."""

from collections.abc import Iterable

from kubesched.api import KubeObject, kind_of
from kubesched.explanation import explain
from kubesched.planning import check, drain
from kubesched.session import Session
from kubesched.testing import make_node, make_object, make_pod
from tests.tasks.clusters import mounting, owned

DRIVER = "ebs.example.com"


def node(name: str, limit: int) -> list[KubeObject]:
    driver = {"name": DRIVER, "nodeID": name, "topologyKeys": [], "allocatable": {"count": limit}}
    return [
        make_node(name, allocatable={"cpu": "4", "pods": "9"}),
        make_object("CSINode", name, spec={"drivers": [driver]}),
    ]


def disk(name: str) -> list[KubeObject]:
    done = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}, "status": {"phase": "Bound"}}
    spec = {"accessModes": ["ReadWriteOnce"], "volumeName": f"pv-{name}"}
    csi = {"csi": {"driver": DRIVER, "volumeHandle": f"vol-{name}"}}
    return [
        make_object("PersistentVolumeClaim", name, spec=spec, **done),
        make_object("PersistentVolume", f"pv-{name}", spec=csi),
    ]


def attached(name: str, where: str) -> KubeObject:
    source = {"source": {"persistentVolumeName": f"pv-{name}"}}
    return make_object("VolumeAttachment", f"csi-{name}", spec={"attacher": DRIVER, "nodeName": where, **source})


def database(name: str, where: str = "") -> list[KubeObject]:
    """A pod with a disk, which is attached where the pod runs."""
    pod = make_pod(f"{name}-0", node=where, spec=mounting(name), metadata=owned("StatefulSet", name))
    return [pod, *disk(name), *([attached(name, where)] if where else [])]


def attachments(objects: Iterable[KubeObject]) -> list[str]:
    return [one.name for one in objects if kind_of(one) == "VolumeAttachment"]


def test_a_pod_comes_back_to_the_places_of_its_own_disks():
    cluster = [*node("n1", 1), *database("db", "n1")]
    assert not [one for one in check(cluster).findings if one.rule == "cannot-come-back"]


def test_a_disk_of_a_pod_that_leaves_makes_a_place():
    pool = {
        name: make_node(name, labels={"pool": name}, allocatable={"cpu": "4", "pods": "9"}) for name in ("n1", "n2")
    }
    nodes = [pool.get(one.name, one) if kind_of(one) == "Node" else one for one in (*node("n1", 1), *node("n2", 1))]
    waits = make_pod("b-0", spec={**mounting("b"), "nodeSelector": {"pool": "n1"}})
    explanation = explain([*nodes, *database("a", "n1"), waits, *disk("b")], waits.key)
    assert explanation.outcome.why == f"1 node: 1 of 1 places for volumes of {DRIVER} are in use; the pod brings 1 more"
    assert explanation.fixes[0].text == "move default/a-0 from n1 to n2, with its volumes"


def test_a_drained_node_keeps_no_disk():
    cluster = [*node("n1", 1), *node("n2", 1), *database("db", "n1")]
    with Session(cluster) as session, session.fork():
        pod = session.get("Pod", "default/db-0")
        assert pod is not None
        session.change(gone=[pod])
        assert session.get("VolumeAttachment", "csi-db") is None
    result = drain(cluster, ["n1"])
    assert result.objects
    assert attachments(result.objects) == []


def test_a_disk_that_another_pod_of_the_node_uses_stays():
    beside = make_pod("beside", node="n1", spec=mounting("db"))
    with Session([*node("n1", 1), *database("db", "n1"), beside]) as session:
        pod = session.get("Pod", "default/db-0")
        assert pod is not None
        session.change(gone=[pod])
        assert session.get("VolumeAttachment", "csi-db") is not None


def test_attachments_of_no_pod_come_first():
    stale = [*disk("old")[1:], attached("old", "n1")]
    first, *_ = explain([*node("n1", 1), *stale, *database("b")], "default/b-0").fixes
    assert first.text == "look at the attacher: 1 VolumeAttachment on n1 belongs to no pod"
    assert [patch.action for patch in first.patches] == [""]
