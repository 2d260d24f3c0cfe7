"""A pod whose volume the nodes do not reach: what a senior engineer would say first, and never."""

import pytest

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import ZONE, affinity, ask, texts

BETA = "failure-domain.beta.kubernetes.io/zone"
EBS = "topology.ebs.csi.aws.com/zone"
HOST = "kubernetes.io/hostname"
SELECTED = "volume.kubernetes.io/selected-node"


def pod(*claims: str, **spec: object):
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return make_pod("db", requests={"cpu": "1"}, labels={"app": "keycloak"}, spec={"volumes": volumes, **spec})


def disk(name: str, key: str, value: str, driver: str = "disk.example.com") -> list[KubeObject]:
    """A bound claim and its volume `pv-NAME`, which nodes with one label reach."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    csi = {"csi": {"driver": driver, "volumeHandle": name}}
    return [bound(name), make_object("PersistentVolume", f"pv-{name}", spec={**csi, **affinity})]


def bound(name: str) -> KubeObject:
    spec = {"accessModes": ["ReadWriteOnce"], "volumeName": f"pv-{name}"}
    annotations = {"pv.kubernetes.io/bind-completed": "yes"}
    return make_object("PersistentVolumeClaim", name, annotations=annotations, spec=spec, status={"phase": "Bound"})


def nodes(**zones: str) -> list[KubeObject]:
    return [make_node(name, allocatable={"cpu": "4", "pods": "9"}, zone=zone) for name, zone in zones.items()]


def test_a_zone_without_nodes_gets_one():
    first, second = texts(pod("data"), *nodes(n1="a", n2="b"), *disk("data", ZONE, "c"))
    assert first == "add a node like n1 in zone c: volume pv-data is there and no node is"
    assert second == "recreate claim default/data in zone a (a disk stays in its zone; copy the data)"


@pytest.mark.parametrize("key", [ZONE, BETA])
def test_the_zone_labels_of_in_tree_volumes_count_too(key: str):
    volume = make_object("PersistentVolume", "pv-data", labels={key: "c"}, spec={"capacity": {"storage": "1Gi"}})
    first, second = texts(pod("data"), *nodes(n1="a"), bound("data"), volume)
    assert first == "add a node like n1 in zone c: volume pv-data is there and no node is"
    assert second == "recreate claim default/data in zone a (a disk stays in its zone; copy the data)"


def test_no_node_is_added_to_a_zone_that_has_one():
    full = make_pod("on-n2", node="n2", requests={"cpu": "4"})
    said = texts(pod("data"), *nodes(n1="a", n2="b"), full, *disk("data", ZONE, "b"))
    assert said[-1] == "recreate claim default/data in zone a (a disk stays in its zone; copy the data)"
    assert not any("no node is" in text for text in said)


def test_a_node_without_the_label_of_the_driver_needs_its_node_plugin():
    driver = "ebs.csi.aws.com"
    said = texts(pod("data"), *nodes(n1="a", n2="b"), *disk("data", EBS, "a", driver))
    assert said == [
        "start the node plugin of CSI driver ebs.csi.aws.com on n1: label topology.ebs.csi.aws.com/zone is absent"
    ]


def test_a_migrated_volume_needs_the_node_plugin_of_the_driver_that_took_over():
    migrated = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
    source = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
    volume = make_object("PersistentVolume", "pv-data", labels={ZONE: "a"}, spec=source)
    said = texts(pod("data"), *nodes(n1="a"), bound("data"), volume, make_object("CSINode", "n1", annotations=migrated))
    assert said == [
        "start the node plugin of CSI driver ebs.csi.aws.com on n1: label topology.ebs.csi.aws.com/zone is absent"
    ]


def test_of_two_disks_in_two_zones_one_is_recreated():
    said = texts(pod("x", "y"), *nodes(n1="a", n2="b"), *disk("x", ZONE, "a"), *disk("y", ZONE, "b"))
    assert [text.partition(" (")[0] for text in said] == [
        "recreate claim default/y in zone a",
        "recreate claim default/x in zone b",
    ]


def test_a_local_volume_stays_on_its_node():
    full = make_node("pi-b", taints=["node.kubernetes.io/disk-pressure:NoSchedule"])
    stick = [make_node("pi-a", labels={"stick": "yes"}), full]
    said = texts(pod("data", nodeSelector={"stick": "yes"}), *stick, *disk("data", HOST, "pi-b"))
    assert said == ["recreate claim default/data on pi-a (a local volume stays on its node; copy the data)"]


def test_disk_space_is_freed_before_the_data_is_copied():
    full = make_node("pi-b", taints=["node.kubernetes.io/disk-pressure:NoSchedule"])
    first, second = texts(pod("data"), make_node("pi-a"), full, *disk("data", HOST, "pi-b"))
    assert first == "free disk space on pi-b"
    assert second == "recreate claim default/data on pi-a (a local volume stays on its node; copy the data)"


def test_a_local_volume_on_a_node_that_is_gone_needs_the_node():
    first, second = texts(pod("data"), make_node("pi-a"), *disk("data", HOST, "pi-b"))
    assert first == "bring node pi-b back: the data of volume pv-data is there"
    assert second == "recreate claim default/data on pi-a (a local volume stays on its node; copy the data)"


def test_an_annotation_that_pins_a_claim_is_removed():
    late = make_object("StorageClass", "fast", provisioner="x.example.com", volumeBindingMode="WaitForFirstConsumer")
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    claim = make_object("PersistentVolumeClaim", "data", annotations={SELECTED: "n1"}, spec=spec)
    small = make_node("n1", allocatable={"cpu": "500m", "pods": "9"})
    first, *_ = texts(pod("data"), small, *nodes(n2="a"), late, claim)
    assert first == f"remove annotation {SELECTED} from claim default/data (it pins the claim to n1)"


def test_a_disk_is_recreated_before_equal_pods_share_a_zone():
    labels = {"app": "keycloak"}
    rule = affinity("podAntiAffinity", labels)
    others = [make_pod(f"db-{i}", node=f"n{i}", labels=labels) for i in (1, 2)]
    waits = pod("data", **rule)
    first, *others = texts(waits, *nodes(n1="a", n2="b", n3="c"), *others, *disk("data", ZONE, "a"))
    assert first == "recreate claim default/data in zone c (a disk stays in its zone; copy the data)"
    assert others


def test_nodes_that_a_volume_is_away_from_are_one_row():
    (row,) = ask(pod("data"), *nodes(n1="a", n2="b"), *disk("data", ZONE, "c")).rows
    assert row.texts == ("volume pv-data of claim data is in zone c",)
    (row,) = ask(pod("data"), make_node("pi-a"), make_node("pi-b"), *disk("data", HOST, "pi-c")).rows
    assert row.texts == ("volume pv-data of claim data is on pi-c",)


def test_a_label_that_a_node_lacks_is_named():
    (row,) = ask(pod("data"), *nodes(n1="a"), *disk("data", EBS, "a")).rows
    assert row.texts == (f"volume pv-data of claim data: label {EBS} is absent, wanted: 'a'",)
