"""A snapshot of a cluster: nodes in file order, the pods on them, and every other object by kind, namespace and
name.
"""

import copy
import json
from collections.abc import Iterable
from pathlib import Path

from tests.reference import objects

CLUSTER_SCOPED = {
    "Node",
    "Namespace",
    "PersistentVolume",
    "StorageClass",
    "CSINode",
    "CSIDriver",
    "VolumeAttachment",
    "PriorityClass",
    "DeviceClass",
    "ResourceSlice",
}


class Node:
    """A node with its pods. The sums are computed anew whenever the pods change (kube-scheduler v1.36)."""

    def __init__(self, obj: dict, cluster: "Cluster"):
        self.object, self.cluster = obj, cluster
        self.name: str = obj["metadata"]["name"]
        self.labels = objects.labels_of(obj)
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        self.taints: list[dict] = spec.get("taints") or []
        self.unschedulable: bool = spec.get("unschedulable") or False
        self.allocatable: dict[str, int] = kept(status.get("allocatable") or {})
        self.images: list[dict] = status.get("images") or []
        self.declared_features: list[str] = status.get("declaredFeatures") or []
        self.pods: list[dict] = []
        self.requested: dict[str, int] = {}
        self.non_zero_requested: dict[str, int] = {}

    def add_pod(self, pod: dict) -> None:
        self.pods = [*self.pods, pod]
        self._sum()

    def remove_pod(self, pod: dict) -> None:
        self.pods = [p for p in self.pods if p is not pod]
        self._sum()

    def clone(self) -> "Node":
        """A copy whose pods can come and go without touching the cluster."""
        return copy.copy(self)

    @property
    def used_ports(self) -> set[tuple[str, str, int]]:
        return {port for pod in self.pods for port in objects.host_ports(pod)}

    def _sum(self) -> None:
        self.requested = total(objects.pod_requests(pod, status=True) for pod in self.pods)
        self.non_zero_requested = total(objects.non_zero_requests(pod) for pod in self.pods)


def kept(quantities: dict) -> dict[str, int]:
    """Node allocatable: `pods`, the three basic resources and scalars; anything else is dropped."""
    return {
        name: objects.units(name, objects.quantity(text))
        for name, text in quantities.items()
        if name in ("cpu", "memory", "ephemeral-storage", "pods") or objects.is_scalar(name)
    }


def total(requests: Iterable[objects.Amounts]) -> dict[str, int]:
    """Sums of pods' requests: each pod is rounded up to whole units before it is added."""
    sums: dict[str, int] = {}
    for pod in requests:
        for name, amount in pod.items():
            sums[name] = sums.get(name, 0) + objects.units(name, amount)
    return sums


class Cluster:
    """All objects of a snapshot. Pods bound to a node that is not in it are kept nowhere.

    `left`: nodes that were there first and have left. A zone of theirs keeps its place while it has nodes.
    """

    def __init__(self, items: list[dict], left: Iterable[dict] = ()):
        self._objects: dict[str, dict[tuple[str, str], dict]] = {}
        for obj in items:
            kind, meta = obj["kind"], obj["metadata"]
            if kind not in CLUSTER_SCOPED and not meta.get("namespace"):
                meta = {**meta, "namespace": "default"}
                obj = {**obj, "metadata": meta}
            key = ("" if kind in CLUSTER_SCOPED else meta["namespace"], meta["name"])
            self._objects.setdefault(kind, {})[key] = obj
        self.nodes = [Node(obj, self) for obj in self.list("Node")]
        self.left = [Node(obj, self) for obj in left]
        self._by_name = {node.name: node for node in self.nodes}
        self.pending: list[dict] = []  # as PrioritySort takes them: by priority, then in file order
        for pod in self.list("Pod"):
            if not pod["spec"].get("nodeName"):
                self.pending.append(pod)
            elif pod["spec"]["nodeName"] in self._by_name:
                self.node(pod["spec"]["nodeName"]).add_pod(pod)
        self.pending.sort(key=objects.priority_of, reverse=True)

    @classmethod
    def read(cls, path: Path) -> "Cluster":
        return cls(json.loads(path.read_text())["items"])

    def node(self, name: str) -> Node:
        return self._by_name[name]

    def list(self, kind: str, namespace: str = "") -> list[dict]:
        """All objects of a kind, of one namespace if given, in file order."""
        return [obj for (ns, _), obj in self._objects.get(kind, {}).items() if namespace in ("", ns)]

    def get(self, kind: str, name: str, namespace: str = "") -> dict | None:
        return self._objects.get(kind, {}).get((namespace, name))

    def namespace_labels(self, namespace: str) -> dict[str, str]:
        """Empty when there is no such Namespace object."""
        found = self.get("Namespace", namespace)
        return objects.labels_of(found) if found else {}

    def assume(self, pod: dict, node: Node) -> None:
        """Place a pending pod: from here on it counts on that node."""
        placed = {**pod, "spec": {**pod["spec"], "nodeName": node.name}}
        node.add_pod(placed)
