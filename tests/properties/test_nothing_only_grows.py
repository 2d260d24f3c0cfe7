"""Weeks of rollouts, resizes, replaced nodes and odd pods: once their objects are gone, nothing of them is left.

What is kept for pods to come, columns and groups, is bounded by its budget while it is there and dropped here.
"""

import gc
import random

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.cel import Reads
from kubesched.framework import Framework
from kubesched.state import ClusterState
from kubesched.testing.builders import make_object, make_pod
from tests.properties.cluster_walk import HOST, ZONE, read
from tests.properties.device_objects import READS, network_slices, slice_of
from tests.properties.device_objects import claim as claim_for_devices
from tests.properties.test_column_cache import framework_of, opinions

DRIVER, CLASS = "csi.example.com", "fast"
N_NODES, WEEKS = 8, 6


def term(app: str, key: str = HOST, **said) -> dict:
    return {"topologyKey": key, "labelSelector": {"matchLabels": app_labels(app)}, **said}


def app_labels(app: str) -> dict:
    return {"app": app}


def affinity_of(app: str, r: random.Random) -> dict:
    return {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [term(app)],
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": r.randrange(1, 100), "podAffinityTerm": term(f"{app}-x", ZONE)}
            ],
        },
        "podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": r.randrange(1, 100), "podAffinityTerm": term(f"{app}-y", ZONE)}
            ]
        },
    }


class Weeks:
    """A small cluster that stays, and what comes and goes around it."""

    def __init__(self) -> None:
        self.cluster_state = ClusterState()
        self.cluster_state.load([("Node", node(f"stays-{i}", "a")) for i in range(N_NODES)])
        self.cluster_state.load([("StorageClass", make_object("StorageClass", CLASS, provisioner=DRIVER))])
        for i in range(3):
            self.put("Pod", make_pod(f"stays-{i}", node=f"stays-{i}", labels=app_labels("base"), requests={"cpu": "1"}))
        self.framework: Framework = framework_of(self.cluster_state)
        self.gone: dict[tuple[str, str], object] = {}

    def put(self, kind: str, obj) -> None:
        self.cluster_state.apply(WatchEvent(EventType.MODIFIED, kind, obj))
        if hasattr(self, "gone"):
            self.gone[kind, obj.key] = obj

    def delete_all(self) -> None:
        for (kind, _), obj in reversed(self.gone.items()):
            self.cluster_state.apply(WatchEvent(EventType.DELETED, kind, obj))
        self.gone.clear()

    def ask(self, pod) -> None:
        opinions(self.framework, self.cluster_state.pod_info(pod))

    def week(self, number: int) -> None:
        r = random.Random(number)
        for i in range(N_NODES):
            self.put("Node", node(f"week-{number}-{i}", f"zone-{number}", resources={f"example.com/v{number}": "4"}))
            self.put("CSINode", csi_node(f"week-{number}-{i}", number))
        for i in range(2 * N_NODES):
            self.rollout(number, i, r)
        self.labelled_as_those_that_stay(number)
        self.new_storage_classes(number)
        self.odd_pods(number)
        self.device_classes(number)
        self.devices(number, r)
        self.cluster_state.check_invariants()

    def rollout(self, number: int, i: int, r: random.Random) -> None:
        labels = {"app": f"app-{number}", "pod-template-hash": f"{number}-{i}"}
        where = f"week-{number}-{i % N_NODES}"
        self.put("PersistentVolumeClaim", claim(f"claim-{number}-{i}", f"pv-{number}-{i}"))
        self.put("PersistentVolume", volume(f"pv-{number}-{i}", f"claim-{number}-{i}", where))
        said = {
            "labels": labels,
            "requests": {"cpu": f"{number * 100 + i}m", f"example.com/v{number}": "1"},
            "host_ports": [30000 + 100 * number + i],
            "spec": {
                "affinity": affinity_of(f"app-{number}-{i}", r),
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": f"claim-{number}-{i}"}}],
                "topologySpreadConstraints": [spread(labels)],
                "tolerations": [{"key": f"k{number}-{i}", "operator": "Exists"}],
            },
        }
        self.ask(make_pod(f"w{number}-{i}", **said))
        self.put("Pod", make_pod(f"w{number}-{i}", node=where, **said))
        resized = {**said, "requests": {"cpu": f"{number * 100 + i + 50}m"}}
        self.put("Pod", make_pod(f"w{number}-{i}", node=where, **resized))
        self.put("Pod", make_pod(f"w{number}-{i}", node=where, **said))

    def labelled_as_those_that_stay(self, number: int) -> None:
        """Pods that differ only in their controller or their constraints from pods that stay."""
        labels = app_labels("base")
        for i in range(20):
            owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{number}-{i}", "controller": True}
            selecting = spread({"app": f"base-{number}-{i}"})
            hard = {**selecting, "whenUnsatisfiable": "DoNotSchedule"}
            for j, said in enumerate(
                ({"metadata": {"ownerReferences": [owner]}}, {"spec": {"topologySpreadConstraints": [selecting, hard]}})
            ):
                pod = make_pod(f"like-{number}-{i}-{j}", labels=labels, **said)
                self.put("Pod", pod)
                self.ask(pod)

    def new_storage_classes(self, number: int) -> None:
        """Classes whose driver publishes capacities, of which the second has none, and a pod for each."""
        self.put("CSIDriver", make_object("CSIDriver", DRIVER, spec={"storageCapacity": True}))
        for i in range(2):
            name = f"class-{number}-{i}"
            provisioning = {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}
            self.put("StorageClass", make_object("StorageClass", name, **provisioning))
            wish = {"storageClassName": name, "resources": {"requests": {"storage": "1Gi"}}}
            self.put("PersistentVolumeClaim", make_object("PersistentVolumeClaim", name, spec=wish))
            if i == 0:
                said = {"storageClassName": name, "capacity": "1Ti", "nodeTopology": {"matchLabels": {ZONE: "a"}}}
                self.put("CSIStorageCapacity", make_object("CSIStorageCapacity", name, **said))
            pod = make_pod(name, spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]})
            self.put("Pod", pod)
            self.ask(pod)

    def device_classes(self, number: int) -> None:
        """Classes that serve what nodes offer, and then something else, and pods that ask for both."""
        for i in range(2):
            resource = f"example.com/v{number}{'-other' * i}"
            name = f"devices-{number}"
            self.put("DeviceClass", make_object("DeviceClass", name, spec={"extendedResourceName": resource}))
            pod = make_pod(f"{name}-{i}", requests={resource: 1, f"deviceclass.resource.kubernetes.io/{name}": 1})
            self.put("Pod", pod)
            self.ask(pod)

    def devices(self, number: int, r: random.Random) -> None:
        """Slices, of which each names something of its own, and claims that hold devices of them."""
        slices = [slice_of(f"week-{number}-{i}", r) for i in range(N_NODES)]
        slices += network_slices([f"week-{number}-0"], r)
        for i, item in enumerate(slices):
            for one in item["spec"].get("devices", ()):
                one["attributes"] |= {f"made-up-{number}-{i}": {"bool": True}}
            item["metadata"]["name"] += f"-{number}"
        for item in (*slices, *(claim_for_devices(f"devices-{number}-{i}", slices, r) for i in range(20))):
            self.put(item["kind"], read(item))
        nodes = self.cluster_state.snapshot().nodes
        for reads in (*READS, Reads(attributes=frozenset({f"gpu.example.com/made-up-{number}-0"}))):
            self.cluster_state.devices.alike(nodes, reads)

    def odd_pods(self, number: int) -> None:
        """Pending pods with resources, labels of nodes, claims and ports that nobody knows."""
        for i in range(150):
            spec: dict = {"nodeSelector": {f"made-up/{number}-{i}": "x"}}
            if i % 2:  # is rejected by PreFilter, so that nothing else is asked
                claim_name = {"claimName": f"no-claim-{number}-{i}"}
                spec = {"volumes": [{"name": "v", "persistentVolumeClaim": claim_name}]}
            requests = {f"made-up.com/r{number}-{i}": "1"}
            pod = make_pod(f"odd-{number}-{i}", requests=requests, host_ports=[40000 + i], spec=spec)
            self.put("Pod", pod)
            self.ask(pod)

    def sizes(self) -> dict[str, int]:
        self.framework.cache.evict()
        self.cluster_state.groups.forget_all()
        self.cluster_state.parts.forget_recent()
        self.cluster_state.devices.forget_all()
        self.cluster_state.devices.alike(self.cluster_state.snapshot().nodes, READS[0])
        self.framework.handle.snapshot()
        gc.collect()
        return self.cluster_state.sizes() | {
            "columns": len(self.framework.cache),
            "bytes": self.framework.cache.n_bytes,
        }


