"""Objects as an API server stores them, with what tells them apart: uid, owner, time of creation."""

import hashlib
from typing import Any

Document = dict[str, Any]

GROUPS = {
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "PodDisruptionBudget": "policy/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
    "CSINode": "storage.k8s.io/v1",
    "CSIDriver": "storage.k8s.io/v1",
}
_CREATED = "2026-11-02T08:{:02}:{:02}Z"


def make(kind: str, name: str, namespace: str = "", *, metadata: Document | None = None, **fields: Any) -> Document:
    """An object; its uid and time of creation follow from kind, namespace and name."""
    known: Document = {"name": name}
    if namespace:
        known["namespace"] = namespace
    digest = hashlib.md5(f"{kind}/{namespace}/{name}".encode(), usedforsecurity=False).hexdigest()
    known["uid"] = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:]}"
    known["creationTimestamp"] = _CREATED.format(int(digest[:4], 16) % 60, int(digest[4:8], 16) % 60)
    known["resourceVersion"] = str(10_000_000 + int(digest[:6], 16))
    return {
        "apiVersion": GROUPS.get(kind, "v1"),
        "kind": kind,
        "metadata": {**known, **(metadata or {})},
        **fields,
    }


def owned_by(owner: Document) -> list[Document]:
    """The ownerReferences of what a controller made."""
    return [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def container(name: str, cpu: int, memory: int, *, gpus: int = 0, host_port: int = 0, init: bool = False) -> Document:
    """A container that requests CPU in milli and memory in MiB; 0 requests nothing."""
    requests = {"cpu": f"{cpu}m"} if cpu else {}
    if memory:
        requests["memory"] = f"{memory}Mi"
    limits = {"memory": requests["memory"]} if memory else {}
    if gpus:
        requests["nvidia.com/gpu"] = limits["nvidia.com/gpu"] = str(gpus)
    made: Document = {
        "name": "init" if init else name,
        "image": f"registry.example.com/{name}:1.{len(name)}.{(cpu + memory) % 10}",
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": requests, "limits": limits},
    }
    if host_port:
        made["ports"] = [{"containerPort": host_port, "hostPort": host_port, "protocol": "TCP"}]
    return made


def tolerate(key: str, effect: str = "NoSchedule", value: str = "") -> Document:
    """A toleration of any value, or of the one given; without an effect it tolerates all effects."""
    if value:
        return {"key": key, "operator": "Equal", "value": value, "effect": effect}
    return {"key": key, "operator": "Exists", **({"effect": effect} if effect else {})}


EVERY_POD = [
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
]


def pod(
    name: str, namespace: str, containers: list[Document], *, node: str = "", metadata: Document, **spec: Any
) -> Document:
    """A pod that runs on the node, or that is pending without one."""
    class_name = spec.get("priorityClassName", "")
    values = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000, **PRIORITIES}
    full = {
        "containers": containers,
        "schedulerName": "default-scheduler",
        "restartPolicy": "Always",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "priority": values.get(class_name, 0),
        "preemptionPolicy": "PreemptLowerPriority",
        **({"nodeName": node} if node else {}),
        **spec,
        "tolerations": [*spec.get("tolerations", ()), *EVERY_POD],
    }
    status: Document = {"phase": "Running" if node else "Pending", "qosClass": "Burstable"}
    if node:
        status["conditions"] = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Ready")]
    return make("Pod", name, namespace, metadata=metadata, spec=full, status=status)


PRIORITIES = {"business-critical": 1_000_000, "batch-low": -100}
