"""Changes to a cluster before it is simulated: to its nodes, and to the number of pods of a workload.

Each function takes the objects of a cluster and returns a new list; the objects that do not change are the same ones.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from kubesched.api import (
    CSINode,
    KubeObject,
    Node,
    Pod,
    Taint,
    VolumeAttachment,
    Workload,
    edited,
    kind_of,
    rewritten,
    workloads,
)
from kubesched.controllers import Autoscalers, fresh_pod, is_bound_to_node, may_run_daemon, pods_to_add, pods_to_remove
from kubesched.documents import count, listed, plural
from kubesched.errors import InputError
from kubesched.naming import find_workload, nodes_named

_HOST: Final = "kubernetes.io/hostname"
_CORDON: Final = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
_PASSING_TAINTS: Final = (  # what controllers put on a node for a while; a new node does not have them
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cluster.x-k8s.io/",
    "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
_MAX_NODES: Final = 100_000


def cordoned(objects: Iterable[KubeObject], names: Iterable[str]) -> list[KubeObject]:
    """The cluster with some nodes cordoned: unschedulable, with the taint that the node controller adds.

    Raises:
        InputError: as from `nodes_named`.
    """
    known = list(objects)
    chosen = {node.name for node in nodes_named(known, names)}
    return [_cordoned(one) if isinstance(one, Node) and one.name in chosen else one for one in known]


def uncordoned(objects: Iterable[KubeObject], names: Iterable[str]) -> list[KubeObject]:
    """The cluster with the cordoned ones of some nodes uncordoned: schedulable, without the taint of a cordon.

    Raises:
        InputError: none of them is cordoned, or as from `nodes_named`.
    """
    known = list(objects)
    chosen = nodes_named(known, names)
    if not any(map(_is_cordoned, chosen)):
        nodes = listed((node.name for node in chosen), first=5)
        several = f"none of the {len(chosen)} nodes {nodes} is cordoned"
        raise InputError(several if len(chosen) > 1 else f"node {nodes} is not cordoned")
    waiting = {node.name for node in chosen if _is_cordoned(node)}
    return [_uncordoned(one) if isinstance(one, Node) and one.name in waiting else one for one in known]


def without_nodes(objects: Iterable[KubeObject], names: Iterable[str]) -> list[KubeObject]:
    """The cluster without some nodes, the pods on them, and what describes their volumes.

    Raises:
        InputError: as from `nodes_named`.
    """
    known = list(objects)
    gone = {node.name for node in nodes_named(known, names)}
    return [one for one in known if _node_of(one) not in gone]


def with_nodes_like(objects: Iterable[KubeObject], node: str | Node, n: int) -> list[KubeObject]:
    """The cluster with `n` more nodes of the shape of another one, named `new-1`, `new-2` and so on.

    A new node has the labels, taints and allocatable amounts of its model, but not its images, its cordon and taints
    of passing conditions. It runs copies of the DaemonSet pods and static pods there, and has the same volume limits.
    If the model is not in the cluster, it runs a pod of each DaemonSet that its labels and taints allow.

    Args:
        node: the model: the name of a node of the cluster, or any node.
    Raises:
        InputError: there is no such node, or `n` is out of range.
    """
    known = list(objects)
    if not 0 <= n <= _MAX_NODES:
        raise InputError(f"number of new nodes: found {n}; expected 0 to {_MAX_NODES}")
    model = nodes_named(known, [node])[0] if isinstance(node, str) else node
    is_known = any(isinstance(one, Node) and one.name == model.name for one in known)
    on_it = [one for one in known if _node_of(one) == model.name and _comes_with_node(one)] if is_known else []
    on_it += [] if is_known else _daemons_for(model, known)
    taken = {(kind_of(one), one.key) for one in known}
    domain = model.name.removeprefix(model.name.partition(".")[0])
    added: list[KubeObject] = []
    number = 0
    while n:
        number += 1
        name = f"new-{number}{domain}"
        if ("Node", name) not in taken:
            added.append(_new_node(model, name))
            added += [_on_new_node(one, name, number) for one in on_it]
            n -= 1
    return known + added


def note_on_model(model: Node) -> str:
    """What new nodes do not have of their model, because it passes: its cordon and such taints; empty for nothing."""
    passing = [one for one in model.spec.taints or () if one.key.startswith(_PASSING_TAINTS)]
    taints = [f"{one.key}:{one.effect}" for one in passing if one.key != _CORDON.key]
    lacking = ["its cordon"] if _is_cordoned(model) else []
    if taints:
        lacking.append(f"its {plural(len(taints), 'taint')} {', '.join(taints)}")
    return f"new nodes like {model.name} would not have {' and '.join(lacking)}" if lacking else ""


def scaled(objects: Iterable[KubeObject], workload: str, n: int) -> list[KubeObject]:
    """The cluster with `n` pods of a workload: pending copies are added, or pods go in the order of their controller.

    Args:
        workload: `deploy/web`, or `shop/deploy/web` with its namespace; `pod/web-1` for copies of a pod that no
            controller made.
    Raises:
        InputError: there is no such workload, it has no pod to copy, or it cannot be scaled.
    """
    known = list(objects)
    if n < 0:
        raise InputError(f"{workload}: found {n} replicas; expected 0 or more")
    chosen, pods = _workload_named(known, workload)
    if chosen.kind == "DaemonSet":
        raise InputError(f"{chosen} has one pod on each node and no replicas; add nodes instead")
    leaving = {(kind_of(one), one.key) for one in pods_to_remove(chosen, pods, n)}
    kept = [one for one in known if (kind_of(one), one.key) not in leaving]
    return kept + pods_to_add(chosen, pods, n, known)


def note_on_scale(objects: Iterable[KubeObject], workload: str, n: int) -> str:
    """What an autoscaler would do to a workload that has `n` pods; empty if it would leave it alone.

    Raises:
        InputError: there is no such workload.
    """
    known = list(objects)
    chosen, _ = _workload_named(known, workload)
    autoscalers = Autoscalers()
    autoscalers.know(known)
    scale = autoscalers.scale_of(chosen.kind, chosen.namespace, chosen.name)
    kept = n if scale is None else scale.of(n)
    if scale is None or kept == n:
        return ""
    bounds = f"minReplicas {scale.least} to maxReplicas {scale.most}"
    return f"{chosen} would not keep {count(n, 'pod')}: {scale.by} sets it to {kept:,} ({bounds}); here it has {n:,}"


def _workload_named(known: Sequence[KubeObject], text: str) -> tuple[Workload, list[Pod]]:
    """A workload, or a pod that no controller made, with its pods.

    Raises:
        InputError: there is none of this name.
    """
    alone = (one for one in known if isinstance(one, Pod) and one.metadata.controller is None and not one.is_finished)
    by_workload = workloads(known) | {Workload.alone(pod): [pod] for pod in alone}
    chosen = find_workload(by_workload, text)
    return chosen, by_workload[chosen]


def _node_of(one: KubeObject) -> str:
    """The node that an object is, is on, or belongs to."""
    if isinstance(one, Pod):
        return one.node_name
    if isinstance(one, VolumeAttachment):
        return one.spec.node_name
    return one.name if isinstance(one, Node | CSINode) else ""


def _comes_with_node(one: KubeObject) -> bool:
    """Whether a new node has the like of an object on its model."""
    if isinstance(one, Pod):
        return is_bound_to_node(one) and not one.is_finished
    return isinstance(one, CSINode)


def _daemons_for(model: Node, known: Iterable[KubeObject]) -> list[KubeObject]:
    """A pod of each DaemonSet that would run on a node; the DaemonSets are known by their pods alone."""
    samples: dict[tuple[str, str], Pod] = {}
    for one in known:
        owner = one.metadata.controller if isinstance(one, Pod) and one.node_name else None
        if isinstance(one, Pod) and owner is not None and owner.kind == "DaemonSet" and not one.is_finished:
            samples.setdefault((one.namespace, owner.name), one)
    return [pod for pod in samples.values() if may_run_daemon(_unpinned(pod), model)]


def _unpinned(pod: Pod) -> Pod:
    """The pod without its node; the required node affinity is what its controller replaced by the node's name."""
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        affinity = msgspec.structs.replace(
            affinity, node_affinity=msgspec.structs.replace(affinity.node_affinity, required=None)
        )
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name="", affinity=affinity))


