"""Random nodes and pods that an API server takes: whatever the default plugins score and reject, no two pods alike."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from kubesched.api import KubeObject, Node, Pod
from kubesched.testing import make_node, make_object, make_pod
from tests.integration.ranked_nodes import RANK, RICHNESS

APPS = ("web", "db", "cache", "batch", "queue", "mail")
ZONES = ("a", "b", "c", "d")
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
TOLERATIONS = (
    {"key": "dedicated", "operator": "Equal", "value": "red", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Exists"},
    {"key": "worn", "operator": "Exists", "effect": "PreferNoSchedule"},
    {"operator": "Exists"},
)


def random_nodes(random: Random, n: int) -> list[Node]:
    """Nodes of different sizes, zones, ranks and taints."""
    return [_node(random, i) for i in range(n)]


def random_services() -> list[KubeObject]:
    """For half of the apps: their pods are spread without asking for it."""
    return [
        make_object("Service", app, spec={"selector": {"app": app}, "ports": [{"port": 80}]})
        for app in APPS[: len(APPS) // 2]
    ]


def random_pods(random: Random, n: int) -> list[Pod]:
    """Pods of which each fits on some of sixty such nodes, however the others are placed."""
    return [_pod(random, f"pod-{i}") for i in range(n)]


def homeless_pods(random: Random, n: int) -> list[Pod]:
    """Pods that fit nowhere: most pass the default plugins on some nodes, and ask for a rank that no node has."""
    return [_pod(random, f"homeless-{i}", **_too_much(random)) for i in range(n)]


def _node(random: Random, i: int) -> Node:
    cores = random.choice((4, 8, 16, 32))
    gib = cores * random.choice((2, 4, 8))
    labels = {"disk": random.choice(("ssd", "hdd"))}
    if _chance(random, 0.93):
        labels[RANK] = str(random.randrange(10))
    taints = [
        *(["dedicated=red:NoSchedule"] if _chance(random, 0.1) else []),
        *(["worn:PreferNoSchedule"] if _chance(random, 0.25) else []),
        *(["leaving:NoExecute"] if _chance(random, 0.05) else []),
    ]
    return make_node(
        f"node-{i}",
        zone=random.choice(ZONES) if _chance(random, 0.95) else "",
        labels=labels,
        allocatable={
            "cpu": f"{cores * 1000 - random.randrange(400)}m",
            "memory": f"{gib * 1024 - random.randrange(600)}Mi",
            "pods": random.choice((15, 60, 110)),
        },
        taints=taints,
        unschedulable=_chance(random, 0.04),
    )


def _pod(random: Random, name: str, labels: Mapping[str, str] | None = None, cores: int = 0) -> Pod:
    app = random.choice(APPS)
    wanted = {RANK: str(random.randrange(5)), RICHNESS: str(random.choice((0, 0, 1, 3)))}
    requests = {"cpu": f"{random.randrange(20, 700, 7)}m", "memory": f"{random.randrange(16, 1500)}Mi"}
    if _chance(random, 0.15):
        del requests[random.choice(("cpu", "memory"))]
    if cores:
        requests["cpu"] = str(cores)
    spec: dict[str, Any] = {"affinity": _affinity(random, app)}
    if _chance(random, 0.3):
        spec["topologySpreadConstraints"] = _constraints(random, app)
    return make_pod(
        name,
        labels={"app": app, **wanted, **(labels or {})},
        requests=requests,
        tolerations=_some(random, TOLERATIONS) if _chance(random, 0.4) else (),
        node_selector={"disk": random.choice(("ssd", "hdd"))} if _chance(random, 0.1) else {},
        spec=spec,
    )


def _too_much(random: Random) -> dict[str, Any]:
    if _chance(random, 0.2):
        return {"cores": 1000}
    return {"labels": {random.choice((RANK, RICHNESS)): "99"}, "cores": random.choice((0, 3, 12))}


def _affinity(random: Random, app: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    node_affinity: dict[str, Any] = {}
    if _chance(random, 0.2):
        node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [_term(random)]}
    if _chance(random, 0.3):
        node_affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": random.randrange(1, 101), "preference": _term(random)} for _ in range(random.randrange(1, 4))
        ]
    if node_affinity:
        found["nodeAffinity"] = node_affinity
    if _chance(random, 0.15):
        near = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": random.choice((HOST, ZONE))}
        found[random.choice(("podAffinity", "podAntiAffinity"))] = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": random.randrange(1, 101), "podAffinityTerm": near}
            ]
        }
    return found


def _term(random: Random) -> dict[str, Any]:
    requirement = random.choice(
        (
            {"key": ZONE, "operator": "In", "values": _some(random, ZONES)},
            {"key": ZONE, "operator": "NotIn", "values": [random.choice(ZONES)]},
            {"key": RANK, "operator": "Gt", "values": [str(random.randrange(5))]},
            {"key": "disk", "operator": "Exists"},
        )
    )
    return {"matchExpressions": [requirement]}


def _constraints(random: Random, app: str) -> list[dict[str, Any]]:
    is_hard = _chance(random, 0.3)
    return [
        {
            "maxSkew": random.randrange(8, 12) if is_hard else random.randrange(1, 4),
            "topologyKey": ZONE if is_hard else random.choice((HOST, ZONE)),
            "whenUnsatisfiable": "DoNotSchedule" if is_hard else "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": app}},
        }
    ]


def _some(random: Random, values: Sequence[Any]) -> list[Any]:
    """At least one of them."""
    return random.sample(values, random.randrange(1, len(values)))


def _chance(random: Random, p: float) -> bool:
    return random.random() < p
