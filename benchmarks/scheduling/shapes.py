"""The shapes of pods that schedulers are measured with: those of Kubernetes' own scheduler_perf, v1.36.

A shape is made of documents as they are sent to the API server: everything that is there before a scheduler starts,
the pods that are waited for, and what comes, goes or changes while they are placed. Nodes have 4 CPUs, 32 GiB and room
for 110 pods; pods ask for 100m and 500 MiB. What scheduler_perf lets the scheduler place first is on its nodes already.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Document = dict[str, Any]
Change = tuple[str, Document]

NODES, NAMESPACE = 5000, "default"
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
ROOM = {"cpu": "4", "memory": "32Gi", "pods": "110"}
SMALL = {"cpu": "100m", "memory": "500Mi"}
DRIVER = "csi.example.com"
FLEET = f"{Path(__file__).parents[1] / 'extender' / 'fleet.py'}:Fleet"


@dataclass(frozen=True)
class Shape:
    """What one row measures.

    Attributes:
        first: objects in the order in which they are created, before the scheduler starts.
        pods: those whose placement is timed, created before the scheduler starts.
        background: what happens meanwhile, as pairs of "create" or "delete" and a document; endless or empty.
        seconds: between two of these.
        plugin: what an extender serves that schedulers call with the names of nodes, as FILE.py:Class; empty for none.
    """

    first: list[Document]
    pods: list[Document]
    background: Callable[[], Iterator[Change]] = field(default=lambda: iter(()))
    seconds: float = 0.2
    plugin: str = ""


def node(i: int, zones: int = 3, **labels: str) -> Document:
    """A node; there are no kubelets, so it is what it is created as."""
    name = f"node-{i:05}"
    marks = {HOSTNAME: name, ZONE: f"zone-{i % zones}", **labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": marks},
        "status": {
            "capacity": ROOM,
            "allocatable": ROOM,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def pod(name: str, requests: Document = SMALL, labels: Document | None = None, **spec: Any) -> Document:
    """A pod that waits to be placed, unless `nodeName` says where it is."""
    container = {"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def series(prefix: str, n: int, labels: Document | None = None, **more: Any) -> list[Document]:
    """So many pods alike."""
    return [pod(f"{prefix}-{i:05}", labels=labels, **more) for i in range(n)]


def placed(pods: list[Document], n_nodes: int) -> list[Document]:
    """The pods, each on the next node."""
    for i, document in enumerate(pods):
        document["spec"]["nodeName"] = f"node-{i % n_nodes:05}"
    return pods


def nodes(n: int, **more: Any) -> list[Document]:
    return [node(i, **more) for i in range(n)]


def basic(n: int) -> Shape:
    """Pods without wishes."""
    return Shape([*nodes(n), *placed(series("first", n // 5), n)], series("measured", 2 * n))


def node_affinity(n: int) -> Shape:
    """Pods that name two zones, one of which all nodes are in."""
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-0", "zone-9"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    more = {"affinity": {"nodeAffinity": required}}
    return Shape([*nodes(n, zones=1), *placed(series("first", n, **more), n)], series("measured", 2 * n, **more))


def pod_affinity(n: int) -> Shape:
    """Pods that go where others with their colour are: one zone."""
    more = _with_others("podAffinity", {"color": "blue"}, ZONE)
    return Shape([*nodes(n, zones=1), *placed(series("first", n, **more), n)], series("measured", n, **more))


def pod_anti_affinity(n: int) -> Shape:
    """Pods that each need a node without another one."""
    more = _with_others("podAntiAffinity", {"color": "green"}, HOSTNAME)
    return Shape([*nodes(n), *placed(series("first", n // 5, **more), n)], series("measured", 2 * n // 5, **more))


def matching_anti_affinity(n: int) -> Shape:
    """Pods that those on a fifth of the nodes do not want beside them, and that have no such term themselves."""
    more = _with_others("podAntiAffinity", {"color": "green"}, HOSTNAME)
    first = placed(series("first", n // 5, **more), n)
    return Shape([*nodes(n), *first], series("measured", n, labels={"color": "green"}))


def preferred_affinity(n: int) -> Shape:
    """Pods that would like to be with others on their node."""
    more = _with_others("podAffinity", {"color": "red"}, HOSTNAME, weight=1)
    return Shape([*nodes(n), *placed(series("first", n, **more), n)], series("measured", n, **more))


def preferred_anti_affinity(n: int) -> Shape:
    """Pods that would like a node without others."""
    more = _with_others("podAntiAffinity", {"color": "yellow"}, HOSTNAME, weight=1)
    return Shape([*nodes(n), *placed(series("first", n, **more), n)], series("measured", n, **more))


def topology_spread(n: int) -> Shape:
    """Pods that must be even over three zones."""
    return _spread(n, "DoNotSchedule", max_skew=5)


def preferred_spread(n: int) -> Shape:
    """Pods that would like to be even over three zones."""
    return _spread(n, "ScheduleAnyway", max_skew=5)


def mixed(n: int) -> Shape:
    """Plain pods between pods of five sorts."""
    sorts = (
        {},
        _with_others("podAffinity", {"color": "blue"}, ZONE),
        _with_others("podAntiAffinity", {"color": "green"}, HOSTNAME, weight=1),
        _with_others("podAffinity", {"color": "red"}, HOSTNAME, weight=1),
        _with_others("podAntiAffinity", {"color": "yellow"}, HOSTNAME, weight=1),
    )
    first = [placed(series(f"first-{i}", 2 * n // 5, **more), n) for i, more in enumerate(sorts)]
    return Shape([*nodes(n, zones=1), *(document for each in first for document in each)], series("measured", n))


def preemption(n: int) -> Shape:
    """Pods that each push out three others; all nodes are full."""
    low = placed(series("low", 4 * n, requests={"cpu": "900m", "memory": "500Mi"}), n)
    high = series("measured", n // 5, requests={"cpu": "3", "memory": "500Mi"}, priorityClassName="high")
    return Shape([_priority_class("high", 10), *nodes(n), *low], high)


def unschedulable(n: int) -> Shape:
    """Plain pods while others come that fit nowhere and go first."""

    def background() -> Iterator[Change]:
        i = 0
        while True:
            yield "create", pod(f"too-large-{i:05}", {"cpu": "9", "memory": "500Mi"}, priorityClassName="high")
            i += 1

    first = [_priority_class("high", 10), *nodes(n), *placed(series("first", n // 50), n)]
    return Shape(first, series("measured", 2 * n), background)


def gated(n: int) -> Shape:
    """Plain pods beside twice as many that are gated and ask for affinity."""
    more = _with_others("podAffinity", {"color": "blue"}, ZONE)
    waiting = series("gated", 2 * n, **more, schedulingGates=[{"name": "example.com/not-yet"}])
    return Shape([*nodes(n), *waiting], series("measured", n))


def volumes(n: int) -> Shape:
    """Pods with a bound claim each, of a CSI driver."""
    first: list[Document] = []
    pods: list[Document] = []
    for i in range(n):
        first += _volume(i)
        source = {"persistentVolumeClaim": {"claimName": f"claim-{i:05}"}}
        pods.append(pod(f"measured-{i:05}", volumes=[{"name": "data", **source}]))
    drivers = [_csi_node(i) for i in range(n)]
    return Shape([*nodes(n), *drivers, *first], pods)


def churn(n: int) -> Shape:
    """Plain pods while a node, a pod and a Service come and go."""

    def background() -> Iterator[Change]:
        while True:
            for thing in (node(99_999), pod("too-large", {"cpu": "9"}), _service("churn", {"color": "blue"})):
                yield "create", thing
                yield "delete", thing

    return Shape(nodes(n), series("measured", 2 * n), background, seconds=0.17)


def extender(n: int) -> Shape:
    """Plain pods, and an extender that filters and scores."""
    return replace(basic(n), plugin=FLEET)


SHAPES: dict[str, Callable[[int], Shape]] = {
    shape.__name__.replace("_", "-"): shape
    for shape in (
        basic,
        node_affinity,
        pod_affinity,
        pod_anti_affinity,
        matching_anti_affinity,
        preferred_affinity,
        preferred_anti_affinity,
        topology_spread,
        preferred_spread,
        mixed,
        preemption,
        unschedulable,
        gated,
        volumes,
        churn,
        extender,
    )
}


def _with_others(which: str, labels: Document, topology_key: str, weight: int = 0) -> dict[str, Any]:
    """Labels, and a term that selects pods with the same."""
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": topology_key}
    if weight:
        rule = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "podAffinityTerm": term}]}
    else:
        rule = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"labels": labels, "affinity": {which: rule}}


def _spread(n: int, when: str, max_skew: int) -> Shape:
    labels = {"color": "blue"}
    selector = {"labelSelector": {"matchLabels": labels}}
    constraint = {"maxSkew": max_skew, "topologyKey": ZONE, "whenUnsatisfiable": when, **selector}
    more = {"labels": labels, "topologySpreadConstraints": [constraint]}
    return Shape([*nodes(n), *placed(series("first", n), n)], series("measured", n, **more))


def _priority_class(name: str, value: int) -> Document:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def _service(name: str, selector: Document) -> Document:
    spec = {"selector": selector, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def _csi_node(i: int) -> Document:
    name = f"node-{i:05}"
    driver = {"name": DRIVER, "nodeID": name, "topologyKeys": [], "allocatable": {"count": 39}}
    metadata = {"name": name}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": [driver]}}


def _volume(i: int) -> list[Document]:
    """A volume and a claim that are bound to each other."""
    volume, claim, size = f"volume-{i:05}", f"claim-{i:05}", {"storage": "1Gi"}
    bound = {"pv.kubernetes.io/bind-completed": "true"}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": volume},
            "spec": {
                "accessModes": ["ReadOnlyMany"],
                "capacity": size,
                "csi": {"driver": DRIVER, "volumeHandle": volume},
                "claimRef": {"kind": "PersistentVolumeClaim", "namespace": NAMESPACE, "name": claim},
            },
            "status": {"phase": "Bound"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": claim, "namespace": NAMESPACE, "annotations": bound},
            "spec": {"accessModes": ["ReadOnlyMany"], "resources": {"requests": size}, "volumeName": volume},
            "status": {"phase": "Bound"},
        },
    ]