def _cordoned(node: Node) -> Node:
    others = tuple(taint for taint in node.taints if taint.key != _CORDON.key)
    taints = node.taints if len(others) < len(node.taints) else (*others, _CORDON)
    return edited(node, spec=msgspec.structs.replace(node.spec, unschedulable=True, taints=taints))


def _is_cordoned(node: Node) -> bool:
    return node.unschedulable or any(taint.key == _CORDON.key for taint in node.taints)


def _uncordoned(node: Node) -> Node:
    taints = tuple(taint for taint in node.taints if taint.key != _CORDON.key)
    return edited(node, spec=msgspec.structs.replace(node.spec, unschedulable=False, taints=taints))


def _new_node(model: Node, name: str) -> Node:
    def rename(document: dict[str, Any]) -> None:
        labels = {**model.labels, _HOST: name.partition(".")[0] if _is_short(model) else name}
        document["metadata"] = {"name": name, "uid": f"Node/{name}", "labels": labels, "annotations": model.annotations}
        (document.get("status") or {}).pop("images", None)

    taints = tuple(taint for taint in model.taints if not taint.key.startswith(_PASSING_TAINTS))
    bare = edited(model, spec=msgspec.structs.replace(model.spec, unschedulable=False, taints=taints))
    return rewritten(bare, rename)


def _is_short(model: Node) -> bool:
    """Whether the host name of a node is its name up to the first dot."""
    return model.labels.get(_HOST, model.name) == model.name.partition(".")[0]


def _on_new_node(one: KubeObject, node: str, number: int) -> KubeObject:
    if isinstance(one, Pod):
        return fresh_pod(one, f"{one.name}-new-{number}", node=node)
    return edited(one, metadata=msgspec.structs.replace(one.metadata, name=node, uid=f"{kind_of(one)}/{node}"))
