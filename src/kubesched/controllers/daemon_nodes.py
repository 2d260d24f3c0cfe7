"""Finds the nodes on which a DaemonSet has a pod, and pins each pod to its node.

Rule: kube-controller-manager v1.36 DaemonSet controller: a node counts if the template's nodeName and required node
affinity allow it and the template, with the tolerations that every daemon gets, tolerates its NoSchedule and NoExecute
taints.
"""

from typing import Any, Final

from kubesched.api import Node, Pod, Taint
from kubesched.plugins import RequiredNodeAffinity, has_untolerated_taint

_TOLERATED: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_ON_HOST_NETWORK: Final = ("node.kubernetes.io/network-unavailable", "NoSchedule")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def daemon_tolerations(*, host_network: bool) -> list[dict[str, Any]]:
    """The tolerations that every pod of a DaemonSet gets, as JSON values."""
    tolerated = (*_TOLERATED, _ON_HOST_NETWORK) if host_network else _TOLERATED
    return [{"key": key, "operator": "Exists", "effect": effect} for key, effect in tolerated]


def is_of_daemons(taint: Taint) -> bool:
    """Whether every pod of a DaemonSet tolerates a taint, whatever its template says."""
    return any((taint.key, taint.effect) == one for one in (*_TOLERATED, _ON_HOST_NETWORK))


def may_run_daemon(pod: Pod, node: Node) -> bool:
    """Whether the controller makes a pod for this node; `pod` is one that is tied to no node yet."""
    if pod.node_name not in ("", node.name):
        return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if not RequiredNodeAffinity(pod.node_selector.items(), affinity).matches_node(node):
        return False
    return not has_untolerated_taint(node.taints, pod.tolerations)


def bind_to_node(spec: dict[str, Any], node: str) -> None:
    """Replace the required node affinity of a pod's spec by one that names the node, in place."""
    affinity = spec["affinity"] = spec.get("affinity") or {}
    node_affinity = affinity["nodeAffinity"] = affinity.get("nodeAffinity") or {}
    by_name = {"key": "metadata.name", "operator": "In", "values": [node]}
    node_affinity[_REQUIRED] = {"nodeSelectorTerms": [{"matchFields": [by_name]}]}


def node_of_daemon(pod: Pod) -> str:
    """The node that a DaemonSet's pod runs on or has to run on; empty when it has neither."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if pod.node_name or affinity is None or affinity.required is None:
        return pod.node_name
    for term in affinity.required.node_selector_terms or ():
        for field in term.match_fields or ():
            if field.key == "metadata.name" and field.values:
                return field.values[0]
    return ""
