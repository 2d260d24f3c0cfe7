"""Starts the new pods that name their node: kube-scheduler does not see them, and the kubelet of the node admits them.

Rule: kubelet v1.36, as in `controllers/kubelet_admission.py`.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from kubesched.api import EventType, Pod, WatchEvent, edited
from kubesched.controllers import awaited_claims, no_room, node_refusal, rejected_by, why_it_hangs
from kubesched.session.creation import Creation
from kubesched.session.report import Placement, PodState
from kubesched.state import ClusterState

UNSEEN: Final = "spec.nodeName is set, so kube-scheduler does not see the pod"


class Kubelets:
    """The kubelets of a cluster.

    Args:
        tell: takes the event of each pod that takes room on its node.

    Attributes:
        coming: the new pods that name their node and have not been seen by its kubelet.
        not_started: the pods that have been on their node for long without a start.
        placements: what became of the new pods that name their node, by uid.
    """

    def __init__(self, cluster_state: ClusterState, tell: Callable[[WatchEvent], None]) -> None:
        self.coming: list[Pod] = []
        self.not_started: list[Pod] = []
        self.placements: dict[str, Placement] = {}
        self._cluster_state = cluster_state
        self._tell = tell
        self._hanging: list[tuple[Pod, str]] = []

    def look(self) -> None:
        """Find out which of the pods that have not started hang."""
        known = self._cluster_state.objects
        there = (pod for pod in self.not_started if known.get("Pod", pod.key) is pod)
        hang = ((pod, why_it_hangs(pod, self._cluster_state)) for pod in there)
        self._hanging = [(pod, fault) for pod, fault in hang if fault]

    def stuck(self, owner_of: Callable[[Pod], str]) -> tuple[Placement, ...]:
        """The pods that hang, as placements without a node."""
        return tuple(not_running(pod, fault, owner_of(pod)) for pod, fault in self._hanging)

    def start(self, creation: Creation, owner_of: Callable[[Pod], str]) -> None:
        """Start the pods that are coming, as far as the API server creates them and their nodes take them."""
        for pod in self.coming:
            placement = self._start(pod, creation)
            self.placements[pod.uid] = msgspec.structs.replace(placement, owner=owner_of(pod))
        self.coming.clear()

    def _start(self, pod: Pod, creation: Creation) -> Placement:
        if not creation.is_allowed(pod):
            why, refused = creation.why_not(pod), creation.refusal(pod)
            state, fix = PodState.NOT_TRIED, creation.help(pod)
            return Placement(pod.key, "", state, message=why, refused=refused, fix=fix, names_node=True)
        if fault := self._refusal(pod):
            return not_running(pod, fault)
        if fault := awaited_claims(pod, self._cluster_state.objects.get):
            self._tell(WatchEvent(EventType.ADDED, "Pod", pod))  # it has its room on the node
            return not_running(pod, fault)
        self._tell(WatchEvent(EventType.ADDED, "Pod", _started(pod)))
        return Placement(pod.key, "", PodState.SCHEDULED, pod.node_name, message=UNSEEN, names_node=True)

    def _refusal(self, pod: Pod) -> str:
        """Why no kubelet takes a pod on the node that it names; empty if one does."""
        if fault := node_refusal(pod, self._cluster_state.objects.get):
            return fault
        there = self._cluster_state.snapshot().node_info(pod.node_name)
        fault = no_room(pod.requests, there.allocatable, {**there.requested, "pods": len(there.pods)})
        return rejected_by(there.node, fault) if fault else ""


def not_running(pod: Pod, fault: str, owner: str = "") -> Placement:
    """The outcome of a pod that names its node and does not start there."""
    message = f"{UNSEEN}; {fault}"
    return Placement(pod.key, "", PodState.UNSCHEDULABLE, message=message, owner=owner, names_node=True)


def _started(pod: Pod) -> Pod:
    """The pod as its kubelet has started it: a disruption budget that selects it is asked before its eviction."""
    return edited(pod, status=msgspec.structs.replace(pod.status, phase="Running"))
