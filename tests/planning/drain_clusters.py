"""Random small clusters with everything that matters for a drain: budgets, priorities, spreading, volumes, daemons."""

from random import Random
from typing import Any

from kubesched.api import KubeObject, Pod, rewritten
from kubesched.testing import make_node, make_object, make_pod

ZONES = ("a", "b", "c")
GPU, REQUEST = "example.com/gpu", "container-0-request-1"


def owned_by(kind: str, name: str) -> dict[str, Any]:
    """The metadata of a pod that a controller made."""
    version = {"Job": "batch/v1", "Node": "v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    owner = {"apiVersion": version, "kind": kind, "name": name, "uid": f"{kind}/{name}", "controller": True}
    return {"ownerReferences": [owner]}


def budget(name: str, app: str, allowed: int, **status: Any) -> KubeObject:
    """A disruption budget for the pods with a label `app`."""
    spec = {"selector": {"matchLabels": {"app": app}}}
    return make_object("PodDisruptionBudget", name, spec=spec, status={"disruptionsAllowed": allowed, **status})


def random_cluster(seed: int) -> list[KubeObject]:
    """Nodes in three zones, nearly full, with pods of a few workloads on them, and some pending."""
    random = Random(seed)
    nodes = [f"n{i}" for i in range(random.randrange(4, 9))]
    objects: list[KubeObject] = [make_object("Namespace", "default")]
    room = {"cpu": "4", "memory": "8Gi", "pods": "12"}
    objects += [make_node(name, zone=ZONES[i % 3], allocatable=room) for i, name in enumerate(nodes)]
    free = dict.fromkeys(nodes, 3900)
    for name in nodes:
        objects.append(
            make_pod(f"agent-{name}", node=name, requests={"cpu": "100m"}, metadata=owned_by("DaemonSet", "agent"))
        )
    for number in range(random.randrange(4, 9)):
        objects += _workload(random, f"app{number}", free)
    random.shuffle(objects)
    return objects


def claimed_cluster(seed: int) -> list[KubeObject]:
    """The same with devices on most nodes, no two of them equal, and claims of most pods: those of a template, those
    that a pod names, and those for an extended resource."""
    random, objects = Random(seed), random_cluster(seed)
    spec = {"extendedResourceName": GPU}
    made: list[KubeObject] = [make_object("DeviceClass", "gpu", spec=spec)]
    free: dict[str, list[str]] = {}
    for node in [one.name for one in objects if not isinstance(one, Pod) and one.name.startswith("n")]:
        if random.random() < 0.8:
            free[node] = [f"gpu-{i}" for i in range(random.randrange(1, 5))]
            made.append(_slice(node, [_device(name, f"{node}-{name}", random) for name in free[node]]))
    for one in objects:
        is_daemon = isinstance(one, Pod) and one.name.startswith("agent-")
        if not isinstance(one, Pod) or is_daemon or random.random() < 0.3:
            made.append(one)
        else:
            made += _claiming(one, free, random)
    return made


def _slice(node: str, devices: list[dict[str, Any]]) -> KubeObject:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "nodeName": node, "pool": pool, "devices": devices}
    return make_object("ResourceSlice", f"slice-{node}", spec=spec)


def _device(name: str, uuid: str, random: Random) -> dict[str, Any]:
    model = random.choice(["A100", "A100", "H100"])
    return {"name": name, "attributes": {"model": {"string": model}, "uuid": {"string": uuid}}}


