"""kube-scheduler v1.36 NodeUnschedulable."""

from tests.reference import objects
from tests.reference.framework import Plugin, Status

TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


class NodeUnschedulable(Plugin):
    """A cordoned node is for pods that tolerate the taint of that name."""

    name = "NodeUnschedulable"

    def filter(self, pod: dict, node) -> Status | None:
        if node.unschedulable and not objects.is_tolerated(objects.tolerations_of(pod), TAINT):
            return self.unresolvable("node(s) were unschedulable")
        return None
