"""Small clusters for comparisons, and their figures worked out pod by pod."""

import json
from collections import Counter, defaultdict
from fractions import Fraction
from math import ceil
from random import Random

from kubesched.api import KubeObject, Node, Pod, completed
from kubesched.session import Report
from kubesched.testing import make_node, make_object, make_pod

ZONE = "topology.kubernetes.io/zone"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
PRICES = {"small": 0.1, "large": 0.35}


def owned(kind: str, name: str) -> dict:
    """The metadata of a pod with a controller."""
    return {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}]}


def empty_nodes(n: int = 4) -> list[KubeObject]:
    """Equal nodes in two zones."""
    return [make_object("Namespace", "default"), *(make_node(f"n{i}", zone="ab"[i % 2]) for i in range(n))]


def replicas(workload: str, n: int, cpu: str = "500m", kind: str = "StatefulSet", **said) -> list[Pod]:
    """The pods of a workload."""
    made = {"requests": {"cpu": cpu, "memory": "512Mi"}, "metadata": owned(kind, workload)}
    return [make_pod(f"{workload}-{i}", labels={"app": workload}, **made, **said) for i in range(n)]


def random_cluster(seed: int) -> list[KubeObject]:
    """Nodes of two types in three zones, one cordoned, one of the control plane; daemons, running and pending pods."""
    rng = Random(seed)
    objects: list[KubeObject] = [make_object("Namespace", "default")]
    for i in range(8):
        kind = rng.choice(["small", "large"])
        labels = {INSTANCE_TYPE: kind, **({CONTROL_PLANE: ""} if i == 7 else {})}
        room = {"cpu": "2" if kind == "small" else "6", "memory": "4Gi"}
        objects.append(make_node(f"n{i}", zone="abc"[i % 3], labels=labels, allocatable=room, unschedulable=i == 6))
        objects.append(
            make_pod(f"agent-{i}", node=f"n{i}", requests={"cpu": "100m"}, metadata=owned("DaemonSet", "agent"))
        )
    for workload in ("web", "db", "job"):
        cpu = rng.choice(["300m", "700m", "1500m"])
        where = {"node_selector": {ZONE: "a"}} if workload == "db" else {}
        for i, pod in enumerate(replicas(workload, rng.randrange(2, 6), cpu, priority=rng.choice([0, 10]), **where)):
            document = json.loads(pod.raw)
            if workload == "web" and i % 2:
                document["spec"]["nodeName"] = f"n{rng.randrange(6)}"
            objects.append(make_pod(pod.name, **_as_arguments(document)))
    return [*objects, make_pod("huge", requests={"cpu": "64"}), make_pod("done", node="n0", status={"phase": "Failed"})]


def _as_arguments(document: dict) -> dict:
    return {
        "labels": document["metadata"]["labels"],
        "metadata": {"ownerReferences": document["metadata"]["ownerReferences"]},
        "spec": document["spec"],
        "status": {"phase": "Running" if "nodeName" in document["spec"] else "Pending"},
    }


def worked_out(objects: list[KubeObject], report: Report) -> dict[str, float | None]:
    """The figures after a run, from the objects and the placements alone."""
    objects = [completed(one) for one in objects]
    nodes = {one.name: one for one in objects if isinstance(one, Node)}
    pods = {one.key: one for one in objects if isinstance(one, Pod) and not one.is_finished}
    left = {victim.pod for victim in report.victims}
    at = {key: pod.node_name for key, pod in pods.items() if pod.node_name and key not in left}
    placed = {one.pod: one.node for one in report.placements if one.node and not one.evicted_by}
    at |= placed
    to_place = [pod for pod in pods.values() if not pod.node_name]
    held = {name: [pods[key] for key, node in at.items() if node == name] for name in nodes}
    used = {name for name, there in held.items() if any(_kind(pod) != "DaemonSet" for pod in there)}
    used |= {name for name, node in nodes.items() if CONTROL_PLANE in node.labels}
    free = {
        name: {r: _amount(node.status.allocatable[r], r) - sum(_request(p, r) for p in held[name]) for r in RESOURCES}
        for name, node in nodes.items()
        if not node.unschedulable
    }
    wasted = [
        room["cpu"]
        for room in free.values()
        if not any(all(room[r] >= _request(pod, r) for r in RESOURCES) for pod in to_place if _request(pod, "cpu"))
    ]
    all_free = sum(room["cpu"] for room in free.values())
    figures: dict[str, float | None] = {
        "placed": len(placed),
        "pending": len(to_place) - len(placed),
        "victims": len(report.victims),
        "nodesInUse": len(used),
        "nodesFree": len(nodes) - len(used),
        "pricePerHour": round(sum(PRICES.get(nodes[name].labels.get(INSTANCE_TYPE, ""), 0) for name in used), 6),
        "cpuGap": max(room["cpu"] for room in free.values()),
        "memoryGap": max(room["memory"] for room in free.values()),
        "fragmentation": round(sum(wasted) / all_free, 3),
    }
    for r in RESOURCES:
        shares = sorted(
            Fraction(sum(_request(p, r) for p in held[name]), _amount(nodes[name].status.allocatable[r], r))
            for name in used
        )
        figures[f"{r}Median"] = round(float(shares[ceil(len(shares) * 0.5) - 1]), 3)
        figures[f"{r}P95"] = round(float(shares[ceil(len(shares) * 0.95) - 1]), 3)
    workloads = {_owner(pod) for pod in to_place if _owner(pod)}
    by_workload = defaultdict(list)
    for key, node in at.items():
        by_workload[_owner(pods[key])].append(node)
    zones = {
        workload: {
            node.labels[ZONE]
            for node in nodes.values()
            if all(
                node.labels.get(k) == v
                for k, v in next(p for p in to_place if _owner(p) == workload).node_selector.items()
            )
        }
        for workload in workloads
    }
    skews = []
    for workload in workloads:
        counts = Counter(nodes[node].labels[ZONE] for node in by_workload[workload])
        per_zone = [counts[zone] for zone in zones[workload]]
        skews.append(max(per_zone) - min(per_zone))
    figures["skew"] = max(skews)
    figures["onOneNode"] = sum(len(by_workload[w]) > 1 and len(set(by_workload[w])) == 1 for w in workloads)
    return figures


RESOURCES = ("cpu", "memory")


def _kind(pod: Pod) -> str:
    return pod.metadata.controller.kind if pod.metadata.controller else ""


def _owner(pod: Pod) -> str:
    return pod.metadata.controller.name if pod.metadata.controller else ""


def _request(pod: Pod, resource: str) -> int:
    return sum(_amount(one.requests.get(resource, 0), resource) for one in pod.containers)


def _amount(text: str | int, resource: str) -> int:
    units = {"m": Fraction(1, 1000), "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "": 1}
    digits = str(text).rstrip("mKGi" + "M")
    amount = Fraction(digits) * units[str(text).removeprefix(digits)]
    return int(amount * (1000 if resource == "cpu" else 1))
