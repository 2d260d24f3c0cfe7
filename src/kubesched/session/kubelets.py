"""Starts the new pods that name their node: kube-scheduler does not see them, and the kubelet of the node admits them.

Rule: kubelet v1.36, as in `controllers/kubelet_admission.py`.
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from kubesched.api import EventType, Node, Pod, WatchEvent, edited
from kubesched.controllers import awaited_claims, no_room, node_refusal, rejected_by
from kubesched.session.creation import Creation
from kubesched.session.report import Fill, Placement, PodState
from kubesched.state import ClusterState

UNSEEN: Final = "spec.nodeName is set, so kube-scheduler does not see the pod"


class Kubelets:
    """The kubelets of a cluster.

    Args:
        tell: takes the event of each pod that takes room on its node.

    Attributes:
        placements: what became of the new pods that name their node, by uid.
    """

    def __init__(self, cluster_state: ClusterState, tell: Callable[[WatchEvent], None]) -> None:
        self._cluster_state = cluster_state
        self._tell = tell
        self.placements: dict[str, Placement] = {}

    def start(self, bound: Iterable[Pod], creation: Creation, owner_of: Callable[[Pod], str]) -> None:
        """Start new pods, as far as the API server creates them and their nodes take them."""
        for pod in bound:
            placement = Placement(pod.key, "", PodState.SCHEDULED, pod.node_name, message=UNSEEN, names_node=True)
            if not creation.is_allowed(pod):
                placement.state, placement.node = PodState.NOT_TRIED, ""
                placement.message, placement.refused = creation.why_not(pod), creation.refusal(pod)
            elif fault := self._refusal(pod):
                placement = not_running(pod, fault)
            elif fault := awaited_claims(pod, self._cluster_state.objects.get):
                placement = not_running(pod, fault)
                self._tell(WatchEvent(EventType.ADDED, "Pod", pod))  # it has its room on the node
            else:
                self._tell(WatchEvent(EventType.ADDED, "Pod", _started(pod)))
            self.placements[pod.uid] = placement
            placement.owner = owner_of(pod)

    def _refusal(self, pod: Pod) -> str:
        """Why no kubelet takes a pod on the node that it names; empty if one does."""
        objects, columns = self._cluster_state.objects, self._cluster_state.columns
        if fault := node_refusal(pod, objects.get):
            return fault
        node = objects.get("Node", pod.node_name)
        assert isinstance(node, Node)
        fill = Fill(columns)
        fault = no_room(pod.requests, fill.allocatable(pod.node_name), fill.held(pod.node_name))
        return rejected_by(node, fault) if fault else ""


def not_running(pod: Pod, fault: str, owner: str = "") -> Placement:
    """The outcome of a pod that names its node and does not start there."""
    message = f"{UNSEEN}; {fault}"
    return Placement(pod.key, "", PodState.UNSCHEDULABLE, message=message, owner=owner, names_node=True)


def _started(pod: Pod) -> Pod:
    """The pod as its kubelet has started it: a disruption budget that selects it is asked before its eviction."""
    return edited(pod, status=msgspec.structs.replace(pod.status, phase="Running"))
