from kubesched.snapshot import load_snapshot, missing_kinds
from tests.snapshot.builders import listed, node, other, pod, stream

SERVICE = other("v1", "Service", "kubernetes")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def missing(*documents):
    return missing_kinds(load_snapshot(stream(listed(node(), SERVICE, *documents))).objects)


def with_claim(name="p1", **spec):
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}], **spec)


def claim(**spec):
    return other("v1", "PersistentVolumeClaim", "data", metadata={"namespace": "shop"}, spec=spec)


def owned_by(kind, **fields):
    document = pod(labels={"app": "web"}, **fields)
    document["metadata"]["ownerReferences"] = [{"kind": kind, "name": "web", "controller": True}]
    return document


def test_a_complete_snapshot_misses_nothing():
    assert missing(pod(), pod("b", nodeName="n1")) == []


def test_claims_without_any_claim_object_miss_all_of_storage():
    (found,) = missing(with_claim("a"), with_claim("b", nodeName="n1"), pod("c"))
    assert found.kinds == ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode")
    assert found.pods == ("shop/a", "shop/b")
    assert found.command == ("kubectl get persistentvolumeclaims,persistentvolumes,storageclasses,csinodes -A -o json")


def test_ephemeral_volumes_are_claims_too():
    (found,) = missing(pod(volumes=[{"name": "v", "ephemeral": {}}]))
    assert "PersistentVolumeClaim" in found.kinds


def test_with_claims_there_only_what_they_name_is_missed():
    assert missing(with_claim(), claim())[0].kinds == ("CSINode",)
    assert missing(with_claim(), claim(volumeName="pv"))[0].kinds == ("CSINode", "PersistentVolume")
    assert missing(with_claim(), claim(storageClassName="fast"))[0].kinds == ("CSINode", "StorageClass")


def test_the_old_annotation_of_a_claim_wins_over_the_name_of_its_class():
    old = {"namespace": "shop", "annotations": {"volume.beta.kubernetes.io/storage-class": ""}}
    claimed = claim(storageClassName="fast") | {"metadata": {"name": "data"} | old}
    assert missing(with_claim(), claimed)[0].kinds == ("CSINode",)


STORAGE = "storage.k8s.io/v1"
WAITING = other(STORAGE, "StorageClass", "fast", provisioner="d", volumeBindingMode="WaitForFirstConsumer")
DRIVER_ON_NODE = other(STORAGE, "CSINode", "n1", spec={"drivers": [{"name": "d"}]})


def test_the_driver_of_a_claim_that_waits_for_its_pod_is_missed_where_a_node_has_it():
    wanting = claim(storageClassName="fast")
    (found,) = missing(with_claim(), wanting, WAITING, DRIVER_ON_NODE)
    assert str(found) == (
        "the snapshot has no CSIDriver or CSIStorageCapacity: the free storage for the volumes of 1 pod (shop/p1) is "
        "not known; add `kubectl get csidrivers,csistoragecapacities -A -o json`"
    )
    assert missing(with_claim(nodeName="n1"), wanting, WAITING, DRIVER_ON_NODE) == []
    assert missing(with_claim(), claim(storageClassName="fast", volumeName="pv"), WAITING, DRIVER_ON_NODE)[0].kinds == (
        "PersistentVolume",
    )
    assert missing(with_claim(), wanting, WAITING, other(STORAGE, "CSINode", "n1", spec={})) == []


def test_capacities_are_missed_where_the_driver_publishes_them():
    def with_driver(**spec):
        driver = other(STORAGE, "CSIDriver", "d", spec=spec)
        return missing(with_claim(), claim(storageClassName="fast"), WAITING, DRIVER_ON_NODE, driver)

    assert with_driver() == []
    assert [found.kinds for found in with_driver(storageCapacity=True)] == [("CSIStorageCapacity",)]


def test_volumes_that_are_no_claims_miss_nothing():
    assert missing(pod(volumes=[{"name": "v", "emptyDir": {}}])) == []


