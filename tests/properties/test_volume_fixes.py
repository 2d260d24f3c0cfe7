"""Every fix for a pod whose claims or volumes keep it from nodes, applied to the cluster, makes the pod fit."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.properties.test_fixes import check, offered

ZONE, BETA = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
HOST, DRIVER_KEY = "kubernetes.io/hostname", "topology.x.example.com/zone"
DRIVER = "x.example.com"
MANUAL = "kubernetes.io/no-provisioner"
ZONES = st.sampled_from("abc")
SIZES = st.sampled_from(("1Gi", "5Gi", "10Gi"))
MODES = st.sampled_from((["ReadWriteOnce"], ["ReadWriteMany"], ["ReadWriteOnce", "ReadWriteMany"]))
CLASSES = st.sampled_from(("fast", "fsat", "manual", "", None))


@st.composite
def nodes(draw: st.DrawFn) -> list[KubeObject]:
    made = []
    for i in range(draw(st.integers(1, 3))):
        zone = draw(ZONES)
        keys = draw(st.sets(st.sampled_from((ZONE, BETA, DRIVER_KEY)), max_size=3))
        labels = {HOST: f"n{i}", **dict.fromkeys(sorted(keys), zone)}
        made.append(make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}, labels=labels))
    return made


@st.composite
def volumes(draw: st.DrawFn, name: str) -> KubeObject:
    key = draw(st.sampled_from((ZONE, DRIVER_KEY, HOST, "")))
    value = draw(st.sampled_from(("n0", "n7"))) if key == HOST else draw(ZONES)
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    spec: dict[str, Any] = {"capacity": {"storage": draw(SIZES)}, "accessModes": draw(MODES)}
    spec |= {"storageClassName": draw(CLASSES) or "", "csi": {"driver": DRIVER, "volumeHandle": name}}
    spec |= {"volumeMode": "Block"} if draw(st.booleans()) and draw(st.booleans()) else {}
    spec |= {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if key else {}
    ref = draw(st.sampled_from((None, None, "data", "other")))
    spec |= (
        {"claimRef": {"namespace": "default", "name": ref, "uid": draw(st.sampled_from(("", "old")))}} if ref else {}
    )
    labels = {draw(st.sampled_from((ZONE, BETA))): draw(ZONES)} if draw(st.booleans()) else {}
    phase = draw(st.sampled_from(("Available", "Released", "Bound")))
    return make_object("PersistentVolume", name, labels=labels, spec=spec, status={"phase": phase})


@st.composite
def claims(draw: st.DrawFn, name: str) -> KubeObject:
    spec: dict[str, Any] = {"accessModes": draw(MODES), "resources": {"requests": {"storage": draw(SIZES)}}}
    class_name = draw(CLASSES)
    spec |= {"storageClassName": class_name} if class_name is not None else {}
    annotations = {}
    if draw(st.booleans()):
        spec["volumeName"] = draw(st.sampled_from(("pv-0", "pv-1", "pv-9")))
        annotations = {"pv.kubernetes.io/bind-completed": "yes"} if draw(st.booleans()) else {}
    elif draw(st.booleans()):
        annotations = {"volume.kubernetes.io/selected-node": draw(st.sampled_from(("n0", "n9")))}
    return make_object("PersistentVolumeClaim", name, uid=f"uid-{name}", annotations=annotations, spec=spec)


@st.composite
def clusters(draw: st.DrawFn) -> list[KubeObject]:
    """Some nodes, volumes, claims and classes, of which little fits together, and a pod with one claim or two."""
    objects = draw(nodes()) + [draw(volumes(f"pv-{i}")) for i in range(draw(st.integers(0, 2)))]
    objects += [draw(claims(name)) for name in draw(st.sampled_from((["data"], ["data"], ["data", "logs"], [])))]
    for name, provisioner in (("fast", DRIVER), ("manual", MANUAL)):
        mode = draw(st.sampled_from(("WaitForFirstConsumer", "Immediate")))
        objects.append(make_object("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode))
    if draw(st.booleans()):
        objects.append(make_object("CSIDriver", DRIVER, spec={"storageCapacity": True}))
        capacity = {"storageClassName": "fast", "capacity": draw(SIZES), "nodeTopology": {"matchLabels": {HOST: "n0"}}}
        objects += [make_object("CSIStorageCapacity", "c", **capacity)] if draw(st.booleans()) else []
    used = draw(st.sampled_from((["data"], ["data"], ["data", "logs"], ["dtaa"])))
    mounted = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in used]
    return [
        *objects,
        make_pod("p", requests={"cpu": draw(st.sampled_from(("1", "1", "3")))}, spec={"volumes": mounted}),
    ]


@given(clusters())
def test_every_fix_for_volumes_makes_the_pod_fit(cluster: list[KubeObject]) -> None:
    check(cluster, None, list(offered(cluster, None)))
