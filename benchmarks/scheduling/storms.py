"""Pods that wait by the thousand, and what happens to a cluster meanwhile.

Nothing that happens helps any of them, apart from `deletions` and `preemptors`: there, Kubernetes' own rules say that
a pod that leaves may.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from benchmarks.scheduling.shapes import NAMESPACE, ROOM, ZONE, Document, nodes, placed, pod, series

Request = tuple[str, str, Document]
"""(method: POST, PATCH or DELETE; path; body)"""

N_SHAPES: Final = 40
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
_CLAIMS: Final = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"


@dataclass(frozen=True)
class Storm:
    """What waits, and what happens.

    Attributes:
        first: what is there before: nodes and the pods on them.
        waiting: pods that stay pending.
        happens: endless; each entry is one event, as the requests that make it.
    """

    first: list[Document]
    waiting: list[Document]
    happens: Callable[[], Iterator[list[Request]]]


def hopeless(i: int) -> Document:
    """A pod that fits nowhere: one of forty shapes, by CPU, node selector, pod affinity or spread."""
    shape = i % N_SHAPES
    reason, variant = shape % 4, shape // 4
    labels = {"app": f"app-{shape}"}
    more: Document = {}
    requests = {"cpu": "100m"}
    if reason == 0:
        requests = {"cpu": str(10 + variant)}
    elif reason == 1:
        more = {"nodeSelector": {"disk": f"ssd-{variant}"}}
    elif reason == 2:
        term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": f"nobody-{variant}"}}}
        more = {"affinity": {"podAffinity": {_REQUIRED: [term]}}}
    else:
        constraint = {
            "maxSkew": 1,
            "topologyKey": f"example.com/rack-{variant}",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": labels},
        }
        more = {"topologySpreadConstraints": [constraint]}
    return pod(f"waiting-{i:05}", requests, labels, **more)


def changes_of_nodes(n_nodes: int) -> Iterator[list[Request]]:
    """A label of a node changes, or what can be allocated there."""
    for k in itertools.count():
        path = f"/api/v1/nodes/node-{k % n_nodes:05}"
        if k % 2:
            yield [("PATCH", path, {"metadata": {"labels": {"example.com/seen": str(k)}}})]
        else:
            cpu = ("3", "4", "5")[k // 2 % 3]
            yield [("PATCH", f"{path}/status", {"status": {"allocatable": {**ROOM, "cpu": cpu}}})]


def pods_leave(n_nodes: int) -> Iterator[list[Request]]:
    """A pod leaves its node, and another one is put there."""
    for k in itertools.count():
        at_once = {"gracePeriodSeconds": 0}
        name = f"running-{k % n_nodes:05}"
        again = pod(name, {"cpu": "10m"}, nodeName=f"node-{k % n_nodes:05}")
        yield [("DELETE", f"{_PODS}/{name}", at_once), ("POST", _PODS, again)]


def claims_come(_: int) -> Iterator[list[Request]]:
    """A claim that no waiting pod names comes, and goes."""
    for k in itertools.count():
        name = f"other-{k % 50}"
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}
        yield [("POST", _CLAIMS, claim), ("DELETE", f"{_CLAIMS}/{name}", {})]


def _running(n_nodes: int, cpu: str = "10m") -> list[Document]:
    return placed([pod(f"running-{i:05}", {"cpu": cpu}) for i in range(n_nodes)], n_nodes)


def _of_hopeless(happens: Callable[[int], Iterator[list[Request]]]) -> Callable[[int, int], Storm]:
    def storm(n_nodes: int, n_waiting: int) -> Storm:
        first = [*nodes(n_nodes), *_running(n_nodes)]
        return Storm(first, [hopeless(i) for i in range(n_waiting)], lambda: happens(n_nodes))

    return storm


def claims(n_nodes: int, n_waiting: int) -> Storm:
    """Pods whose claim is missing, each another one."""

    def waits(i: int) -> Document:
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{i}"}}
        return pod(f"waiting-{i:05}", {"cpu": "100m"}, {"app": "db"}, volumes=[volume])

    first = [*nodes(n_nodes), *_running(n_nodes)]
    return Storm(first, [waits(i) for i in range(n_waiting)], lambda: claims_come(n_nodes))


def gated(n_nodes: int, n_waiting: int) -> Storm:
    """Pods with a scheduling gate."""
    waiting = series("waiting", n_waiting, schedulingGates=[{"name": "example.com/quota"}])
    return Storm([*nodes(n_nodes), *_running(n_nodes)], waiting, lambda: changes_of_nodes(n_nodes))


def preemptors(n_nodes: int, n_waiting: int) -> Storm:
    """Pods of a high priority, each as big as a node: one for each node waits for its victims, which nobody ends."""
    big = {"cpu": "3900m"}
    waiting = [pod(f"waiting-{i:05}", big, {"app": f"app-{i % N_SHAPES}"}, priority=1000) for i in range(n_waiting)]
    first = [*nodes(n_nodes), *_running(n_nodes, "500m")]
    return Storm(first, waiting, lambda: changes_of_nodes(n_nodes))


STORMS: Final[dict[str, Callable[[int, int], Storm]]] = {
    "nodes": _of_hopeless(changes_of_nodes),
    "deletions": _of_hopeless(pods_leave),
    "claims": claims,
    "gated": gated,
    "preemptors": preemptors,
}


def fitting(i: int) -> Document:
    """A pod that fits."""
    return pod(f"fitting-{i:05}", {"cpu": "1m"}, {"app": "fits"})
