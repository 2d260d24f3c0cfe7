"""The cluster that the pods with long lists come to: every node has labels, images, a taint and four pods."""

from typing import Any

Object = dict[str, Any]

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
N_LABELS = 20  # on each node, beside its name and zone: as many as cloud providers write
ROOM = {"cpu": "4", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
HELD = {"cpu": "750m", "memory": "1Gi"}
N_RUNNING = 4  # on each node
N_IDENTITIES, N_NAMESPACES = 2000, 500


def node(i: int) -> Object:
    """Its labels l0 ... have one of ten values each; its taint is tolerated by nobody, and only less preferred."""
    name = f"node-{i:05}"
    labels = {HOST: name, ZONE: f"zone-{i % 3}", **{f"l{k}": f"v{(i + k) % 10}" for k in range(N_LABELS)}}
    images = [{"names": [f"images/{(i + k) % 100}:v1"], "sizeBytes": 100_000_000 + k} for k in range(10)]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [{"key": f"t{i % 1000}", "value": name, "effect": "PreferNoSchedule"}]},
        "status": {"allocatable": ROOM, "capacity": ROOM, "images": images},
    }


def pod(name: str, spec: Object, labels: Object | None = None, *, priority: int = 0, **metadata: Any) -> Object:
    """A pod; `spec` says what it asks for."""
    written = {"name": name, "namespace": "default", "uid": name, "labels": labels or {}, **metadata}
    defaults = {"schedulerName": "default-scheduler", "priority": priority, "containers": [container()]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": written, "spec": {**defaults, **spec}}


def container(name: str = "main", cpu: str = "100m", **more: Any) -> Object:
    """A container that requests a little."""
    return {"name": name, "image": "pause", "resources": {"requests": {"cpu": cpu}}, **more}


def base(n_nodes: int, n_namespaces: int = N_NAMESPACES) -> list[Object]:
    """The nodes, namespaces, and four running pods on each node that hold three of its four CPUs."""
    return [
        *map(node, range(n_nodes)),
        *map(namespace, range(n_namespaces)),
        *map(_running, range(N_RUNNING * n_nodes)),
    ]


def namespace(i: int) -> Object:
    """One with labels; the first is that of the pods."""
    name = f"ns-{i}" if i else "default"
    labels = {"kubernetes.io/metadata.name": name, "team": f"team-{i % 50}"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _running(i: int) -> Object:
    held = [{"name": "main", "image": "web", "resources": {"requests": HELD}}]
    spec = {"containers": held, "nodeName": f"node-{i // N_RUNNING:05}"}
    return pod(f"running-{i:05}", spec, {"app": "web", "n": f"n{i % N_IDENTITIES}"})
