"""The pending pods: a few for each cause, so that an answer can be compared with what was meant."""

from collections.abc import Iterator
from typing import Any

from tests.clusters.nodes import NodeState
from tests.clusters.objects import Document, container, make, owned_by, pod, tolerate
from tests.clusters.shapes import Shape
from tests.clusters.workloads import bound_claim

CAUSES = {
    "fits": "",
    "preemption": "",
    "scheduling-gate": "",
    "other-scheduler": "",
    "insufficient-cpu": "Insufficient cpu",
    "insufficient-gpu": "Insufficient nvidia.com/gpu",
    "too-large": "Insufficient memory",
    "daemon-without-room": "Insufficient cpu",
    "untolerated-taint": "had untolerated taint",
    "selector-typo": "didn't match Pod's node affinity/selector",
    "node-affinity": "didn't match Pod's node affinity/selector",
    "pod-affinity": "didn't match pod affinity rules",
    "pod-anti-affinity": "didn't match pod anti-affinity rules",
    "topology-spread": "didn't match pod topology spread constraints",
    "host-port": "didn't have free ports for the requested pod ports",
    "cordoned-node": "were unschedulable",
    "missing-claim": "not found",
    "unbound-claim": "pod has unbound immediate PersistentVolumeClaims",
    "ephemeral-claim": "waiting for ephemeral volume controller to create the persistentvolumeclaim",
    "volume-elsewhere": "didn't match PersistentVolume's node affinity",
    "no-local-volume": "didn't find available persistent volumes to bind",
}
"""By the label `cause`: what kube-scheduler's message has; empty where the pod is placed, gated or not tried."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Pending:
    """Yields the pending pods and what belongs to them. It looks at the nodes after all running pods have taken room.

    Args:
        states: all nodes.
    """

    def __init__(self, shape: Shape, states: list[NodeState]) -> None:
        self._shape = shape
        self._default = [state for state in states if state.pool.fills == "default"]
        self._large = [state for state in states if state.pool.fills == "large"]

    def build(self) -> Iterator[Document]:
        yield from self._placed_or_not_tried()
        yield from self._resources()
        yield from self._node_rules()
        yield from self._pod_rules()
        yield from self._volumes()

    def _placed_or_not_tried(self) -> Iterator[Document]:
        yield from self._pods("fits", 6)
        default_pool = {self._shape.pool_key: self._default[0].pool.name}
        yield from self._pods(
            "preemption",
            cpu=max(state.cpu for state in self._default if not state.is_cordoned) + 300,
            priorityClassName="business-critical",
            nodeSelector=default_pool,
        )
        yield from self._pods("scheduling-gate", 2, schedulingGates=[{"name": "quota.example.com/approved"}])
        yield from self._pods("other-scheduler", 2, schedulerName="volcano")

    def _resources(self) -> Iterator[Document]:
        large_pool = {self._shape.pool_key: self._large[0].pool.name}
        most = max(state.cpu for state in self._large if not state.is_cordoned)
        yield from self._pods("insufficient-cpu", 3, cpu=most + 500, nodeSelector=large_pool)
        yield from self._pods("insufficient-gpu", 2, gpus=1, tolerations=[tolerate("nvidia.com/gpu")])
        yield from self._pods("too-large", memory=1024 * 1024)
        fullest = min(self._large, key=lambda state: state.cpu)
        field = {"key": "metadata.name", "operator": "In", "values": [fullest.name]}
        yield from self._pods(
            "daemon-without-room",
            cpu=fullest.cpu + 100,
            affinity=_node_affinity("matchFields", field),
            tolerations=[tolerate("node.kubernetes.io/unschedulable")],
            owner="DaemonSet",
        )

    def _node_rules(self) -> Iterator[Document]:
        tainted = next(pool for pool in self._shape.pools if pool.fills == "batch")
        yield from self._pods("untolerated-taint", 2, nodeSelector={self._shape.pool_key: tainted.name})
        typo = self._default[0].pool.name[:-1]
        yield from self._pods("selector-typo", nodeSelector={self._shape.pool_key: typo})
        arch = {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}
        yield from self._pods("node-affinity", 2, affinity=_node_affinity("matchExpressions", arch))
        cordoned = next(state for state in self._default if state.is_cordoned)
        yield from self._pods("cordoned-node", nodeSelector={"kubernetes.io/hostname": cordoned.name})

    def _pod_rules(self) -> Iterator[Document]:
        term = {"labelSelector": {"matchLabels": {"app.kubernetes.io/name": "absent"}}}
        term["topologyKey"] = self._shape.domain_key
        yield from self._pods("pod-affinity", affinity={"podAffinity": {_REQUIRED: [term]}})
        term = {"labelSelector": {"matchLabels": {"app.kubernetes.io/name": "pod-anti-affinity"}}}
        term["topologyKey"] = self._shape.domain_key
        one_each = []
        for domain in self._shape.domains:
            there = (s for s in self._default if s.domain == domain and not s.is_cordoned and s.take(100, 256))
            one_each.append(next(there).name)
        affinity = {"podAntiAffinity": {_REQUIRED: [term]}}
        yield from self._pods("pod-anti-affinity", 2, owner="StatefulSet", nodes=one_each, affinity=affinity)
        ingress = {self._shape.pool_key: "ingress"}
        proxy = {"matchLabels": {"app.kubernetes.io/name": "edge-proxy"}}
        spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
        yield from self._pods(
            "topology-spread",
            2,
            labels={"app.kubernetes.io/name": "edge-proxy"},
            namespace="platform",
            nodeSelector=ingress,
            topologySpreadConstraints=[{**spread, "labelSelector": proxy}],
        )
        yield from self._pods("host-port", host_port=443, nodeSelector=ingress)

    def _volumes(self) -> Iterator[Document]:
        yield from self._pods("missing-claim", volumes=[_claimed("deleted-last-week")])
        yield _open_claim("unbound-claim", "immediate")
        yield from self._pods("unbound-claim", volumes=[_claimed("unbound-claim")])
        first_class = self._shape.storage.classes[0][0]
        template = {"spec": _open_claim("", first_class)["spec"]}
        volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}
        yield from self._pods("ephemeral-claim", volumes=[volume])
        cordoned = next(state for state in self._default if state.is_cordoned)
        yield from bound_claim(self._shape, "volume-elsewhere", "dev", cordoned)
        elsewhere = next(domain for domain in self._shape.domains if domain != cordoned.domain)
        selector = {self._shape.domain_key: elsewhere}
        yield from self._pods("volume-elsewhere", volumes=[_claimed("volume-elsewhere")], nodeSelector=selector)
        yield _open_claim("first-consumer", first_class)
        cause = "fits" if self._shape.storage.driver else "no-local-volume"
        yield from self._pods(cause, volumes=[_claimed("first-consumer")], name="first-consumer")

    def _pods(
        self,
        cause: str,
        count: int = 1,
        *,
        cpu: int = 100,
        memory: int = 256,
        gpus: int = 0,
        host_port: int = 0,
        labels: dict[str, str] | None = None,
        nodes: list[str] | None = None,
        owner: str = "Deployment",
        name: str = "",
        namespace: str = "dev",
        **spec: Any,
    ) -> Iterator[Document]:
        """A workload with pods on the nodes given, and with pending ones."""
        name = name or cause
        labels = {"app.kubernetes.io/name": name, **(labels or {})}
        containers = [container(name, cpu, memory, gpus=gpus, host_port=host_port)]
        template = {"metadata": {"labels": labels}, "spec": {"containers": containers, **spec}}
        places = [*(nodes or []), *[""] * count]
        size = {} if owner == "DaemonSet" else {"replicas": len(places)}
        rules = {**size, "selector": {"matchLabels": labels}, "template": template}
        workload = make(owner, name, namespace, metadata={"labels": labels}, spec=rules)
        yield workload
        if owner == "Deployment":
            references = {"labels": labels, "ownerReferences": owned_by(workload)}
            workload = make("ReplicaSet", f"{name}-5c9d8b7f4", namespace, metadata=references, spec=rules)
            yield workload
        for i, node in enumerate(places):
            marked = labels if node else {**labels, "cause": cause}
            metadata = {"labels": marked, "ownerReferences": owned_by(workload)}
            pod_name = f"{workload['metadata']['name']}-{i}"
            made = pod(pod_name, namespace, containers, node=node, metadata=metadata, **spec)
            if not node:
                reason = "SchedulingGated" if spec.get("schedulingGates") else "Unschedulable"
                made["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": reason}]
            yield made


def _node_affinity(field: str, requirement: Document) -> Document:
    return {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{field: [requirement]}]}}}


def _claimed(claim: str) -> Document:
    return {"name": "data", "persistentVolumeClaim": {"claimName": claim}}


def _open_claim(name: str, class_name: str) -> Document:
    """A claim that is not bound."""
    return make(
        "PersistentVolumeClaim",
        name,
        "dev",
        spec={
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "50Gi"}},
            "storageClassName": class_name,
            "volumeMode": "Filesystem",
        },
        status={"phase": "Pending"},
    )
