"""The nodes and pods of a storm. The part of a pod's name before its number is its role: what must become of it.

Three pools of nodes: `open`, where things happen and pods fit; `tight`, which the pods `tight` fill to the last
milli-CPU; `held`, where preemptors wait for victims that nobody ends.
"""

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from benchmarks.scheduling.shapes import NAMESPACE, Document, node, pod
from benchmarks.scheduling.storms import STORMS, hopeless

POOL: Final = "example.com/pool"
SHAPES: Final = ("cpu", "selector", "affinity", "spread")  # of `hopeless`, in its order
HELPED: Final = ("label", "gate", "affinity", "spread", "resource", "claim")
TIGHT_CPU, PER_TIGHT_NODE = "500m", 8
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


class Pools:
    """How many nodes each pool has.

    Attributes:
        n_open: nodes 0 to n_open - 1.
        n_tight: the next ones.
        n_held: the last ones.
    """

    def __init__(self, n_nodes: int) -> None:
        self.n_tight = self.n_held = max(n_nodes // 10, 1)
        self.n_open = n_nodes - self.n_tight - self.n_held

    def nodes(self) -> Iterator[Document]:
        """All nodes, in the order of their numbers."""
        pools = ["open"] * self.n_open + ["tight"] * self.n_tight + ["held"] * self.n_held
        return (_in_pool(node(i), pool) for i, pool in enumerate(pools))

    def placed(self) -> Iterator[Document]:
        """The pods that are on nodes before."""
        for i in range(self.n_open):
            yield pod(f"running-{i:05}", {"cpu": "10m"}, nodeName=f"node-{i:05}")
        for i in range(self.n_open + self.n_tight, self.n_open + self.n_tight + self.n_held):
            more: Document = {"nodeName": f"node-{i:05}", "terminationGracePeriodSeconds": 36000}
            yield pod(f"victim-{i:05}", {"cpu": "500m"}, **more)


def passing_node(i: int) -> Document:
    """A small node of the pool `open` that is there for a short time."""
    made = _in_pool(node(i), "open")
    name, room = f"passing-{i:05}", {"cpu": "200m", "memory": "1Gi", "pods": "5"}
    made["metadata"] |= {"name": name, "labels": {**made["metadata"]["labels"], "kubernetes.io/hostname": name}}
    made["status"] |= {"capacity": room, "allocatable": room}
    return made


def waiting(n: int) -> Iterator[Document]:
    """Pods that wait from the start to the end, a fifth each of missing claims, gates and preemption."""
    fifth = n // 5
    for i in range(n - 3 * fifth):
        yield _named(hopeless(i), f"{SHAPES[i % 40 % 4]}-{i:05}")
    for i, document in enumerate(STORMS["claims"](0, fifth).waiting):
        yield _named(document, f"claim-{i:05}")
    for i, document in enumerate(STORMS["gated"](0, fifth).waiting):
        yield gated(_named(document, f"gated-{i:05}"))
    for i, document in enumerate(STORMS["preemptors"](0, fifth).waiting):
        document["spec"]["nodeSelector"] = {POOL: "held"}
        yield _named(document, f"preemptor-{i:05}")


def gated(document: Document) -> Document:
    """A pod with gates as the API server stores it: it writes the condition itself."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
    return {**document, "status": {"conditions": [condition]}}


def helped(n: int) -> Iterator[Document]:
    """Pods that wait until something happens that helps them; so many of each kind."""
    for i in range(n):
        for kind in HELPED:
            document = _helped(kind, i)
            yield gated(document) if kind == "gate" else document


def _helped(kind: str, i: int) -> Document:
    name, labels = f"late-{kind}-{i:05}", {"app": f"late-{i}"}
    requests = {"cpu": "10m"}
    more: dict[str, Any] = {"nodeSelector": {POOL: "open"}}
    if kind == "label":
        more["nodeSelector"] = {"example.com/late": f"label-{i}"}
    elif kind == "gate":
        more["schedulingGates"] = [{"name": "example.com/late"}]
    elif kind == "affinity":
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": f"friend-{i}"}}}
        more["affinity"] = {"podAffinity": {_REQUIRED: [term]}}
    elif kind == "spread":
        constraint = {"maxSkew": 1, "topologyKey": f"example.com/late-rack-{i}", "whenUnsatisfiable": "DoNotSchedule"}
        more["topologySpreadConstraints"] = [{**constraint, "labelSelector": {"matchLabels": labels}}]
    elif kind == "resource":
        requests[f"example.com/late-{i}"] = "1"
    else:
        more["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"late-{i}"}}]
    return pod(name, requests, labels, **more)


def arriving(n: int, pools: Pools, random: Random) -> list[Document]:
    """Pods that fit, in the order in which they come; as many as fit of them are those of the pool `tight`."""
    n_tight = min(PER_TIGHT_NODE * pools.n_tight, n // 2)
    are_tight = [True] * n_tight + [False] * (n - n_tight)
    random.shuffle(are_tight)
    return [_tight(i) if is_tight else _fitting(i, random) for i, is_tight in enumerate(are_tight)]


def _tight(i: int) -> Document:
    return pod(f"tight-{i:05}", {"cpu": TIGHT_CPU}, {"app": "tight"}, nodeSelector={POOL: "tight"})


def _fitting(i: int, random: Random) -> Document:
    requests = {"cpu": f"{random.randint(10, 100)}m", "memory": f"{random.randint(16, 128)}Mi"}
    selector = {POOL: "open"}
    if random.random() < 1 / 3:
        selector["topology.kubernetes.io/zone"] = f"zone-{random.randrange(3)}"
    return pod(f"fitting-{i:05}", requests, {"app": "fits"}, nodeSelector=selector)


def _in_pool(made: Document, pool: str) -> Document:
    made["metadata"]["labels"][POOL] = pool
    return made


def _named(document: Document, name: str) -> Document:
    return {**document, "metadata": {**document["metadata"], "name": name, "namespace": NAMESPACE}}