def test_a_priority_class_is_missed_where_the_pod_has_no_priority():
    pods = [
        pod("a", priorityClassName="high"),
        pod("b", priorityClassName="high", priority=3),
        pod("c", priorityClassName="system-node-critical"),
    ]
    (found,) = missing(*pods)
    assert (found.kinds, found.pods) == (("PriorityClass",), ("shop/a",))
    assert found.command == "kubectl get priorityclasses -o json"


def test_namespaces_are_missed_where_a_selector_asks_for_their_labels():
    def asking(name, selector, kind="podAffinity"):
        return pod(name, nodeName="n1", affinity={kind: {REQUIRED: [{"namespaceSelector": selector}]}})

    labelled = {"matchLabels": {"team": "blue"}}
    preferred = {PREFERRED: [{"podAffinityTerm": {"namespaceSelector": labelled}}]}
    pods = [
        asking("a", labelled),
        asking("b", {}),
        asking("c", None),
        asking("d", labelled, "podAntiAffinity"),
        pod("e", affinity={"podAntiAffinity": preferred}),
    ]
    (found,) = missing(*pods)
    assert (found.kinds, found.pods) == (("Namespace",), ("shop/a", "shop/d", "shop/e"))


def test_owners_and_services_are_missed_for_default_spreading():
    constraint = {"topologyKey": "zone"}
    pods = [owned_by("ReplicaSet"), owned_by("StatefulSet", topologySpreadConstraints=[constraint])]
    (found,) = missing(*pods[:1])
    assert (found.kinds, found.pods) == (("ReplicaSet",), ("shop/p1",))
    assert missing(*pods[1:]) == []
    without_services = missing_kinds(load_snapshot(stream(listed(node(), *pods[:1]))).objects)
    assert without_services[0].kinds == ("Service", "ReplicaSet")


def test_running_pods_are_spread_no_more():
    assert missing(owned_by("ReplicaSet", nodeName="n1")) == []


def test_pending_pods_miss_nodes():
    (found,) = missing_kinds(load_snapshot(stream(pod("a"), pod("b", nodeName="n1"))).objects)
    assert (found.kinds, found.pods) == (("Node",), ("shop/a",))


def test_finished_pods_miss_nothing():
    assert missing(with_claim(status={"phase": "Succeeded"})) == []


def test_a_kind_is_named_once_with_a_few_pods_and_the_command():
    loaded = load_snapshot(stream(listed(node(), SERVICE, *(pod(f"p{i}", priorityClassName="high") for i in range(5)))))
    (note,) = map(str, loaded.missing)
    assert loaded.missing[0].brief == "the snapshot has no PriorityClass: the priority of 5 pods counts as 0"
    assert note == (
        "the snapshot has no PriorityClass: the priority of 5 pods (shop/p0, shop/p1, shop/p2 and 2 more) counts as 0; "
        "add `kubectl get priorityclasses -o json`"
    )


def test_the_service_of_a_manifest_is_not_one_of_the_pods_in_the_snapshot():
    service = other("v1", "Service", "new", metadata={"namespace": "new"}, spec={"selector": {"app": "new"}})
    new = pod("new", labels={"app": "new"})
    loaded = load_snapshot(stream(listed(node(), pod("old", labels={"app": "old"}))), manifests=[stream(service, new)])
    (note,) = map(str, loaded.missing)
    assert "the snapshot has no Service: default spreading is skipped for 1 pod (shop/old)" in note


def test_the_pods_of_manifests_miss_kinds_too():
    ephemeral = {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}
    manifest = stream(pod("new", volumes=[{"name": "v", "ephemeral": ephemeral}]))
    (note,) = map(str, load_snapshot(stream(listed(node(), SERVICE)), manifests=[manifest]).missing)
    assert note.startswith("the snapshot has no CSINode or StorageClass: the volumes of 1 pod (shop/new) are judged")


