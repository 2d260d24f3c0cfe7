"""kube-scheduler v1.36 NodeName."""

from tests.reference.framework import Plugin, Status


class NodeName(Plugin):
    """spec.nodeName, when set, names the only node (a pending pod has none)."""

    name = "NodeName"

    def filter(self, pod: dict, node) -> Status | None:
        if (pod["spec"].get("nodeName") or node.name) != node.name:
            return self.unresolvable("node(s) didn't match the requested node name")
        return None
