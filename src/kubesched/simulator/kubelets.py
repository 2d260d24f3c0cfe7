"""Starts the new pods that name their node: kube-scheduler does not see them, and the kubelet of the node admits them.

Rule: kubelet v1.36, admission of pods: resources, number of pods, node selector and affinity, NoExecute taints, with
its messages; host ports are not looked at. A pod of a node that does not exist stays pending until it is deleted.
"""

from typing import Final

import msgspec

from kubesched.api import Node, Pod
from kubesched.plugins import RequiredNodeAffinity, has_untolerated_taint
from kubesched.simulator.report import Fill
from kubesched.state import ClusterState

__all__ = ["UNSEEN", "kubelet_refusal", "started"]

UNSEEN: Final = "spec.nodeName is set, so kube-scheduler does not see the pod"


def kubelet_refusal(cluster: ClusterState, pod: Pod) -> str:
    """Why a pod does not run on the node that it names; empty if it does."""
    node = cluster.objects.get("Node", pod.node_name)
    if not isinstance(node, Node):
        return f"{UNSEEN}; the cluster has no node {pod.node_name}, so no kubelet starts it"
    if fault := _predicate(node, pod) or _shortage(Fill(cluster.columns), pod):
        return f"{UNSEEN}; the kubelet of {node.name} rejects it: {fault}"
    return ""


def started(pod: Pod) -> Pod:
    """The pod as its kubelet has started it: a disruption budget that selects it is asked before its eviction."""
    running = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase="Running"))
    running.__dict__.update(pod.__dict__)
    return running


def _predicate(node: Node, pod: Pod) -> str:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if not RequiredNodeAffinity(pod.node_selector.items(), affinity).matches_node(node):
        return "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    taints = tuple(taint for taint in node.taints if taint.effect == "NoExecute")
    if taints and has_untolerated_taint(taints, pod.tolerations):
        return "Predicate TaintToleration failed: node(s) had untolerated taint"
    return ""


def _shortage(fill: Fill, pod: Pod) -> str:
    has, held = fill.allocatable(pod.node_name), fill.held(pod.node_name)
    for name, wanted in {"pods": 1, **pod.requests}.items():
        used, capacity = held.get(name, 0), has.get(name, 0)
        if wanted and used + wanted > capacity:
            numbers = f"requested: {wanted}, used: {used}, capacity: {capacity}"
            return f"Node didn't have enough resource: {name}, {numbers} (OutOf{name})"
    return ""