def _claiming(pod: Pod, free: dict[str, list[str]], random: Random) -> list[KubeObject]:
    """A pod and its claim, which has a device of its node, if that has one left; a pod without a claim otherwise."""
    how = random.choice(["template", "template", "named", "extended"])
    if pod.node_name and not free.get(pod.node_name):
        return [pod]
    name = f"{pod.name}-{how}-abcde"
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
    metadata = {"ownerReferences": [owner]} if how != "named" else {}
    status: dict[str, Any] = {}
    if pod.node_name:
        result = {"driver": "gpu.example.com", "pool": pod.node_name, "device": free[pod.node_name].pop()}
        here = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pod.node_name]}]}]
        allocation = {"devices": {"results": [{"request": REQUEST, **result}]}}
        status["allocation"] = {**allocation, "nodeSelector": {"nodeSelectorTerms": here}}
        status["reservedFor"] = [{"resource": "pods", "name": pod.name, "uid": pod.uid}]
    asked = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    if how != "extended" and random.random() < 0.3:
        expression = 'device.attributes["gpu.example.com"].model == "A100"'
        asked["selectors"] = [{"cel": {"expression": expression}}]
    if how == "extended":
        metadata["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
    spec = {"devices": {"requests": [{"name": REQUEST, "exactly": asked}]}}
    claim = make_object("ResourceClaim", name, namespace="default", metadata=metadata, spec=spec, status=status)
    made = [] if how == "extended" and not pod.node_name else [claim]
    return [*made, rewritten(pod, lambda document: _use(document, how, name, has_started=bool(pod.node_name)))]


def _use(document: dict[str, Any], how: str, claim: str, *, has_started: bool) -> None:
    spec, status = document["spec"], document.setdefault("status", {})
    if how == "extended":
        for kind in ("requests", "limits"):
            spec["containers"][0].setdefault("resources", {}).setdefault(kind, {})[GPU] = "1"
        if has_started:
            mapping = {"containerName": spec["containers"][0]["name"], "resourceName": GPU, "requestName": REQUEST}
            status["extendedResourceClaimStatus"] = {"resourceClaimName": claim, "requestMappings": [mapping]}
            status["startTime"] = "2026-01-01T00:00:00Z"
    elif how == "template":
        spec["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "one"}]
        status["resourceClaimStatuses"] = [{"name": "d", "resourceClaimName": claim}]
    else:
        spec["resourceClaims"] = [{"name": "d", "resourceClaimName": claim}]


def packed_cluster(seed: int, n_nodes: int = 24) -> list[KubeObject]:
    """Nodes of equal size with pods of many workloads, some with budgets: which nodes can go depends on the order."""
    random = Random(seed)
    nodes = [f"n{i}" for i in range(n_nodes)]
    room = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    objects: list[KubeObject] = [make_object("Namespace", "default")]
    objects += [make_node(name, zone=ZONES[i % 3], allocatable=room) for i, name in enumerate(nodes)]
    free = dict.fromkeys(nodes, 12_800)
    for app in (f"app{i}" for i in range(n_nodes + n_nodes // 2)):
        cpu = random.choice([100, 250, 500, 1000, 2000])
        for i in range(random.choice([1, 2, 3, 5, 10, 20])):
            node = random.choice(nodes)
            if free[node] >= cpu:
                free[node] -= cpu
                fields = {"labels": {"app": app}, "requests": {"cpu": f"{cpu}m"}}
                objects.append(make_pod(f"{app}-{i}", node=node, metadata=owned_by("ReplicaSet", app), **fields))
        if random.random() < 0.3:
            objects.append(budget(app, app, random.randrange(3)))
    return objects


def _workload(random: Random, app: str, free: dict[str, int]) -> list[KubeObject]:
    kind = random.choice(["ReplicaSet", "ReplicaSet", "StatefulSet", "Job", ""])
    cpu, priority = random.choice([300, 700, 1200]), random.choice([0, 0, 10, 1000])
    spec: dict[str, Any] = {}
    selector = {"matchLabels": {"app": app}}
    rule = random.choice(["", "", "spread", "apart"])
    if rule == "spread":
        key, when = random.choice(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]), "DoNotSchedule"
        constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector}
        spec["topologySpreadConstraints"] = [constraint]
    if rule == "apart":
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    made: list[KubeObject] = []
    if kind == "Job":
        made.append(make_object("Job", app, spec={"completions": 9, "backoffLimit": random.randrange(4)}))
    for i in range(random.randrange(1, 5)):
        open_nodes = [name for name, left in free.items() if left >= cpu]
        node = random.choice(open_nodes) if open_nodes and random.random() < 0.9 else ""
        if node:
            free[node] -= cpu
        made.append(
            make_pod(
                f"{app}-{i}",
                node=node,
                labels={"app": app},
                requests={"cpu": f"{cpu}m"},
                priority=priority,
                metadata=owned_by(kind, app) if kind else {},
                spec={**spec, "volumes": [{"name": "tmp", "emptyDir": {}}]} if i == 0 else spec,
            )
        )
    if random.random() < 0.5:
        made.append(budget(app, app, random.randrange(3)))
    return made
