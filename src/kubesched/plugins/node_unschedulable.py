"""NodeUnschedulable: a cordoned node takes only pods that tolerate the taint of that name.

Rule: kube-scheduler v1.36 NodeUnschedulable.
"""

from collections.abc import Hashable, Iterator
from typing import Final

import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Node, Pod, Taint
from kubesched.engine import IntVector
from kubesched.framework import Codes, CycleState, DependsOn, EventRegistration, Plugin, QueueingHint, Status
from kubesched.plugins.shared_hints import by_own, nothing, queue_if, registration
from kubesched.plugins.tolerations import is_tolerated
from kubesched.state import NodeInfo, Nodes

_TAINT: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


class NodeUnschedulable(Plugin):
    """Keep pods off cordoned nodes."""

    depends_on = DependsOn.NODE
    equal_by = ("tolerations",)
    reasons = (Status.unresolvable("node(s) were unschedulable"),)

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """1 where the node is cordoned."""
        if is_tolerated(_TAINT, state.pod.tolerations.value):
            return np.zeros(len(nodes), dtype=np.int8)
        return nodes.unschedulable.astype(np.int8)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.tolerations

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterator[str]:
        """The node does not record who cordoned it."""
        yield "the node is cordoned"

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        return np.zeros(len(nodes), dtype=np.int64)

    def events_to_register(self) -> list[EventRegistration]:
        """A node comes or is uncordoned; the pod gets tolerations."""
        return [
            registration(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, _node_hint, nothing),
            by_own(ActionType.UPDATE_POD_TOLERATION, _pod_hint),
        ]


def _node_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, Node)
    was_closed = not isinstance(old, Node) or old.unschedulable
    return queue_if(was_closed and not new.unschedulable)


def _pod_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, Pod)
    return queue_if(new.uid == pod.uid and is_tolerated(_TAINT, new.tolerations))
