"""Starts the new pods that name their node: kube-scheduler does not see them, and the kubelet of the node admits them.

Rule: kubelet v1.36, as in `admission/kubelets.py`.
"""

from typing import Final

import msgspec

from kubesched.admission import no_room, node_refusal, rejected_by
from kubesched.api import Node, Pod
from kubesched.session.report import Fill
from kubesched.state import ClusterState

UNSEEN: Final = "spec.nodeName is set, so kube-scheduler does not see the pod"


def kubelet_refusal(cluster: ClusterState, pod: Pod) -> str:
    """Why no kubelet takes a pod on the node that it names; empty if one does."""
    if fault := node_refusal(pod, cluster.objects.get):
        return fault
    node = cluster.objects.get("Node", pod.node_name)
    assert isinstance(node, Node)
    fill = Fill(cluster.columns)
    fault = no_room(pod.requests, fill.allocatable(pod.node_name), fill.held(pod.node_name))
    return rejected_by(node, fault) if fault else ""


def started(pod: Pod) -> Pod:
    """The pod as its kubelet has started it: a disruption budget that selects it is asked before its eviction."""
    running = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase="Running"))
    running.__dict__.update(pod.__dict__)
    return running
