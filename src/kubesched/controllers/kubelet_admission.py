"""Why a pod that names its node does not start there: the node, its kubelet, or claims that wait for a scheduler.

Rule: kubelet v1.36, admission of pods: node selector and affinity, then NoExecute taints, then resources and the number
of pods, with its messages. Host ports are not looked at. Older pods come first; a critical pod evicts others where it
has no room. A pod of a node that does not exist stays pending until it is deleted.
kube-scheduler v1.36 takes only pods without spec.nodeName,
and the volume controller leaves a claim of a class with WaitForFirstConsumer alone until a scheduler has selected its
node or its volume.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from kubesched.api import SELECTED_NODE, Node, PersistentVolumeClaim, Pod, StorageClass, parse_quantity, whole_units
from kubesched.controllers.kept_replicas import Find
from kubesched.documents import plural
from kubesched.plugins import RequiredNodeAffinity, has_untolerated_taint
from kubesched.state import ClusterState, Nodes, storage_class_of

_BINDS_LATE: Final = "WaitForFirstConsumer"
_CRITICAL: Final = 2_000_000_000  # the priority from which on a kubelet makes room


def has_not_started(pod: Pod) -> bool:
    """Whether a pod has a node, and no kubelet has started it there."""
    return bool(pod.node_name) and pod.status.phase == "Pending" and not pod.is_terminating


def why_it_hangs(pod: Pod, cluster: ClusterState) -> str:
    """Why a pod that has a node and has not started cannot start, as far as a scheduler would have prevented it.

    Args:
        cluster: with or without the pod.
    Returns: a phrase; empty where nothing is known to keep the pod from starting.
    """
    if not has_not_started(pod):
        return ""
    find = cluster.objects.get
    node = find("Node", pod.node_name)
    if not isinstance(node, Node):
        return node_refusal(pod, find)
    refused = "" if _is_admitted(pod) else node_refusal(pod, find) or _overfills(pod, node, cluster.snapshot().nodes)
    return refused or awaited_claims(pod, find)


def node_refusal(pod: Pod, find: Find) -> str:
    """Why no kubelet takes a pod that names its node, in a phrase; empty if one does, as far as it has room."""
    node = find("Node", pod.node_name)
    if not isinstance(node, Node):
        return f"node {pod.node_name} does not exist"
    fault = _predicate(node, pod)
    return rejected_by(node, fault) if fault else ""


def no_room(requests: Mapping[str, int], offered: Mapping[str, int], held: Mapping[str, int]) -> str:
    """The message of a kubelet that has no room for a pod; empty where it has.

    Args:
        offered, held: what the node offers and what its pods hold, by resource; the number of pods is `pods`.
    """
    for name, wanted in {"pods": 1, **requests}.items():
        used, capacity = held.get(name, 0), offered.get(name, 0)
        if wanted and used + wanted > capacity:
            numbers = f"requested: {wanted}, used: {used}, capacity: {capacity}"
            return f"Node didn't have enough resource: {name}, {numbers} (OutOf{name})"
    return ""


def rejected_by(node: Node, fault: str) -> str:
    """The phrase for a pod that a kubelet rejects with its message `fault`."""
    return f"the kubelet of {node.name} rejects it: {fault}"


def awaited_claims(pod: Pod, find: Find) -> str:
    """Which claims keep a pod that names its node from starting, although it has its room there; empty for none."""
    claims = [
        key
        for key in (f"{pod.namespace}/{name}" for name in pod.claim_names)
        if _waits_for_scheduler(find("PersistentVolumeClaim", key), find)
    ]
    if not claims:
        return ""
    what = f"{plural(len(claims), 'claim')} {', '.join(claims)} {plural(len(claims), 'is', 'are')}"
    return f"{what} not bound, and {_BINDS_LATE} leaves that to the scheduler"


def _overfills(pod: Pod, node: Node, nodes: Nodes) -> str:
    """Why the kubelet has no room for a pod beside those that it has admitted, and those that it looks at before."""
    offered = {name: whole_units(name, parse_quantity(text)) for name, text in (node.status.allocatable or {}).items()}
    held: Counter[str] = Counter()
    waiting = {pod.key: pod}
    position = nodes.position_of(node.name)
    for other in (info.pod for info in (nodes.pods(position) if position is not None else ())):
        if not (has_not_started(other) and not _is_admitted(other)):
            _hold(other, held)
        elif not _predicate(node, other):
            waiting.setdefault(other.key, other)
    for other in sorted(waiting.values(), key=lambda other: (other.metadata.creation_timestamp or "", other.key)):
        fault = "" if other.priority >= _CRITICAL else no_room(other.requests, offered, held)
        if other is pod:
            return rejected_by(node, fault) if fault else ""
        if not fault:
            _hold(other, held)
    return ""


def _hold(pod: Pod, held: Counter[str]) -> None:
    if not pod.is_finished:
        held.update({"pods": 1, **pod.requests})


def _is_admitted(pod: Pod) -> bool:
    """Whether a kubelet has admitted the pod: it sets all conditions but the scheduler's."""
    return any(condition.type != "PodScheduled" for condition in pod.status.conditions or ())


def _predicate(node: Node, pod: Pod) -> str:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if not RequiredNodeAffinity(pod.node_selector.items(), affinity).matches_node(node):
        return "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    taints = tuple(taint for taint in node.taints if taint.effect == "NoExecute")
    if taints and has_untolerated_taint(taints, pod.tolerations):
        return "Predicate TaintToleration failed: node(s) had untolerated taint"
    return ""


def _waits_for_scheduler(claim: object, find: Find) -> bool:
    if not isinstance(claim, PersistentVolumeClaim) or claim.spec.volume_name or SELECTED_NODE in claim.annotations:
        return False
    name = storage_class_of(claim)
    storage_class = find("StorageClass", name) if name else None
    return isinstance(storage_class, StorageClass) and storage_class.volume_binding_mode == _BINDS_LATE
