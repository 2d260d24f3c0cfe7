"""Namespaces with limits and quotas, classes, and generated pods that an API server completes or refuses."""

import random
from collections.abc import Iterator
from typing import Any

from kubesched.api import parse_quantity
from tests.snapshot.builders import Document, other

GPU = "example.com/gpu"
CPUS = ("100m", "0.25", "250m", "500m", "1", "1500m", "2", "3", "2500m")
BYTES = ("64Mi", "128Mi", "0.5Gi", "512M", "1Gi", "1536Mi", "2Gi", "1e9", "1073741824", "700000k")
AMOUNTS = {"cpu": CPUS, "memory": BYTES, "ephemeral-storage": BYTES}
LAST = "last"
ONE_AT_A_TIME = ("classes", "devices", "ending", "several")
"""Namespaces with several quotas, which an API server asks in any order."""

RUNTIME_CLASSES = [
    other("node.k8s.io/v1", "RuntimeClass", "plain", handler="runc"),
    other(
        "node.k8s.io/v1",
        "RuntimeClass",
        "kata",
        handler="kata",
        overhead={"podFixed": {"cpu": "250m", "memory": "120Mi"}},
        scheduling={
            "nodeSelector": {"kata": "yes", "zone": "a"},
            "tolerations": [
                {"key": "kata", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "dedicated", "operator": "Equal", "value": "kata"},
            ],
        },
    ),
    other(
        "node.k8s.io/v1",
        "RuntimeClass",
        "tolerant",
        handler="runc",
        overhead={"podFixed": {"cpu": "1", "memory": "0.5Gi"}},
        scheduling={"tolerations": [{"operator": "Exists"}]},
    ),
    other("node.k8s.io/v1", "RuntimeClass", "selective", handler="runc", scheduling={"nodeSelector": {"disk": "ssd"}}),
]
PRIORITY_CLASSES = [
    other("scheduling.k8s.io/v1", "PriorityClass", "high", value=1000),
    other("scheduling.k8s.io/v1", "PriorityClass", "low", value=-5, preemptionPolicy="Never"),
]


def limit_range(namespace: str, *limits: Document, name: str = "lr") -> Document:
    return other("v1", "LimitRange", name, metadata={"namespace": namespace}, spec={"limits": list(limits)})


def quota(namespace: str, name: str, hard: Document, used: Document, **scopes: Any) -> Document:
    metadata, status = {"namespace": namespace}, {"hard": hard, "used": used}
    return other("v1", "ResourceQuota", name, metadata=metadata, spec={"hard": hard, **scopes}, status=status)


def selecting(scope: str, operator: str, *values: str) -> Document:
    requirement = {"scopeName": scope, "operator": operator, **({"values": list(values)} if values else {})}
    return {"scopeSelector": {"matchExpressions": [requirement]}}


POLICIES = [
    # what containers get
    limit_range("defaults", {"type": "Container", "default": {"cpu": "2", "memory": "1Gi"}}),
    limit_range(
        "requests",
        {"type": "Container", "defaultRequest": {"cpu": "300m", "memory": "0.25Gi", "ephemeral-storage": "1G"}},
    ),
    limit_range("two", {"type": "Container", "defaultRequest": {"cpu": "200m"}}, name="a"),
    limit_range("two", {"type": "Container", "default": {"memory": "2Gi"}, "max": {"memory": "2048Mi"}}, name="b"),
    # what bounds them
    limit_range(
        "bounds",
        {"type": "Container", "min": {"cpu": "200m", "memory": "100Mi"}, "max": {"cpu": "2000m", "memory": "1Gi"}},
    ),
    limit_range(
        "bounds-only",
        {
            "type": "Container",
            "min": {"cpu": "200m"},
            "max": {"cpu": "2", "memory": "1024Mi", GPU: "2"},
            "defaultRequest": {"cpu": "200m", "memory": "128Mi"},
        },
    ),
    limit_range("ratio", {"type": "Container", "maxLimitRequestRatio": {"cpu": "2", "memory": "1.5"}}),
    limit_range(
        "ratio-pod",
        {"type": "Pod", "maxLimitRequestRatio": {"cpu": "3"}},
        {"type": "Container", "maxLimitRequestRatio": {"memory": "2500m"}},
    ),
    limit_range(
        "whole-pods",
        {"type": "Pod", "min": {"cpu": "0.5"}, "max": {"cpu": "4", "memory": "3Gi"}},
        {"type": "Container", "defaultRequest": {"cpu": "200m"}, "default": {"memory": "256Mi"}},
    ),
    limit_range("whole-pods-min", {"type": "Pod", "min": {"memory": "1Gi", "cpu": "1500m"}}),
    # what is counted
    quota(
        "compute",
        "compute",
        {"cpu": "4", "memory": "3Gi", "limits.cpu": "6", "limits.memory": "6Gi", "pods": "10"},
        {"cpu": "1500m", "memory": "1G", "limits.cpu": "2", "limits.memory": "1536Mi", "pods": "3"},
    ),
    quota(
        "requests-only",
        "requests",
        {"requests.cpu": "2", "requests.memory": "2G", "requests.ephemeral-storage": "2Gi"},
        {"requests.cpu": "0", "requests.memory": "512Mi", "requests.ephemeral-storage": "0"},
    ),
    quota("counts", "pods", {"pods": "3", "count/pods": "5"}, {"pods": "3", "count/pods": "4"}),
    quota("counts-free", "pods", {"pods": "3", "count/pods": "5"}, {"pods": "2", "count/pods": "4"}),
    quota("devices", "gpus", {f"requests.{GPU}": "2"}, {f"requests.{GPU}": "1"}),
    quota(
        "devices",
        "pages",
        {"hugepages-2Mi": "64Mi", "requests.hugepages-2Mi": "128Mi"},
        {"hugepages-2Mi": "32Mi", "requests.hugepages-2Mi": "0"},
    ),
    quota("best", "best", {"pods": "0"}, {"pods": "0"}, scopes=["BestEffort"]),
    quota("not-best", "rest", {"pods": "1", "cpu": "2"}, {"pods": "0", "cpu": "0"}, scopes=["NotBestEffort"]),
    quota("ending", "jobs", {"limits.cpu": "2"}, {"limits.cpu": "1"}, scopes=["Terminating"]),
    quota("ending", "services", {"memory": "1Gi"}, {"memory": "100Mi"}, scopes=["NotTerminating", "NotBestEffort"]),
    quota("classes", "high", {"pods": "1"}, {"pods": "1"}, **selecting("PriorityClass", "In", "high", "urgent")),
    quota("classes", "other", {"cpu": "1"}, {"cpu": "0"}, **selecting("PriorityClass", "NotIn", "high")),
    quota("classes", "any", {"memory": "2Gi"}, {"memory": "1"}, **selecting("PriorityClass", "Exists")),
    quota("classless", "none", {"pods": "0"}, {"pods": "0"}, **selecting("PriorityClass", "DoesNotExist")),
    quota("far", "far", {"pods": "0"}, {"pods": "0"}, **selecting("CrossNamespacePodAffinity", "Exists")),
    quota("several", "b", {"cpu": "1", "pods": "4"}, {"cpu": "500m", "pods": "1"}),
    quota("several", "a", {"memory": "1Gi"}, {"memory": "0"}),
    quota("both", "q", {"limits.cpu": "3", "requests.memory": "1Gi"}, {"limits.cpu": "500m", "requests.memory": "0"}),
    limit_range(
        "both",
        {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"memory": "256Mi"}, "max": {"memory": "1Gi"}},
        {"type": "Pod", "max": {"cpu": "3"}},
    ),
]
NAMESPACES = sorted({one["metadata"]["namespace"] for one in POLICIES} | {"plain"})


