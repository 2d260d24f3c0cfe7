"""A first extender, to try the wiring: every node passes, every score is 0, preemption plans do not change."""

from collections.abc import Mapping

from kubesched import CycleState, NodeInfo, Plugin, Pod, PodInfo, Status

Victims = Mapping[str, tuple[PodInfo, ...]]


class AlwaysTrue(Plugin):
    """Let every node pass, and do not change preemption plans."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return Status.SUCCESS

    def preempt(self, state: CycleState, pod: Pod, victims_by_node: Victims) -> Victims:
        return victims_by_node


class ZeroScore(Plugin):
    """Give every node the same score."""

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return 0
