"""Every node passes, none is better, preemption may do as it likes: a first extender, to see the wiring at work."""

from collections.abc import Mapping

from kubesched import CycleState, NodeInfo, Plugin, Pod, PodInfo, Status

Victims = Mapping[str, tuple[PodInfo, ...]]


class AlwaysTrue(Plugin):
    """Let every node pass, and leave every plan of preemption as it is."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return Status.SUCCESS

    def preempt(self, state: CycleState, pod: Pod, victims_by_node: Victims) -> Victims:
        return victims_by_node


class ZeroScore(Plugin):
    """Prefer no node."""

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return 0
