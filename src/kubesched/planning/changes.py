"""Changes to a cluster before it is simulated: to its nodes, and to the number of pods of a workload.

Each function takes the objects of a cluster and returns a new list; the objects that do not change are the same ones.
"""

from collections.abc import Iterable, Sequence

from kubesched.api import KubeObject, Node, Pod, Workload, kind_of, workloads
from kubesched.controllers import (
    Autoscalers,
    cordon,
    is_cordoned,
    new_nodes,
    node_of,
    pods_to_add,
    pods_to_remove,
    uncordon,
)
from kubesched.documents import count, listed
from kubesched.errors import InputError
from kubesched.naming import find_workload, nodes_named


def cordoned(objects: Iterable[KubeObject], names: Iterable[str]) -> list[KubeObject]:
    """The cluster with some nodes cordoned: unschedulable, with the taint that the node controller adds.

    Raises:
        InputError: as from `nodes_named`.
    """
    cluster = list(objects)
    chosen = {node.name for node in nodes_named(cluster, names)}
    return [cordon(obj) if isinstance(obj, Node) and obj.name in chosen else obj for obj in cluster]


def uncordoned(objects: Iterable[KubeObject], names: Iterable[str]) -> list[KubeObject]:
    """The cluster with the cordoned ones of some nodes uncordoned: schedulable, without the taint of a cordon.

    Raises:
        InputError: none of them is cordoned, or as from `nodes_named`.
    """
    cluster = list(objects)
    chosen = nodes_named(cluster, names)
    if not any(map(is_cordoned, chosen)):
        nodes = listed((node.name for node in chosen), first=5)
        several = f"none of the {len(chosen)} nodes {nodes} is cordoned"
        raise InputError(several if len(chosen) > 1 else f"node {nodes} is not cordoned")
    waiting = {node.name for node in chosen if is_cordoned(node)}
    return [uncordon(obj) if isinstance(obj, Node) and obj.name in waiting else obj for obj in cluster]


def without_nodes(objects: Iterable[KubeObject], names: Iterable[str]) -> list[KubeObject]:
    """The cluster without some nodes, the pods on them, and what describes their volumes.

    Raises:
        InputError: as from `nodes_named`.
    """
    cluster = list(objects)
    gone = {node.name for node in nodes_named(cluster, names)}
    return [obj for obj in cluster if node_of(obj) not in gone]


def with_nodes_like(objects: Iterable[KubeObject], node: str | Node, n: int) -> list[KubeObject]:
    """The cluster with `n` more nodes of the shape of another one; see `new_nodes`.

    Args:
        node: the model: the name of a node of the cluster, or any node.
    Raises:
        InputError: there is no such node, or `n` is out of range.
    """
    cluster = list(objects)
    return cluster + new_nodes(cluster, nodes_named(cluster, [node])[0] if isinstance(node, str) else node, n)


def scaled(objects: Iterable[KubeObject], workload: str, n: int) -> list[KubeObject]:
    """The cluster with `n` pods of a workload: pending copies are added, or pods go in the order of their controller.

    Args:
        workload: `deploy/web`, or `shop/deploy/web` with its namespace; `pod/web-1` for copies of a pod that no
            controller made.
    Raises:
        InputError: there is no such workload, it has no pod to copy, or it cannot be scaled.
    """
    cluster = list(objects)
    if n < 0:
        raise InputError(f"{workload}: found {n} replicas; expected 0 or more")
    chosen, pods = _workload_named(cluster, workload)
    if chosen.kind == "DaemonSet":
        raise InputError(f"{chosen} has one pod on each node and no replicas; add nodes instead")
    leaving = {(kind_of(obj), obj.key) for obj in pods_to_remove(chosen, pods, n)}
    kept = [obj for obj in cluster if (kind_of(obj), obj.key) not in leaving]
    return kept + pods_to_add(chosen, pods, n, cluster)


def note_on_scale(objects: Iterable[KubeObject], workload: str, n: int) -> str:
    """What an autoscaler would do to a workload that has `n` pods; empty if it would leave it alone.

    Raises:
        InputError: there is no such workload.
    """
    cluster = list(objects)
    chosen, _ = _workload_named(cluster, workload)
    autoscalers = Autoscalers()
    autoscalers.know(cluster)
    scale = autoscalers.scale_of(chosen.kind, chosen.namespace, chosen.name)
    kept = n if scale is None else scale.of(n)
    if scale is None or kept == n:
        return ""
    bounds = f"minReplicas {scale.least} to maxReplicas {scale.most}"
    return f"{chosen} would not keep {count(n, 'pod')}: {scale.by} sets it to {kept:,} ({bounds}); here it has {n:,}"


def _workload_named(cluster: Sequence[KubeObject], text: str) -> tuple[Workload, list[Pod]]:
    """A workload, or a pod that no controller made, with its pods.

    Raises:
        InputError: there is none of this name.
    """
    alone = (obj for obj in cluster if isinstance(obj, Pod) and obj.metadata.controller is None and not obj.is_finished)
    by_workload = workloads(cluster) | {Workload.alone(pod): [pod] for pod in alone}
    chosen = find_workload(by_workload, text)
    return chosen, by_workload[chosen]
