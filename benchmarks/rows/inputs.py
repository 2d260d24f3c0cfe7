"""Clusters to measure on, written to files; the same arguments always give the same bytes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import load

ORACLE = Path(__file__).resolve().parents[2] / "campaigns" / "oracle"
DRIVER, CLASS = "csi.example.com", "late"
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SETS = 20

Object = dict[str, Any]
Writer = Callable[[Path, int, int], None]
"""Writes a cluster of so many nodes with so many pending pods."""


def shape(name: str, *, bound_per_100: int = 40) -> Writer:
    """A shape of kube-scheduler's own performance tests, 40 bound pods on each 100 nodes unless said otherwise."""

    def write(path: Path, n_nodes: int, n_pending: int) -> None:
        bound = n_nodes * bound_per_100 // 100
        _output_of("shapes.py", path, name, "--nodes", n_nodes, "--bound", bound, "--pending", n_pending)

    return write


def random_cluster(path: Path, n_nodes: int, n_pending: int) -> None:
    """Every feature, no two pods alike, and twice as many bound pods as nodes."""
    _output_of("generate.py", path, "--seed", 2, "--nodes", n_nodes, "--bound", 2 * n_nodes, "--pending", n_pending)


def own_requests(path: Path, n_nodes: int, n_pending: int) -> None:
    """Nodes of different sizes, a bound pod for each; no feature but requests, of which few pods share any."""
    _output_of(
        "generate.py", path, "--seed", 2, "--nodes", n_nodes, "--bound", n_nodes, "--pending", n_pending, "--only", ""
    )


def real_looking(path: Path, n_nodes: int, n_pending: int) -> None:
    """Nodes of 10 KB and twenty running pods of 4 KB on each, as an API server prints them; none is pending."""
    load.write(path, n_nodes, 20 * n_nodes)


def churning(path: Path, n_nodes: int, n_pending: int) -> None:
    """Nodes of 10 KB with six running pods of 4 KB on each, 50 services, and pending pods of twenty workloads."""
    items = [*map(load.node, range(n_nodes)), *map(load.service, range(50))]
    items += [load.pod(i, n_nodes) for i in range(6 * n_nodes)]
    for i in range(n_pending):
        pod = load.pod(i % 20, n_nodes)
        pod["metadata"] |= {"name": f"pending-{i}", "uid": f"pending-{i}"}
        del pod["spec"]["nodeName"]
        items.append(pod | {"status": {"phase": "Pending"}})
    write_list(path, items)


def _output_of(program: str, path: Path, *arguments: str | int) -> None:
    with path.open("wb") as file:
        subprocess.run([sys.executable, ORACLE / program, *map(str, arguments)], stdout=file, check=True)


# --- made from the plain shape ---


def two_profiles(path: Path, n_nodes: int, n_pending: int) -> None:
    """The plain shape; every second pod names the second scheduler."""
    items = _plain(path, n_nodes, n_pending)
    for i, pod in enumerate(_pods(items)):
        if i % 2:
            pod["spec"]["schedulerName"] = "packing"
    write_list(path, items)


def stateful(path: Path, n_nodes: int, n_pending: int) -> None:
    """Twenty StatefulSets with a service each: every pod has labels and a claim of its own.

    The claims of running pods are bound to volumes of the zone; the others wait for their first consumer.
    """
    items = _plain(path, n_nodes, n_pending)
    zones = {item["metadata"]["name"]: item["metadata"]["labels"][ZONE] for item in items if item["kind"] == "Node"}
    added: list[Object] = [_storage_class(), *map(_service, range(SETS)), *map(_csi_node, zones)]
    for i, pod in enumerate(_pods(items)):
        name = f"data-set-{i % SETS}-{i // SETS}"
        pod["metadata"]["labels"] = {
            "app": f"set-{i % SETS}",
            "apps.kubernetes.io/pod-index": str(i // SETS),
            "statefulset.kubernetes.io/pod-name": f"set-{i % SETS}-{i // SETS}",
        }
        pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
        added += _claim(name, zones.get(pod["spec"].get("nodeName", "")))
    write_list(path, items + added)


def preemption(path: Path, n_nodes: int, n_pending: int) -> None:
    """Nodes of 4 cpu, each with four pods of 900m and priority 0; the pending ones want 3 cpu at priority 10."""
    items = [item for item in _plain(path, n_nodes, 1) if item["kind"] != "Pod"]
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    nodes = [item for item in items if item["kind"] == "Node"]
    for node in nodes:
        node["status"].update(capacity=amounts, allocatable=amounts)
    names = [node["metadata"]["name"] for node in nodes]
    items += [_pod(f"low-{k}-{name}", 0, "900m", name) for k in range(4) for name in names]
    items += [_pod(f"high-{i:05}", 10, "3") for i in range(n_pending)]
    write_list(path, items)


def _plain(path: Path, n_nodes: int, n_pending: int) -> list[Object]:
    shape("basic")(path, n_nodes, n_pending)
    found: list[Object] = json.loads(path.read_bytes())["items"]
    return found


def _pods(items: list[Object]) -> list[Object]:
    return [item for item in items if item["kind"] == "Pod"]


def write_list(path: Path, items: list[Object]) -> None:
    """Write objects as one List."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")


def _pod(name: str, priority: int, cpu: str, node: str = "") -> Object:
    requests = {"cpu": cpu, "memory": "500Mi"}
    spec: Object = {
        "schedulerName": "default-scheduler",
        "priority": priority,
        "containers": [{"name": "c", "image": "registry.example/pause:3", "resources": {"requests": requests}}],
    }
    status = {"phase": "Pending"}
    if node:
        spec["nodeName"] = node
        status = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    metadata = {"name": name, "namespace": "default", "uid": f"u-{name}", "labels": {"app": "x"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def _service(number: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"set-{number}", "namespace": "default"},
        "spec": {"clusterIP": "None", "selector": {"app": f"set-{number}"}},
    }


def _storage_class() -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": CLASS},
        "provisioner": DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _csi_node(name: str) -> Object:
    driver = {"name": DRIVER, "nodeID": name, "topologyKeys": [ZONE], "allocatable": {"count": 39}}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": [driver]},
    }


def _claim(name: str, zone: str | None) -> list[Object]:
    """A claim, and the volume that it is bound to if its pod runs in a zone."""
    size, modes = {"storage": "10Gi"}, ["ReadWriteOnce"]
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"},
        "spec": {"accessModes": modes, "storageClassName": CLASS, "resources": {"requests": size}},
        "status": {"phase": "Pending"},
    }
    if zone is None:
        return [claim]
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["spec"]["volumeName"] = f"pv-{name}"
    claim["status"]["phase"] = "Bound"
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": name, "uid": f"u-{name}"}
    in_zone = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}"},
        "spec": {
            "accessModes": modes,
            "capacity": size,
            "claimRef": reference,
            "csi": {"driver": DRIVER, "volumeHandle": f"pv-{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [in_zone]}},
            "storageClassName": CLASS,
        },
        "status": {"phase": "Bound"},
    }
    return [volume, claim]