def asks_for(name, amount="1", **spec):
    return pod(containers=[{"name": "c", "resources": {"requests": {name: amount}}}], **spec)


def test_device_classes_are_missed_where_no_node_offers_the_devices_that_a_pod_asks_for():
    (found,) = missing(asks_for("example.com/gpu"))
    assert found.kinds == ("DeviceClass",)
    assert found.sentence == "whether a DeviceClass serves 1 pod (shop/p1) is not known"
    assert found.command == "kubectl get deviceclasses -o json"
    assert missing(asks_for("example.com/gpu", nodeName="n1")) == []
    assert missing(asks_for("cpu")) == []
    offering = other("v1", "Node", "n2", status={"allocatable": {"example.com/gpu": "4"}})
    assert missing(offering, asks_for("example.com/gpu")) == []
    assert missing(other("resource.k8s.io/v1", "DeviceClass", "gpu"), asks_for("example.com/gpu")) == []


def test_slices_are_missed_where_a_class_serves_what_a_pod_asks_for():
    serving = other("resource.k8s.io/v1", "DeviceClass", "gpu", spec={"extendedResourceName": "example.com/gpu"})
    offering = other("v1", "Node", "n2", status={"allocatable": {"example.com/gpu": "4"}})
    for more in ([], [offering]):
        (found,) = missing(serving, *more, asks_for("example.com/gpu"))
        assert found.kinds == ("ResourceSlice",)
        assert found.sentence == "the devices for 1 pod (shop/p1) are not known"
        assert found.command == "kubectl get resourceslices -o json"
    assert missing(serving, asks_for("example.com/gpu", nodeName="n1")) == []
    assert missing(serving, asks_for("example.com/nic")) == []
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n1", "pool": pool}
    piece = other("resource.k8s.io/v1", "ResourceSlice", "s", spec=spec)
    assert missing(serving, piece, asks_for("example.com/gpu")) == []


def test_pending_pods_with_resource_claims_miss_what_is_allocated_to_them():
    entries = [{"name": "gpu", "resourceClaimName": "c"}]
    (found,) = missing(pod("a", resourceClaims=entries), pod("b", resourceClaims=entries, nodeName="n1"))
    assert found.kinds == ("DeviceClass", "ResourceSlice", "ResourceClaim")
    assert found.pods == ("shop/a",)
    assert "the claims of 1 pod (shop/a) cannot be allocated" in str(found)
    assert found.command == ("kubectl get deviceclasses,resourceslices,resourceclaims -A -o json")
    claims = other("resource.k8s.io/v1", "ResourceClaim", "c", metadata={"namespace": "shop"})
    (found,) = missing(pod("a", resourceClaims=entries), claims)
    assert found.kinds == ("DeviceClass", "ResourceSlice")


def test_whether_a_claim_with_admin_access_can_be_made_is_not_known_without_namespaces():
    asked = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "adminAccess": True}}]}}
    made = other("resource.k8s.io/v1", "ResourceClaim", "made", metadata={"namespace": "shop"}, spec=asked)
    template = other(
        "resource.k8s.io/v1", "ResourceClaimTemplate", "t", metadata={"namespace": "shop"}, spec={"spec": asked}
    )
    pool = {"name": "all", "generation": 1, "resourceSliceCount": 1}
    objects = [
        other("resource.k8s.io/v1", "DeviceClass", "gpu"),
        other("resource.k8s.io/v1", "ResourceSlice", "s", spec={"driver": "d", "pool": pool, "allNodes": True}),
        made,
        template,
        pod("has-one", resourceClaims=[{"name": "r", "resourceClaimName": "made"}]),
        pod("waits", resourceClaims=[{"name": "r", "resourceClaimTemplateName": "t"}]),
    ]
    (found,) = missing(*objects)
    assert (found.kinds, found.pods) == (("Namespace",), ("shop/waits",))
    assert "admin access" in str(found)
    assert missing(*objects, other("v1", "Namespace", "shop")) == []
