"""What happens in a storm, as requests to the API server."""

import itertools
from collections.abc import Iterator
from random import Random
from typing import Final

from benchmarks.scheduling.shapes import NAMESPACE, Document, pod
from benchmarks.scheduling.storms import Request, changes_of_nodes, claims_come, pods_leave

from campaigns.storm.pods import HELPED, Pools, passing_node

_PASSING_EVERY, _N_PASSING = 500, 4
_PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
_CLAIMS: Final = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"


def happenings(pools: Pools, random: Random) -> Iterator[list[Request]]:
    """Endless: nodes change twice as often as pods leave or claims come; small nodes come and go at times.

    None of it helps a pod that waits.
    """
    sorts = {
        "nodes": changes_of_nodes(pools.n_open),
        "pods": pods_leave(pools.n_open),
        "claims": claims_come(pools.n_open),
    }
    for k in itertools.count():
        if k % _PASSING_EVERY == _PASSING_EVERY - 1:
            yield _nodes_pass(k // _PASSING_EVERY)
        else:
            yield next(sorts[random.choice(("nodes", "nodes", "pods", "claims"))])


def _nodes_pass(i: int) -> list[Request]:
    gone = f"/api/v1/nodes/passing-{i - _N_PASSING:05}"
    return [("POST", "/api/v1/nodes", passing_node(i)), *([("DELETE", gone, {})] if i >= _N_PASSING else [])]


def helping(n: int, pools: Pools, random: Random) -> list[tuple[str, list[Request]]]:
    """What helps each pod of `helped`: its name and the requests, in random order."""
    found = [
        (f"late-{kind}-{i:05}", _help(kind, i, f"node-{random.randrange(pools.n_open):05}"))
        for i in range(n)
        for kind in HELPED
    ]
    random.shuffle(found)
    return found


def _help(kind: str, i: int, node: str) -> list[Request]:
    path = f"/api/v1/nodes/{node}"
    if kind == "label":
        return [("PATCH", path, {"metadata": {"labels": {"example.com/late": f"label-{i}"}}})]
    if kind == "spread":
        return [("PATCH", path, {"metadata": {"labels": {f"example.com/late-rack-{i}": "rack"}}})]
    if kind == "resource":
        room = {f"example.com/late-{i}": "1"}
        return [("PATCH", f"{path}/status", {"status": {"capacity": room, "allocatable": room}})]
    if kind == "gate":
        return [("PATCH", f"{_PODS}/late-gate-{i:05}", {"spec": {"schedulingGates": []}})]
    if kind == "affinity":
        return [("POST", _PODS, pod(f"friend-{i:05}", {"cpu": "1m"}, {"app": f"friend-{i}"}, nodeName=node))]
    return [("POST", "/api/v1/persistentvolumes", _volume(i)), ("POST", _CLAIMS, _claim(i))]


def _volume(i: int) -> Document:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": "csi.example.com", "volumeHandle": f"late-{i}"},
        "claimRef": {"kind": "PersistentVolumeClaim", "namespace": NAMESPACE, "name": f"late-{i}"},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"late-{i}"}, "spec": spec}


def _claim(i: int) -> Document:
    bound = {"pv.kubernetes.io/bind-completed": "true"}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeName": f"late-{i}",
        "storageClassName": "",
    }
    metadata = {"name": f"late-{i}", "namespace": NAMESPACE, "annotations": bound}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
