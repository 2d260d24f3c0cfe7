"""What a workload asks for: one value per Deployment, StatefulSet, DaemonSet or Job."""

from dataclasses import dataclass, replace

from generator.nodes import POOL

TOLERATIONS = {
    "system": {"key": "CriticalAddonsOnly", "operator": "Exists"},
    "edge": {"effect": "NoSchedule", "key": POOL, "operator": "Equal", "value": "edge"},
    "compute": {"effect": "NoSchedule", "key": POOL, "operator": "Equal", "value": "compute"},
    "database": {"effect": "NoSchedule", "key": POOL, "operator": "Equal", "value": "database"},
    "gpu": {"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"},
    "spot": {"effect": "NoSchedule", "key": "shop.example.com/spot", "operator": "Exists"},
}
PRIORITIES = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
    "business-critical": 1_000_000,
    "standard": 1_000,
    "batch-low": -1_000,
}


@dataclass(frozen=True)
class Claim:
    """One volumeClaimTemplate, or one named claim that all pods share."""

    name: str
    size: str
    storage_class: str = "gp3"
    shared: bool = False


@dataclass(frozen=True)
class Workload:
    """A workload and the placement rules in its pod template.

    Attributes:
        cpu: milli-CPU requested by the main container; 0 for none.
        memory: MiB requested; the memory limit is the same.
        spread: "soft" or "hard" zone spreading, "host" for hard spreading over nodes, "" for the cluster's default.
        apart: topology key that no two pods of the workload may share (required anti-affinity).
        near: app label that the pods want to stand close to (preferred affinity, zone).
        running: pods that run; the others of `replicas` are pending.
        selector: further node labels that the template requires.
        proxied: whether a service-mesh proxy runs as a sidecar.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    cpu: int
    memory: int
    image: str
    pool: str = "general"
    running: int = -1
    priority: str = "standard"
    spread: str = ""
    apart: str = ""
    near: str = ""
    gpus: int = 0
    selector: tuple[tuple[str, str], ...] = ()
    claims: tuple[Claim, ...] = ()
    host_port: int = 0
    host_network: bool = False
    proxied: bool = False
    budget: str = ""  # minAvailable or maxUnavailable of a PodDisruptionBudget: "min 2", "max 1"
    scheduler: str = "default-scheduler"
    gates: tuple[str, ...] = ()
    tolerates: bool = True

    @property
    def running_pods(self) -> int:
        return self.replicas if self.running < 0 else self.running

    @property
    def app(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def labels(self) -> dict[str, str]:
        return {
            "app.kubernetes.io/managed-by": "argocd" if self.namespace != "kube-system" else "addon-manager",
            "app.kubernetes.io/name": self.name,
            "app.kubernetes.io/part-of": self.namespace,
        }

    @property
    def match_labels(self) -> dict[str, str]:
        return {k: v for k, v in self.labels.items() if k != "app.kubernetes.io/managed-by"}

    @property
    def node_selector(self) -> dict[str, str]:
        pool = {} if self.pool in ("general", "any") else {POOL: self.pool}
        return pool | dict(self.selector)

    @property
    def tolerations(self) -> list[dict]:
        return [TOLERATIONS[self.pool]] if self.tolerates and self.pool in TOLERATIONS else []

    def but(self, **changes: object) -> "Workload":
        return replace(self, **changes)
