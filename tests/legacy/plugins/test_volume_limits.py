import numpy as np
import pytest

from kubesched.framework import QueueingHint, Status
from kubesched.legacy import legacy_plugin
from kubesched.legacy.plugins.legacy_args import VolumeLimitsArgs
from kubesched.legacy.plugins.no_disk_conflict import NoDiskConflict
from kubesched.legacy.plugins.volume_limits import EBSLimits
from kubesched.state import PodBatch
from tests.plugins.hinting import POD_DELETE, hint
from tests.plugins.one_plugin import Asked, node, pod, read_pod
from tests.plugins.storage_objects import claim, obj

REJECTED = Status.unschedulable("node(s) exceed max volume count")
TAKEN = Status.unschedulable("node(s) had no available disk")


def disks(*names: str, field: str = "awsElasticBlockStore", key: str = "volumeID", **more: bool) -> list[dict]:
    return [{"name": f"v{i}", field: {key: name, **more}} for i, name in enumerate(names)]


def rejects(n_there: int, *objects: dict, labels: dict | None = None, limit: int = 0, **allocatable: str) -> bool:
    """Whether a pod with one more EBS volume is kept off a node with so many."""
    here = node("n", labels=labels, allocatable={"cpu": "4", "pods": "10", **allocatable})
    there = pod("there", nodeName="n", volumes=disks(*(f"vol-{i}" for i in range(n_there))))
    asked = Asked(EBSLimits(VolumeLimitsArgs(limit)), [here, there, *objects], pod(volumes=disks("vol-new")))
    found = asked.filter()
    assert set(found.values()) <= {REJECTED}
    return bool(found)


def test_a_node_takes_39_ebs_volumes():
    assert (rejects(38), rejects(39)) == (False, True)


@pytest.mark.parametrize("key", ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"])
@pytest.mark.parametrize(("kind", "limit"), [("m5.large", 25), ("t3.micro", 25), ("z1d.metal", 25), ("m4.large", 39)])
def test_nitro_instances_take_25(key: str, kind: str, limit: int):
    assert (rejects(limit - 1, labels={key: kind}), rejects(limit, labels={key: kind})) == (False, True)


def test_what_the_node_reports_comes_before_the_argument_and_that_before_the_default():
    reported = {"attachable-volumes-aws-ebs": "2"}
    assert (rejects(1, limit=1, **reported), rejects(2, limit=1, **reported)) == (False, True)
    nitro = {"node.kubernetes.io/instance-type": "m5.large"}
    assert (rejects(29, labels=nitro, limit=30), rejects(30, labels=nitro, limit=30)) == (False, True)


def test_a_node_whose_plugin_is_migrated_is_left_to_node_volume_limits():
    annotation = {"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}}
    csi_node = obj("CSINode", "n", api="storage.k8s.io/v1", metadata=annotation, spec={"drivers": []})
    assert not rejects(39, csi_node)


def test_a_volume_that_is_there_already_and_those_of_other_kinds_do_not_count():
    there = pod("there", nodeName="n", volumes=[*disks("vol-1"), *disks("pd", field="gcePersistentDisk", key="pdName")])
    items = [node("n"), there]
    assert Asked(EBSLimits(VolumeLimitsArgs(1)), items, pod(volumes=disks("vol-1"))).filter() == {}
    assert Asked(EBSLimits(VolumeLimitsArgs(2)), items, pod(volumes=disks("vol-2"))).filter() == {}
    assert Asked(EBSLimits(VolumeLimitsArgs(1)), items, pod(volumes=disks("vol-2"))).filter() == {"n": REJECTED}


def test_claims_count_by_their_volume_or_by_the_provisioner_of_their_class():
    ebs = {"awsElasticBlockStore": {"volumeID": "vol-1"}, "capacity": {"storage": "1Gi"}}
    items = [
        node("n"),
        obj("PersistentVolume", "pv", spec=ebs),
        obj("StorageClass", "gp2", api="storage.k8s.io/v1", provisioner="kubernetes.io/aws-ebs"),
        obj("StorageClass", "other", api="storage.k8s.io/v1", provisioner="example.com/x"),
        claim("bound", volume="pv"),
        claim("coming", "gp2"),
        claim("foreign", "other"),
        pod("there", nodeName="n", volumes=disks("vol-1")),
    ]
    for name, found in (("bound", {}), ("coming", {"n": REJECTED}), ("foreign", {}), ("missing", {})):
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
        assert Asked(EBSLimits(VolumeLimitsArgs(1)), items, pod(volumes=volumes)).filter() == found, name


def test_a_pod_that_leaves_a_what_if_table_makes_room():
    items = [node("n"), pod("there", nodeName="n", volumes=disks("vol-1"))]
    asked = Asked(EBSLimits(VolumeLimitsArgs(1)), items, pod(volumes=disks("vol-2")))
    table = asked.nodes.copy()
    assert asked.filter(table) == {"n": REJECTED}
    table.remove(np.array([0]), PodBatch(asked.nodes.pods(0)))
    assert asked.filter(table) == {}


@pytest.mark.parametrize(
    ("name", "limit"),
    [("EBSLimits", 39), ("GCEPDLimits", 16), ("AzureDiskLimits", 16), ("CinderLimits", 256)],
)
def test_each_limit_has_the_name_of_its_predicate_too(name: str, limit: int):
    plugin_class, predicate = legacy_plugin(name), legacy_plugin(f"Max{name.removesuffix('Limits')}VolumeCount")
    assert issubclass(predicate, plugin_class)
    assert predicate.default_limit == limit


def test_an_inline_disk_conflicts_with_the_same_disk_unless_both_only_read():
    gce = {"field": "gcePersistentDisk", "key": "pdName"}
    items = [node("n"), pod("there", nodeName="n", volumes=disks("d", **gce, readOnly=True))]
    for read_only, found in ((True, {}), (False, {"n": TAKEN})):
        asked = Asked(NoDiskConflict(), items, pod(volumes=disks("d", **gce, readOnly=read_only)))
        assert asked.pre_filter() is Status.SUCCESS
        assert asked.filter() == found


def test_no_disk_conflict_looks_at_no_claim():
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    assert Asked(NoDiskConflict(), [node("n")], pod(volumes=volumes)).pre_filter() is Status.SKIP


def test_a_pod_with_volumes_that_leaves_helps():
    waiting, gone = read_pod(pod(volumes=disks("d"))), read_pod(pod("gone", nodeName="n", volumes=disks("d")))
    for plugin in (EBSLimits(), NoDiskConflict()):
        assert hint(plugin, POD_DELETE, waiting, gone, None) is QueueingHint.QUEUE
        assert hint(plugin, POD_DELETE, waiting, read_pod(pod("gone", nodeName="n")), None) is QueueingHint.SKIP
