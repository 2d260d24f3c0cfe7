"""A pod whose volume the nodes do not reach: what a senior engineer would say first, and never."""

import pytest

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import ZONE, affinity, ask, texts
from tests.tasks.clusters import owned

BETA = "failure-domain.beta.kubernetes.io/zone"
EBS = "topology.ebs.csi.aws.com/zone"
HOST = "kubernetes.io/hostname"
REF = {"namespace": "default", "name": "data"}
SELECTED = "volume.kubernetes.io/selected-node"


def pod(*claims: str, **spec: object):
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return make_pod("db", requests={"cpu": "1"}, labels={"app": "keycloak"}, spec={"volumes": volumes, **spec})


def disk(name: str, key: str, value: str, driver: str = "disk.example.com") -> list[KubeObject]:
    """A bound claim and its volume `pv-NAME`, which nodes with one label reach."""
    spec = at(key, value, csi={"driver": driver, "volumeHandle": name})
    return [bound(name), make_object("PersistentVolume", f"pv-{name}", spec=spec)]


def at(key: str, value: str, **more: object) -> dict[str, object]:
    """The spec of a volume that nodes with one label reach."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}, **more}


def bound(name: str, **more: object) -> KubeObject:
    spec = {"accessModes": ["ReadWriteOnce"], "volumeName": f"pv-{name}", **more}
    annotations = {"pv.kubernetes.io/bind-completed": "yes"}
    return make_object("PersistentVolumeClaim", name, annotations=annotations, spec=spec, status={"phase": "Bound"})


def nodes(**zones: str) -> list[KubeObject]:
    return [make_node(name, allocatable={"cpu": "4", "pods": "9"}, zone=zone) for name, zone in zones.items()]


def test_a_zone_without_nodes_gets_one():
    first, second = texts(pod("data"), *nodes(n1="a", n2="b"), *disk("data", ZONE, "c"))
    assert first == "add a node like n1 in zone c: volume pv-data is there and no node is"
    assert second == "recreate claim default/data in zone a (a disk stays in its zone; copy the data first)"


@pytest.mark.parametrize("key", [ZONE, BETA])
def test_the_zone_labels_of_in_tree_volumes_count_too(key: str):
    volume = make_object("PersistentVolume", "pv-data", labels={key: "c"}, spec={"capacity": {"storage": "1Gi"}})
    first, second = texts(pod("data"), *nodes(n1="a"), bound("data"), volume)
    assert first == "add a node like n1 in zone c: volume pv-data is there and no node is"
    assert second == "recreate claim default/data in zone a (a disk stays in its zone; copy the data first)"


def test_no_node_is_added_to_a_zone_that_has_one():
    full = make_pod("on-n2", node="n2", requests={"cpu": "4"})
    said = texts(pod("data"), *nodes(n1="a", n2="b"), full, *disk("data", ZONE, "b"))
    assert said[-1] == "recreate claim default/data in zone a (a disk stays in its zone; copy the data first)"
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
    assert said == ["recreate claim default/data on pi-a (a local volume stays on its node; copy the data first)"]


def test_disk_space_is_freed_before_the_data_is_copied():
    full = make_node("pi-b", taints=["node.kubernetes.io/disk-pressure:NoSchedule"])
    first, second = texts(pod("data"), make_node("pi-a"), full, *disk("data", HOST, "pi-b"))
    assert first == "free disk space on pi-b"
    assert second == "recreate claim default/data on pi-a (a local volume stays on its node; copy the data first)"


def test_a_local_volume_on_a_node_that_is_gone_needs_the_node():
    first, second = texts(pod("data"), make_node("pi-a"), *disk("data", HOST, "pi-b"))
    assert first == "bring node pi-b back, if its machine still exists: the data of volume pv-data is there"
    assert second == "recreate claim default/data on pi-a (if pi-b is gone for good; the data is lost)"


@pytest.mark.parametrize("taint", ["unreachable", "not-ready"])
def test_a_local_volume_on_a_node_that_is_out_of_order_is_not_copied(taint: str):
    """No pod can read it there."""
    ready = {"conditions": [{"type": "Ready", "status": "Unknown" if taint == "unreachable" else "False"}]}
    out = make_node("pi-b", taints=[f"node.kubernetes.io/{taint}:NoSchedule"], status=ready)
    first, second = texts(pod("data"), make_node("pi-a"), out, *disk("data", HOST, "pi-b"))
    assert "pi-b" in first
    assert second == "recreate claim default/data on pi-a (if pi-b is gone for good; the data is lost)"


def test_a_disk_of_a_zone_that_is_out_is_not_copied():
    out = [
        make_node(
            name, zone="c", allocatable={"cpu": "4", "pods": "9"}, taints=["node.kubernetes.io/unreachable:NoSchedule"]
        )
        for name in ("n3", "n4")
    ]
    first, second = texts(pod("data"), *nodes(n1="a", n2="b"), *out, *disk("data", ZONE, "c"))
    assert first == "zone c is out (2 of 2 nodes): wait until it is back"
    assert second == (
        "restore claim default/data from a snapshot or backup in zone a (zone c is out: no copy can be made)"
    )


def test_a_local_volume_of_a_class_that_makes_none_is_replaced_by_a_free_one():
    by_hand = make_object("StorageClass", "local", provisioner="kubernetes.io/no-provisioner")
    spec = {"storageClassName": "local", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "9Gi"}}
    old, new = (at(HOST, name, **spec) for name in ("pi-b", "pi-c"))
    claim = bound("data", storageClassName="local")
    machines = [make_node(name) for name in ("pi-a", "pi-c")]
    taken = make_object("PersistentVolume", "pv-data", spec={**old, "claimRef": REF}, status={"phase": "Bound"})
    assert texts(pod("data"), *machines, by_hand, claim, taken) == [
        "bring node pi-b back, if its machine still exists: the data of volume pv-data is there"
    ]
    free = make_object("PersistentVolume", "pv-free", spec=new, status={"phase": "Available"})
    assert texts(pod("data"), *machines, by_hand, claim, taken, free)[1] == (
        "if pi-b is gone for good, delete claim default/data: volume pv-free is free on pi-c, "
        "and the data comes from replicas"
    )
    still_there = make_node("pi-b", taints=["dedicated=x:NoSchedule"])
    said = texts(pod("data"), *machines, still_there, by_hand, claim, taken, free)
    assert "copy the data first, then delete claim default/data: volume pv-free is free on pi-c" in said


def test_a_free_volume_that_two_pods_need_is_enough_for_one():
    by_hand = make_object("StorageClass", "local", provisioner="kubernetes.io/no-provisioner")
    spec = {"storageClassName": "local", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "9Gi"}}
    taken = [
        make_object("PersistentVolume", f"pv-{name}", spec={**at(HOST, "gone", **spec), "claimRef": ref})
        for name, ref in (("data", REF), ("more", {**REF, "name": "more"}))
    ]
    claims = [bound(name, storageClassName="local") for name in ("data", "more")]
    free = make_object("PersistentVolume", "pv-free", spec=at(HOST, "pi-c", **spec), status={"phase": "Available"})
    other = make_pod("other", spec={"volumes": [{"name": "more", "persistentVolumeClaim": {"claimName": "more"}}]})
    around = [make_node("pi-c"), by_hand, *claims, *taken, free]
    (alone,) = [text for text in texts(pod("data"), *around) if "pv-free" in text]
    assert "only one" not in alone
    (said,) = [text for text in texts(pod("data"), *around, other) if "pv-free" in text]
    assert said == f"{alone} (claim default/more lacks a volume, too: only one can have it)"


REGION = "topology.kubernetes.io/region"


def in_region(**zones: str) -> list[KubeObject]:
    room = {"cpu": "4", "pods": "9"}
    labels = {REGION: "central-1", EBS: ""}
    return [make_node(n, allocatable=room, zone=zone, labels={**labels, EBS: zone}) for n, zone in zones.items()]


def test_a_disk_of_another_region_is_restored_from_a_snapshot():
    assert texts(pod("data"), *in_region(n1="central-1a", n2="central-1b"), *disk("data", EBS, "west-1b")) == [
        "restore claim default/data from a snapshot in zone central-1a (zone west-1b is in a region without nodes)"
    ]
    first, *_ = texts(pod("data"), *in_region(n1="central-1a"), *disk("data", EBS, "central-1c"))
    assert first.startswith("add a node like n1 in zone central-1c")


def test_a_class_for_zones_of_another_region_is_created_again():
    topology = {"matchLabelExpressions": [{"key": EBS, "values": ["west-1a", "west-1b"]}]}
    late = {"provisioner": "x.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    restored = make_object("StorageClass", "fast", **late, allowedTopologies=[topology])
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    claim = make_object("PersistentVolumeClaim", "data", spec=spec)
    (fix,) = ask(pod("data"), *in_region(n1="central-1a", n2="central-1b"), restored, claim).fixes
    assert fix.text == "create StorageClass fast again for the zones of the nodes (central-1a and central-1b)"
    assert [patch.action for patch in fix.patches] == ["recreate"]


def test_the_claims_of_a_pod_are_recreated_together():
    disks = [*disk("w", ZONE, "b"), *disk("x", ZONE, "b"), *disk("y", ZONE, "b")]
    _, second = texts(pod("w", "x", "y"), *nodes(n1="a"), *disks)
    assert second == "recreate its 3 claims in zone a (a disk stays in its zone; copy the data first)"


def test_the_new_disk_of_a_class_that_does_not_wait_is_of_one_that_does():
    now = make_object("StorageClass", "now", provisioner="disk.example.com", volumeBindingMode="Immediate")
    late = {"provisioner": "disk.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    elsewhere = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z"]}]}]
    classes = [now, make_object("StorageClass", "far", **late, allowedTopologies=elsewhere)]
    spec = {**at(ZONE, "c"), "storageClassName": "now", "csi": {"driver": "disk.example.com", "volumeHandle": "v"}}
    volume = make_object("PersistentVolume", "pv-data", spec=spec)
    objects = [*nodes(n1="a"), *classes, bound("data", storageClassName="now"), volume]
    _, second = texts(pod("data"), *objects)
    stays = "(a disk stays in its zone; copy the data first)"
    assert second == f"recreate claim default/data in zone a with a class that waits for the pod {stays}"
    _, second = texts(pod("data"), *objects, make_object("StorageClass", "late", **late))
    assert second == f"recreate claim default/data in zone a with a class that waits for the pod, such as late {stays}"


@pytest.mark.parametrize(("number", "is_offered"), [(1, False), (2, True)])
def test_only_the_last_pod_of_a_stateful_set_can_be_left_out(number: int, is_offered: bool):
    """Old pods keep a new one away from their nodes until they are replaced, and a rollout waits for the new one."""
    of = {"metadata": owned("StatefulSet", "db"), "labels": {"app": "db"}}
    rule = affinity("podAntiAffinity", {"app": "db"})
    others = [number_ for number_ in range(3) if number_ != number]
    running = [make_pod(f"db-{i}", node=f"n{at}", spec=rule, **of) for at, i in enumerate(others)]
    waits = make_pod(f"db-{number}", spec={**pod("data").document["spec"], **rule}, **of)
    zones = nodes(n0="a", n1="b", n2="c")
    said = texts(waits, *zones, *running, *disk("data", ZONE, "a"))
    assert ("make the required pod anti-affinity preferred, or run 2 replicas" in said) is is_offered
    assert "recreate claim default/data in zone c (a disk stays in its zone; copy the data first)" in said
    assert not any("preferred" in text for text in said) or is_offered


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
    assert first == "recreate claim default/data in zone c (a disk stays in its zone; copy the data first)"
    assert others


def test_nodes_that_a_volume_is_away_from_are_one_row():
    (row,) = ask(pod("data"), *nodes(n1="a", n2="b"), *disk("data", ZONE, "c")).rows
    assert row.texts == ("volume pv-data of claim data is in zone c",)
    (row,) = ask(pod("data"), make_node("pi-a"), make_node("pi-b"), *disk("data", HOST, "pi-c")).rows
    assert row.texts == ("volume pv-data of claim data is on pi-c",)


def test_a_label_that_a_node_lacks_is_named():
    (row,) = ask(pod("data"), *nodes(n1="a"), *disk("data", EBS, "a")).rows
    assert row.texts == (f"volume pv-data of claim data: label {EBS} is absent, wanted: 'a'",)


def test_the_taint_that_keeps_the_driver_of_a_migrated_volume_away_is_named():
    migrated = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
    nodes = [
        make_node("n1", labels={EBS: "a"}, zone="a", taints=["dedicated=x:NoSchedule"]),
        make_node("n2", zone="a", taints=["arch=arm64:NoSchedule"]),
    ]
    csi = [make_object("CSINode", one.name, annotations=migrated) for one in nodes]
    everywhere = [{"key": "dedicated", "operator": "Exists"}]
    of = {"metadata": owned("DaemonSet", "ebs-csi-node"), "namespace": "kube-system"}
    plugin = make_pod("ebs-csi-node-1", node="n1", tolerations=everywhere, **of)
    tolerant = [{"key": "arch", "operator": "Exists"}]
    source = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
    volume = make_object("PersistentVolume", "pv-data", labels={ZONE: "a"}, spec=at(ZONE, "a", **source))
    explanation = ask(pod("data", tolerations=tolerant), *nodes, *csi, plugin, bound("data"), volume)
    assert f"1 node: volume pv-data of claim data: label {EBS} is absent, wanted: 'a'" in explanation.outcome.why
    assert explanation.fixes[0].text == (
        f"let DaemonSet kube-system/ebs-csi-node tolerate arch=arm64:NoSchedule: n2 lacks {EBS}"
    )


def test_a_disk_in_another_zone_is_said_once():
    volume = make_object("PersistentVolume", "pv-data", labels={ZONE: "c"}, spec=at(ZONE, "c"))
    (row,) = ask(pod("data"), *nodes(n1="a", n2="b"), bound("data"), volume).rows
    assert row.texts == ("volume pv-data of claim data is in zone c",)


def topology(key: str, *values: str) -> dict[str, object]:
    """Where a class makes volumes."""
    return {"allowedTopologies": [{"matchLabelExpressions": [{"key": key, "values": list(values)}]}]}


@pytest.mark.parametrize(
    ("allowed", "capacity", "place"), [("c", "", ""), ("b", "", "b"), ("a", "", "a"), ("", "5Gi", "")]
)
def test_a_disk_is_recreated_only_where_its_class_makes_one(allowed: str, capacity: str, place: str):
    """The class is of zones, or its driver publishes less storage than the claim asks for."""
    about = {"provisioner": "disk.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    spec = at(ZONE, "c", csi={"driver": "disk.example.com", "volumeHandle": "x"}, storageClassName="fast")
    more = {"storageClassName": "fast", "resources": {"requests": {"storage": "9Gi"}}}
    objects = [
        *nodes(n1="a", n2="b"),
        bound("data", **more),
        make_object("PersistentVolume", "pv-data", spec=spec),
        make_object("StorageClass", "fast", **about, **(topology(ZONE, allowed) if allowed else {})),
    ]
    if capacity:
        driver = make_object("CSIDriver", "disk.example.com", spec={"storageCapacity": True})
        published = {"storageClassName": "fast", "nodeTopology": {}, "capacity": capacity}
        objects += [driver, make_object("CSIStorageCapacity", "one", **published)]
    said = [text.partition(" (")[0] for text in texts(pod("data"), *objects) if text.startswith("recreate")]
    assert said == ([f"recreate claim default/data in zone {place}"] if place else [])
