"""Why a pod that names its node does not start there: the node, its kubelet, or claims that wait for a scheduler.

Rule: kubelet v1.36, admission of pods: node selector and affinity, then NoExecute taints, with its messages. A pod of a
node that does not exist stays pending until it is deleted. kube-scheduler v1.36 takes only pods without spec.nodeName,
and the volume controller leaves a claim of a class with WaitForFirstConsumer alone until a scheduler has selected its
node or its volume.
"""

from collections.abc import Iterator
from typing import Final

from kubesched.admission.controllers import Find
from kubesched.api import Node, PersistentVolumeClaim, Pod, StorageClass
from kubesched.plugins import RequiredNodeAffinity, has_untolerated_taint
from kubesched.state import storage_class_of

__all__ = ["awaited_claims", "node_refusal", "rejected_by"]

_BINDS_LATE: Final = "WaitForFirstConsumer"
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"


def node_refusal(pod: Pod, find: Find) -> str:
    """Why no kubelet takes a pod that names its node, in a phrase; empty if one does, as far as it has room."""
    node = find("Node", pod.node_name)
    if not isinstance(node, Node):
        return f"node {pod.node_name} does not exist"
    fault = _predicate(node, pod)
    return rejected_by(node, fault) if fault else ""


def rejected_by(node: Node, fault: str) -> str:
    """The phrase for a pod that a kubelet rejects with its message `fault`."""
    return f"the kubelet of {node.name} rejects it: {fault}"


def awaited_claims(pod: Pod, find: Find) -> str:
    """Which claims keep a pod that names its node from starting, although it has its room there; empty for none."""
    claims = [key for key in _claims(pod) if _waits_for_scheduler(find("PersistentVolumeClaim", key), find)]
    if not claims:
        return ""
    what = f"claim {claims[0]} is" if len(claims) == 1 else f"claims {', '.join(claims)} are"
    return f"{what} not bound, and {_BINDS_LATE} leaves that to the scheduler"


def _predicate(node: Node, pod: Pod) -> str:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if not RequiredNodeAffinity(pod.node_selector.items(), affinity).matches_node(node):
        return "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    taints = tuple(taint for taint in node.taints if taint.effect == "NoExecute")
    if taints and has_untolerated_taint(taints, pod.tolerations):
        return "Predicate TaintToleration failed: node(s) had untolerated taint"
    return ""


def _claims(pod: Pod) -> Iterator[str]:
    for volume in pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            yield f"{pod.namespace}/{volume.persistent_volume_claim.claim_name}"
        elif volume.ephemeral is not None:
            yield f"{pod.namespace}/{pod.name}-{volume.name}"


def _waits_for_scheduler(claim: object, find: Find) -> bool:
    if not isinstance(claim, PersistentVolumeClaim) or claim.spec.volume_name or _SELECTED_NODE in claim.annotations:
        return False
    name = storage_class_of(claim)
    storage_class = find("StorageClass", name) if name else None
    return isinstance(storage_class, StorageClass) and storage_class.volume_binding_mode == _BINDS_LATE
