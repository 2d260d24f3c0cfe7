"""Pods of a DaemonSet, which have to run on the one node that their controller made them for."""

from kubesched.controllers import is_bound_to_node, node_of_daemon
from kubesched.explanation.evaluation import Evaluation


def own_node(evaluation: Evaluation) -> str:
    """The node that a DaemonSet's pending pod is made for; empty for other pods."""
    pod = evaluation.pod
    return node_of_daemon(pod) if is_bound_to_node(pod) and not pod.node_name else ""


def gone_node(evaluation: Evaluation) -> str:
    """Why such a pod waits for a node that the cluster does not have, in one sentence; empty where it has the node.

    Rule: kube-controller-manager v1.36 DaemonSet controller: it deletes the pods of nodes that are gone.
    """
    name, controller = own_node(evaluation), evaluation.pod.metadata.controller
    if not name or controller is None or evaluation.nodes.position_of(name) is not None:
        return ""
    made = f"node {name}, for which {controller.kind} {controller.name} made the pod, is not in the cluster"
    return f"{made}; the controller deletes the pod"
