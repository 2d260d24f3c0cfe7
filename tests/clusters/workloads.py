"""What runs in a cluster: daemons on each node, and workloads until the nodes are 60 to 80 percent full."""

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.clusters.nodes import NodeState
from tests.clusters.objects import Document, container, make, owned_by, pod, tolerate
from tests.clusters.shapes import Shape

TEAMS = ("shop", "search", "payments", "ml", "data", "platform", "dev")
_NAMES = ("api", "web", "worker", "gateway", "cache", "indexer", "mailer", "auth", "feed", "export")


class Fill(NamedTuple):
    """Pods for a pool: kind of workload, parts of the node's CPU that one pod may request, and its priority."""

    kind: str
    parts: tuple[float, ...]
    priority: str = ""


FILLS = {
    "default": Fill("Deployment", (0.06, 0.12, 0.12, 0.25)),
    "large": Fill("StatefulSet", (0.12, 0.25, 0.25)),
    "batch": Fill("Job", (0.12, 0.25), "batch-low"),
    "gpu": Fill("Deployment", (0.4,)),
    "ingress": Fill("Deployment", (0.1,)),
}


class Workloads:
    """Yields the objects of everything that runs, and takes the room on the nodes."""

    def __init__(self, shape: Shape, states: list[NodeState], chance: random.Random) -> None:
        self._shape = shape
        self._states = states
        self._chance = chance

    def build(self) -> Iterator[Document]:
        yield from self._daemons()
        pools = defaultdict(list)
        for state in self._states:
            pools[state.pool.fills].append(state)
        yield from self._system_pods([state for state in pools["default"] if not state.is_cordoned])
        for fills in ("default", "large", "batch"):
            yield from self._fill(FILLS[fills], pools[fills])
        yield from self._gpu_pods(pools["gpu"])
        yield from self._ingress_pods(pools["ingress"])

    def _daemons(self) -> Iterator[Document]:
        for name, cpu, memory, is_mirror in self._shape.daemons:
            labels = {"k8s-app": name}
            daemon_set = make("DaemonSet", name, "kube-system", spec=_template(labels, [container(name, cpu, memory)]))
            if not is_mirror:
                yield daemon_set
            for i, state in enumerate(self._states):
                state.take(cpu, memory)
                metadata: Document = {"labels": labels, "ownerReferences": owned_by(daemon_set)}
                pod_name = f"{name}-{i:05x}"
                if is_mirror:
                    pod_name = f"{name}-{state.name}"
                    metadata["annotations"] = {
                        "kubernetes.io/config.mirror": "5d2f",
                        "kubernetes.io/config.source": "file",
                    }
                    metadata["ownerReferences"] = owned_by(make("Node", state.name))
                yield pod(
                    pod_name,
                    "kube-system",
                    [container(name, cpu, memory)],
                    node=state.name,
                    metadata=metadata,
                    hostNetwork=True,
                    priorityClassName="system-node-critical",
                    tolerations=[{"operator": "Exists"}],
                )

    def _system_pods(self, states: list[NodeState]) -> Iterator[Document]:
        """Add-ons of the cluster, which tolerate more than workloads do."""
        for name, count in (("coredns", 2 + len(states) // 200), ("metrics-server", 1)):
            labels = {"k8s-app": name}
            containers = [container(name, 100, 70)]
            spec = _template(labels, containers, count)
            workload = make("Deployment", name, "kube-system", metadata={"labels": labels}, spec=spec)
            owned = {"labels": labels, "ownerReferences": owned_by(workload)}
            owner = make("ReplicaSet", f"{name}-7d764666f9", "kube-system", metadata=owned, spec=spec)
            yield from (workload, owner, service(name, "kube-system", labels))
            metadata = {"labels": labels, "ownerReferences": owned_by(owner)}
            for i, state in enumerate(self._chance.sample(states, count)):
                state.take(100, 70)
                yield pod(
                    f"{owner['metadata']['name']}-{i:05x}",
                    "kube-system",
                    containers,
                    node=state.name,
                    metadata=metadata,
                    priorityClassName="system-cluster-critical",
                    tolerations=[
                        tolerate("CriticalAddonsOnly", effect=""),
                        tolerate("node-role.kubernetes.io/control-plane"),
                    ],
                )

    def _fill(self, fill: Fill, states: list[NodeState]) -> Iterator[Document]:
        """Start workloads one after another while nodes of the pool are below their target."""
        open_nodes = [state for state in states if not state.is_cordoned]
        full = [state for state in states if state.is_cordoned]  # they keep what they had before the cordon
        number = 0
        while open_nodes:
            n_pods = self._chance.choice((2, 3, 3, 5, 8, 12, 24))
            part = self._chance.choice(fill.parts)
            cpu = round(part * states[0].pool.machine.cpu * 1000 / 50) * 50
            memory = round(cpu / 1000 * states[0].pool.machine.memory / states[0].pool.machine.cpu * 800 / 64) * 64
            places = []
            for _ in range(n_pods):
                while open_nodes:
                    i = self._chance.randrange(len(open_nodes))
                    state = open_nodes[i]
                    if state.cpu - cpu < state.until or not state.take(cpu, memory):
                        open_nodes[i] = open_nodes[-1]
                        open_nodes.pop()
                        continue
                    places.append(state)
                    break
            if places and full:
                extra = full.pop()
                places += [extra] if extra.take(cpu, memory) else []
            if places:
                yield from self._workload(fill, number, places, cpu, memory)
                number += 1

    def _workload(self, fill: Fill, number: int, places: list[NodeState], cpu: int, memory: int) -> Iterator[Document]:
        namespace = self._chance.choice(TEAMS)
        name = f"{self._chance.choice(_NAMES)}-{fill.kind[0].lower()}{number}"
        labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": namespace}
        containers = [container(name, cpu, memory)]
        spec = self._rules(fill, number, labels, places)
        workload = make(
            fill.kind,
            name,
            namespace,
            metadata={"labels": labels},
            spec=_template(labels, containers, len(places), **spec),
        )
        yield workload
        owner = workload
        pod_labels = labels
        if fill.kind == "Deployment":
            suffix = f"{self._chance.getrandbits(32):08x}"
            pod_labels = {**labels, "pod-template-hash": suffix}
            metadata = {"labels": pod_labels, "ownerReferences": owned_by(workload)}
            owner = make(
                "ReplicaSet",
                f"{name}-{suffix}",
                namespace,
                metadata=metadata,
                spec=_template(pod_labels, containers, len(places), **spec),
            )
            yield owner
        if fill.kind != "Job":
            yield service(name, namespace, labels)
        if fill.kind != "Job" and len(places) > 2:
            yield budget(name, namespace, labels, len(places))
        for i, state in enumerate(places):
            pod_name = f"{name}-{i}" if fill.kind == "StatefulSet" else f"{owner['metadata']['name']}-{i:05x}"
            more = dict(spec)
            if fill.kind == "StatefulSet" and number % 2 == 0:
                claim, volume = bound_claim(self._shape, f"data-{pod_name}", namespace, state)
                yield claim
                yield volume
                more["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{pod_name}"}}]
            elif fill.kind == "Deployment" and number % 7 == 3:
                class_name = self._shape.storage.classes[0][0]
                claim, volume = bound_claim(self._shape, f"{pod_name}-scratch", namespace, state)
                made = make("Pod", pod_name, namespace)
                claim["metadata"]["ownerReferences"] = owned_by(made)
                yield claim
                yield volume
                template = {"spec": {**claim["spec"], "storageClassName": class_name}}
                template["spec"].pop("volumeName")
                more["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
            metadata = {"labels": pod_labels, "ownerReferences": owned_by(owner)}
            yield pod(pod_name, namespace, containers, node=state.name, metadata=metadata, **more)

    def _rules(self, fill: Fill, number: int, labels: dict[str, str], places: list[NodeState]) -> dict[str, Any]:
        """What a workload asks for beyond its requests."""
        spec: dict[str, Any] = {}
        pool = places[0].pool
        if fill.kind != "Deployment" or number % 5 == 0:
            spec["nodeSelector"] = {self._shape.pool_key: pool.name}
        if pool.taints:
            spec["tolerations"] = [tolerate(taint["key"], value=taint.get("value", "")) for taint in pool.taints]
        if fill.priority:
            spec["priorityClassName"] = fill.priority
        selector = {"matchLabels": labels}
        if number % 3 == 0:
            spread = {"maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
            spec["topologySpreadConstraints"] = [{**spread, "topologyKey": self._shape.domain_key}]
        elif number % 3 == 1 and len({state.name for state in places}) == len(places):
            term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
            rule = "requiredDuringSchedulingIgnoredDuringExecution"
            spec["affinity"] = {"podAntiAffinity": {rule: [term]}}
        return spec

    def _gpu_pods(self, states: list[NodeState]) -> Iterator[Document]:
        """All GPUs are in use."""
        for i, state in enumerate(states):
            labels = {"app.kubernetes.io/name": "train", "job-name": f"train-{i}"}
            gpus, cpu = state.gpus, state.cpu // 2
            state.take(cpu, 8192, gpus)
            containers = [container("train", cpu, 8192, gpus=gpus)]
            tolerations = [tolerate("nvidia.com/gpu")]
            spec = _template(labels, containers, tolerations=tolerations)
            job = make("Job", f"train-{i}", "ml", spec={**spec, "parallelism": 1})
            yield job
            metadata = {"labels": labels, "ownerReferences": owned_by(job)}
            yield pod(f"train-{i}-0", "ml", containers, node=state.name, metadata=metadata, tolerations=tolerations)

    def _ingress_pods(self, states: list[NodeState]) -> Iterator[Document]:
        """A pod with host ports on each node of the pool, and a proxy on each that is not cordoned."""
        for name, host_port in (("ingress-nginx", 443), ("edge-proxy", 0)):
            labels = {"app.kubernetes.io/name": name}
            containers = [container(name, 300, 512, host_port=host_port)]
            kind = "DaemonSet" if host_port else "StatefulSet"
            selector = {self._shape.pool_key: states[0].pool.name}
            replicas = None if host_port else len(states) - 1
            spec = _template(labels, containers, replicas, nodeSelector=selector)
            owner = make(kind, name, "platform", spec=spec)
            yield owner
            for i, state in enumerate(state for state in states if host_port or not state.is_cordoned):
                state.take(300, 512)
                metadata = {"labels": labels, "ownerReferences": owned_by(owner)}
                yield pod(
                    f"{name}-{i}", "platform", containers, node=state.name, metadata=metadata, nodeSelector=selector
                )


def _template(
    labels: dict[str, str], containers: list[Document], replicas: int | None = None, **of_pods: Any
) -> Document:
    """The spec of a workload, with the rules of its pods."""
    spec: Document = {"selector": {"matchLabels": labels}}
    if replicas is not None:
        spec["replicas"] = replicas
    return {**spec, "template": {"metadata": {"labels": labels}, "spec": {"containers": containers, **of_pods}}}


def service(name: str, namespace: str, labels: dict[str, str]) -> Document:
    """A Service that selects the labels."""
    return make("Service", name, namespace, spec={"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]})


def budget(name: str, namespace: str, labels: dict[str, str], n_pods: int) -> Document:
    """A PodDisruptionBudget that allows one disruption, as its status says."""
    return make(
        "PodDisruptionBudget",
        name,
        namespace,
        spec={"maxUnavailable": 1, "selector": {"matchLabels": labels}},
        status={
            "disruptionsAllowed": 1,
            "currentHealthy": n_pods,
            "desiredHealthy": n_pods - 1,
            "expectedPods": n_pods,
            "observedGeneration": 1,
        },
    )


def bound_claim(shape: Shape, name: str, namespace: str, state: NodeState) -> tuple[Document, Document]:
    """A claim and its volume, in the zone of a node, or on the node where volumes are local."""
    storage = shape.storage
    class_name = storage.classes[0][0]
    key, value = storage.topology_key, state.domain if storage.driver else state.name
    claim = make("PersistentVolumeClaim", name, namespace)
    volume_name = f"pvc-{claim['metadata']['uid']}"
    modes, size = ["ReadWriteOnce"], "100Gi"
    claim["spec"] = {
        "accessModes": modes,
        "resources": {"requests": {"storage": size}},
        "storageClassName": class_name,
        "volumeMode": "Filesystem",
        "volumeName": volume_name,
    }
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["status"] = {"phase": "Bound", "accessModes": modes, "capacity": {"storage": size}}
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    source = (
        {"csi": {"driver": storage.driver, "volumeHandle": volume_name}}
        if storage.driver
        else {"local": {"path": f"/mnt/disks/{volume_name}"}}
    )
    volume = make("PersistentVolume", volume_name)
    volume["spec"] = {
        "accessModes": modes,
        "capacity": {"storage": size},
        "claimRef": {
            "kind": "PersistentVolumeClaim",
            "namespace": namespace,
            "name": name,
            "uid": claim["metadata"]["uid"],
        },
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": class_name,
        "volumeMode": "Filesystem",
        **source,
    }
    volume["status"] = {"phase": "Bound"}
    return claim, volume
