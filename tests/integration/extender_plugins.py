"""Plugins for the extender's integration tests, small enough to say what must happen by looking."""

from collections.abc import Mapping
from typing import Any

from kubesched import CycleState, NodeInfo, Nodes, Plugin, Pod, PodInfo, PreFilterResult, Status


class OddNodes(Plugin):
    """Keeps nodes whose name ends in an odd number."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        if int(node.name.rpartition("-")[2]) % 2:
            return Status.SUCCESS
        return Status.unschedulable("node number is even")


class ZoneB(Plugin):
    """Prefers one zone."""

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return 100 if node.labels.get("topology.kubernetes.io/zone") == "b" else 0


class KeepPrecious(Plugin):
    """Strikes nodes from preemption where a precious pod would have to go."""

    def preempt(
        self, state: CycleState, pod: Pod, victims_by_node: Mapping[str, tuple[PodInfo, ...]]
    ) -> Mapping[str, Any]:
        return {
            name: victims
            for name, victims in victims_by_node.items()
            if not any("precious" in victim.pod.labels for victim in victims)
        }


class OneDevice(Plugin):
    """Each node has one device; the binding says which one a pod got."""

    def __init__(self, args: Any = None) -> None:
        super().__init__(args)
        self.taken: dict[str, str] = {}

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status | PreFilterResult:
        return Status.SUCCESS

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        if self.taken.setdefault(node_name, pod.uid) != pod.uid:
            return Status.unschedulable("the device is taken")
        state.binding.annotations["example.com/device"] = f"{node_name}/0"
        return Status.SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        if self.taken.get(node_name) == pod.uid:
            del self.taken[node_name]
