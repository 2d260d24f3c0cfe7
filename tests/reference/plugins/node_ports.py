"""kube-scheduler v1.36 NodePorts."""

from tests.reference import objects
from tests.reference.framework import SKIP, Plugin, PreFilter, Status

ANY = "0.0.0.0"


class NodePorts(Plugin):
    """A host port can be held once per address and protocol; 0.0.0.0 is every address."""

    name = "NodePorts"

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        return PreFilter() if objects.host_ports(pod) else SKIP

    def filter(self, pod: dict, node) -> Status | None:
        if any(conflict(wanted, used) for wanted in objects.host_ports(pod) for used in node.used_ports):
            return self.unschedulable("node(s) didn't have free ports for the requested pod ports")
        return None


def conflict(a: tuple[str, str, int], b: tuple[str, str, int]) -> bool:
    return a[1:] == b[1:] and (a[0] == b[0] or ANY in (a[0], b[0]))
