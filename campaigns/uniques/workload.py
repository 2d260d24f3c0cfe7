"""A cluster in which no word comes twice: what is kept by a name, a key or a value grows with it, or is given back.

Each second a node, its CSINode and some pods with all that belongs to them come, and those of some seconds ago go.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

from kubesched.api import EventType, KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.live.fake_cluster import FakeCluster

N_NODES = 20
POD_SECONDS = 15
PODS_PER_SECOND = 16  # one of each kind
HOST = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Workload:
    """What comes and goes.

    Attributes:
        n_pods: that came so far.
    """

    def __init__(self, cluster: FakeCluster) -> None:
        self.n_pods = 0
        self._cluster = cluster
        self._serial = 0
        self._nodes: deque[list[KubeObject]] = deque()
        self._others: deque[list[KubeObject]] = deque()

    def second(self) -> None:
        """Do what happens in one second."""
        while len(self._nodes) < N_NODES:
            self._come(self._nodes, list(self._node()))
        self._go(self._nodes.popleft())
        self._come(self._nodes, list(self._node()))
        self._come(self._others, [obj for kind in range(PODS_PER_SECOND) for obj in self._pod(kind)])
        self.n_pods += PODS_PER_SECOND
        if len(self._others) > POD_SECONDS:
            self._go(self._others.popleft())

    def end(self) -> None:
        """Let all go."""
        for batch in (*self._others, *self._nodes):
            self._go(batch)
        self._others.clear()
        self._nodes.clear()

    def _come(self, batches: deque[list[KubeObject]], objects: list[KubeObject]) -> None:
        batches.append(objects)
        self._cluster.add(*objects)

    def _go(self, objects: list[KubeObject]) -> None:
        for obj in reversed(objects):
            self._cluster.tell(obj, EventType.DELETED)

    def _new(self) -> str:
        self._serial += 1
        return f"w{self._serial}"

    def _node(self) -> Iterator[KubeObject]:
        name = self._new()
        taints = [f"{name}.example.com/taint=x:PreferNoSchedule", f"{name}.example.com/hard:NoSchedule"]
        yield make_node(
            name,
            zone=f"zone-{name}",
            labels={HOST: name, f"{name}.example.com/only": name, "topology.kubernetes.io/region": f"region-{name}"},
            annotations={f"{name}.example.com/note": name},
            allocatable={"cpu": "16", "memory": "32Gi", "pods": "110", f"{name}.example.com/device": "4"},
            taints=taints[: 1 + self._serial % 2],
            status={"images": [{"names": [f"registry.example.com/{name}:1"], "sizeBytes": 10**8}]},
        )
        drivers = [{"name": f"{name}.csi.example.com", "nodeID": name, "allocatable": {"count": 3}}]
        yield make_object("CSINode", name, spec={"drivers": drivers})

    def _pod(self, kind: int) -> Iterator[KubeObject]:
        """A pod of one of sixteen kinds, after what belongs to it."""
        name = self._new()
        labels = {"app": name, f"{name}.example.com/label": name}
        selector = {"matchLabels": {"app": name}}
        node = self._nodes[-1 - self._serial % N_NODES][0].name
        said: dict[str, Any] = {"labels": labels, "requests": {"cpu": f"{10 + self._serial % 500}m"}}
        spec: dict[str, Any] = {"priorityClassName": f"class-{name}", "serviceAccountName": name}
        said["image"] = f"registry.example.com/{name}:1"
        match kind:
            case 0:
                yield make_object("PriorityClass", f"class-{name}", value=self._serial)
                said["priority"] = self._serial
            case 1:
                said["requests"] = {f"{name}.example.com/nowhere": "1"}
            case 2:
                said["node_selector"] = {f"{name}.example.com/nowhere": name}
            case 3:
                hard = "DoNotSchedule" if self._serial % 2 else "ScheduleAnyway"
                where = [(HOST, "ScheduleAnyway"), (f"{name}.example.com/topology", hard)]
                spec["topologySpreadConstraints"] = [
                    {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": how, "labelSelector": selector}
                    for key, how in where
                ]
            case 4:
                term = {"labelSelector": selector, "topologyKey": f"{name}.example.com/topology"}
                preferred = [{"weight": 5, "podAffinityTerm": term}]
                spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}, "podAffinity": {PREFERRED: preferred}}
            case 5:
                spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": f"none-{name}"}}]
            case 6:
                yield make_object(
                    "StorageClass", name, provisioner=f"{name}.example.com", volumeBindingMode="Immediate"
                )
                yield from _bound_volume(name, node)
                spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
            case 7:
                said["host_ports"] = [1 + self._serial % 60_000]
            case 8:
                said["tolerations"] = [{"key": f"{node}.example.com/hard", "operator": "Exists"}, {"key": name}]
                said["node_selector"] = {HOST: node}
            case 9:
                spec["schedulerName"] = f"scheduler-{name}"
            case 10:
                spec["schedulingGates"] = [{"name": f"{name}.example.com/gate"}]
            case 11:
                yield make_object("Namespace", name, metadata={"labels": {f"{name}.example.com/team": name}})
                said["namespace"] = name
                team = {"matchLabels": {f"{name}.example.com/team": name}}
                term = {"labelSelector": selector, "namespaceSelector": team, "topologyKey": HOST}
                spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
            case 12:
                said["requests"] = {f"{node}.example.com/device": "1"}
            case 13:
                said |= {"requests": {"cpu": "15"}, "priority": 1000 + self._serial}
            case 14:
                yield make_object("Service", name, spec={"selector": {"app": name}})
                yield make_object("PodDisruptionBudget", name, spec={"minAvailable": 1, "selector": selector})
                owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name, "controller": True}
                said["metadata"] = {"ownerReferences": [owner]}
            case _:
                expressions = [{"key": f"{name}.example.com/x", "operator": "NotIn", "values": [name]}]
                weighed = {"weight": 3, "preference": {"matchExpressions": expressions}}
                required = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
                spec["affinity"] = {"nodeAffinity": {PREFERRED: [weighed], REQUIRED: required}}
                spec["runtimeClassName"] = name
        yield make_pod(f"pod-{name}", spec=spec, **said)


def _bound_volume(name: str, node: str) -> Iterator[KubeObject]:
    """A claim and the volume that it has, which only one node reaches."""
    here = {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}]}
    yield make_object(
        "PersistentVolume",
        name,
        spec={
            "capacity": {"storage": "1Gi"},
            "storageClassName": name,
            "csi": {"driver": f"{node}.csi.example.com", "volumeHandle": name},
            "claimRef": {"namespace": "default", "name": name},
            "nodeAffinity": {"required": here},
        },
    )
    bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    yield make_object(
        "PersistentVolumeClaim", name, metadata=bound, spec={"volumeName": name, "storageClassName": name}
    )