def pods(seed: int, n: int) -> Iterator[Document]:
    """Pods that name namespaces, classes and resources of this module, `n` in each namespace."""
    rng = random.Random(seed)
    for namespace in NAMESPACES:
        yield from (other("v1", "Pod", f"p{i}", metadata={"namespace": namespace}, spec=spec(rng)) for i in range(n))


def spec(rng: random.Random) -> Document:
    made: Document = {"containers": containers(rng, "c")}
    if rng.random() < 0.3:
        made["initContainers"] = containers(rng, "i")
        for container in made["initContainers"]:
            if rng.random() < 0.5:
                container["restartPolicy"] = "Always"
    if rng.random() < 0.3:
        made["runtimeClassName"] = rng.choice(["plain", "kata", "kata", "tolerant", "selective", "unknown"])
    if rng.random() < 0.1:
        made["overhead"] = rng.choice([{"cpu": "250m", "memory": "120Mi"}, {"cpu": "0.25"}, {"memory": "1Gi"}])
    if rng.random() < 0.2:
        made["nodeSelector"] = rng.choice([{"kata": "no"}, {"kata": "yes", "disk": "hdd"}, {"disk": "ssd"}])
    if rng.random() < 0.2:
        made["tolerations"] = rng.choice(
            [
                [{"operator": "Exists"}],
                [{"key": "kata", "operator": "Exists"}],
                [{"key": "kata", "operator": "Exists", "effect": "NoSchedule"}],
                [{"key": "dedicated", "value": "kata"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists"}],
            ]
        )
    if rng.random() < 0.3:
        made["priorityClassName"] = rng.choice(["high", "low", "system-node-critical", "absent"])
    if rng.random() < 0.2:
        made["activeDeadlineSeconds"] = 60
    if rng.random() < 0.15:
        made["affinity"] = affinity(rng)
    if rng.random() < 0.2:
        made = {key: made[key] for key in ("containers", "initContainers") if key in made}
        made["resources"] = resources(rng, ("cpu", "memory"))
    if rng.random() < 0.03:
        made["resources"] = {}
    if rng.random() < 0.03:
        made["overhead"] = {}
    return made


def containers(rng: random.Random, prefix: str) -> list[Document]:
    return [
        {"name": f"{prefix}{i}", "image": "i", "resources": resources(rng, ("cpu", "memory", "ephemeral-storage"))}
        for i in range(rng.choice([1, 1, 2, 3]))
    ]


def resources(rng: random.Random, names: tuple[str, ...]) -> Document:
    """Requests below limits mostly, and each of them only sometimes."""
    requests: Document = {}
    limits: Document = {}
    for name in names:
        least, most = sorted(rng.choices(AMOUNTS[name], k=2), key=parse_quantity)
        for written, amount in ((requests, least), (limits, most)):
            if rng.random() < (0.6 if name != "ephemeral-storage" else 0.1):
                written[name] = amount
    if "ephemeral-storage" in names and rng.random() < 0.1:
        requests[GPU] = limits[GPU] = rng.choice(["1", "2", "3", "1k"])
    if "ephemeral-storage" in names and rng.random() < 0.1:
        requests["hugepages-2Mi"] = limits["hugepages-2Mi"] = rng.choice(["16Mi", "64Mi"])
    return {**({"requests": requests} if requests else {}), **({"limits": limits} if limits else {})}


def affinity(rng: random.Random) -> Document:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    term |= rng.choice([{}, {"namespaces": ["plain"]}, {"namespaceSelector": {}}])
    kind = rng.choice(["podAffinity", "podAntiAffinity"])
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
