"""A plugin written node by node, as most people will write theirs: one filter, one score."""

from kubesched import CycleState, NodeInfo, Plugin, Pod, Status

ZONE = "topology.kubernetes.io/zone"
REJECTED = Status.unschedulable("node is in the last zone")


class FirstZones(Plugin):
    """Keep pods out of the last zone, and prefer the first one."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return REJECTED if node.labels.get(ZONE) == "z2" else Status.SUCCESS

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return 100 if node.labels.get(ZONE) == "z0" else 0