def node(name: str, zone: str, resources: dict | None = None):
    taints = [{"key": f"only-{zone}", "effect": "PreferNoSchedule"}]
    images = [{"names": [f"app:{zone}"], "sizeBytes": 10**8}]
    metadata = {"labels": {HOST: name, ZONE: zone}}
    status = {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110", **(resources or {})}, "images": images}
    return make_object("Node", name, metadata=metadata, spec={"taints": taints}, status=status)


def csi_node(name: str, number: int):
    drivers = [{"name": d, "nodeID": name, "allocatable": {"count": 9}} for d in (DRIVER, f"driver-{number}")]
    return make_object("CSINode", name, spec={"drivers": drivers})


def spread(labels: dict) -> dict:
    selector = {"matchLabels": {"app": labels["app"]}}
    said = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
    return {**said, "matchLabelKeys": ["pod-template-hash"]}


def claim(name: str, volume_name: str):
    metadata = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    return make_object("PersistentVolumeClaim", name, metadata=metadata, spec={"volumeName": volume_name})


def volume(name: str, claim_name: str, where: str):
    values = {"matchExpressions": [{"key": HOST, "operator": "In", "values": [where]}]}
    spec = {
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": DRIVER, "volumeHandle": name},
        "claimRef": {"namespace": "default", "name": claim_name},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [values]}},
    }
    return make_object("PersistentVolume", name, spec=spec)


@pytest.fixture
def weeks() -> Weeks:
    found = Weeks()
    found.week(0)  # makes what is made when first asked for
    found.delete_all()
    return found


def test_once_their_objects_are_gone_nothing_of_them_is_left(weeks: Weeks) -> None:
    before = weeks.sizes()
    for number in range(1, 1 + WEEKS):
        weeks.week(number)
        weeks.delete_all()
    assert weeks.sizes() == before


def test_what_overlaps_by_a_week_never_takes_more_than_two_weeks_do(weeks: Weeks) -> None:
    """As in life: the old goes when the new is there, so that numbers are freed in the middle and given out again."""
    largest: list[dict[str, int]] = []
    for number in range(1, 1 + WEEKS):
        old = dict(weeks.gone)
        weeks.week(number)
        for (kind, key), obj in reversed(old.items()):
            weeks.cluster_state.apply(WatchEvent(EventType.DELETED, kind, obj))
            weeks.gone.pop((kind, key))
        largest.append(weeks.sizes())
    grown = {name for name in largest[1] if largest[-1][name] > 2 * largest[1][name] + 4}
    assert not grown
    assert len(weeks.cluster_state.columns.labels) <= 70  # keys of which 64 may be such as no node has
    weeks.cluster_state.check_invariants()
