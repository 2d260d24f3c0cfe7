"""Pods that wait although nothing is wrong with them, and pods that can go nowhere, each for its own reason.

Pending pods of workloads that also run (a Deployment scaled up, a StatefulSet's next pod) are not here: `workloads.py`
says how many of their replicas run.
"""

from collections.abc import Callable
from dataclasses import dataclass

from generator.nodes import POOL
from generator.workload import Claim, Workload
from generator.workloads import service

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


@dataclass(frozen=True)
class Waiting:
    """A workload whose pods all wait.

    Attributes:
        why: what keeps the pods from every node; "" for pods that fit.
        change: what its pod template has beyond the usual.
    """

    workload: Workload
    why: str = ""
    change: Callable[[dict], None] | None = None


@dataclass(frozen=True)
class WaitingClaim:
    """A claim that waits with its pod; a bound one has a volume in `zone`."""

    namespace: str
    claim: Claim
    zone: str = ""
    labelled: bool = False


def job(namespace: str, name: str, pods: int, cpu: int, memory: int, pool: str, **more) -> Workload:
    return Workload("Job", namespace, name, pods, cpu, memory, f"{namespace}/{name}", pool, **more)


def _require_company(pod: dict) -> None:
    selector = {"matchLabels": {"app.kubernetes.io/name": "edge-sessions"}}
    term = {"labelSelector": selector, "topologyKey": HOST}
    pod["spec"]["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def waiting(cordoned: str) -> list[Waiting]:
    """All of them.

    Args:
        cordoned: name of the cordoned node.
    """
    restore = (Claim("orders-restore-20261114", "300Gi", "gp3", shared=True),)
    wiki = (Claim("wiki-attachments", "80Gi", "gp3", shared=True),)
    archive = (Claim("reports-archive", "50Gi", shared=True),)
    scratch = (Claim("scratch", "100Gi", "gp3-immediate", shared=True),)
    in_zone_a = ((ZONE, "eu-west-1a"),)
    return [
        Waiting(job("orders", "invoice-run", 3, 1000, 2048, "spot")),
        Waiting(service("dev", "preview-1432", 1, 0, 0, proxied=False)),
        Waiting(
            job("search", "reindex", 2, 14000, 8192, "compute", priority="batch-low"),
            "too little CPU is free on the compute nodes, and everything there has the same priority",
        ),
        Waiting(
            job("recommendations", "train-ranking", 2, 16000, 65536, "gpu", gpus=4),
            "all machines with four GPUs are taken",
        ),
        Waiting(
            job("recommendations", "train-foundation", 1, 16000, 65536, "gpu", gpus=8),
            "no machine has eight GPUs",
        ),
        Waiting(
            job("orders", "nightly-vacuum", 1, 1000, 2048, "database", tolerates=False),
            "wants a database node and does not tolerate its taint",
        ),
        Waiting(
            service("dev", "preview-1439", 1, 100, 256, proxied=False, selector=((POOL, "genral"),)),
            "a typing error in the node selector: genral",
        ),
        Waiting(
            service("backoffice", "report-export", 1, 500, 1024, proxied=False, claims=archive),
            "its PersistentVolumeClaim does not exist",
        ),
        Waiting(
            job("payments", "settlement", 2, 1000, 2048, "general", gates=("shop.example.com/daily-close",)),
            "a scheduling gate is still shut",
        ),
        Waiting(
            job("orders", "restore-check", 1, 250, 1024, "general", claims=restore, selector=in_zone_a),
            "asks for zone a; its volume is in zone c and says so by node affinity",
        ),
        Waiting(
            service("platform", "wiki", 1, 250, 1024, proxied=False, claims=wiki, selector=in_zone_a),
            "asks for zone a; its volume is in zone b and says so by a label",
        ),
        Waiting(
            job("warehouse", "gang-simulation", 2, 4000, 8192, "compute", scheduler="volcano"),
            "belongs to another scheduler",
        ),
        Waiting(
            job("batch", "thumbnailer", 2, 1500, 2048, "spot", scheduler="batch-scheduler", priority="batch-low"),
            "belongs to a profile that only scheduler.yaml has",
        ),
        Waiting(
            service("warehouse", "route-solver", 1, 8000, 307200, proxied=False),
            "asks for more memory than any node has",
        ),
        Waiting(
            service("catalog", "pricing-engine", 1, 6000, 4096, pool="compute", priority="business-critical"),
            "fits only when a batch pod of lower priority makes room",
        ),
        Waiting(
            service("edge", "tls-canary", 1, 250, 256, pool="edge", host_port=8443, proxied=False),
            "its host port is taken on every edge node",
        ),
        Waiting(
            job("platform", "node-debugger", 1, 100, 128, "general", selector=((HOST, cordoned),)),
            "wants a node that is cordoned",
        ),
        Waiting(
            service("storefront", "edge-cache", 1, 50, 128, proxied=False),
            "wants to stand beside pods that do not exist",
            _require_company,
        ),
        Waiting(
            service("platform", "scratch-space", 1, 250, 512, proxied=False, claims=scratch),
            "its claim should have been bound before and is not",
        ),
    ]


CLAIMS = [
    WaitingClaim("orders", Claim("orders-restore-20261114", "300Gi", "gp3"), "eu-west-1c"),
    WaitingClaim("platform", Claim("wiki-attachments", "80Gi", "gp3"), "eu-west-1b", labelled=True),
    WaitingClaim("platform", Claim("scratch", "100Gi", "gp3-immediate")),
    WaitingClaim("platform", Claim("data-kafka-9", "500Gi")),
]
