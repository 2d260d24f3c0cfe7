"""Some nodes are lucky for a pod and some are not, and some are luckier than others.

The random numbers depend on the pod's uid and the node's name, so that repeated calls get the same answer.
kube-scheduler repeats calls: first for the nominated node of a preempting pod, then for all nodes; at every retry; and
to a second replica, or to the same one after a restart. With new random numbers a node would pass in one call and fail
in the next, pods would wait without a visible reason, and a recording could not be replayed.
"""

from random import Random

from kubesched import CycleState, NodeInfo, Plugin, PluginArgs, Pod, Status


class Lucky(Plugin):
    """Let a share of the nodes pass and score the others by luck."""

    class Args(PluginArgs):
        percent: int = 50  # of all pairs of pod and node that are lucky

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        if draw("filter", pod, node) <= self.args.percent:
            return Status.SUCCESS
        return Status.unresolvable("node(s) were not lucky for the pod")

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return draw("score", pod, node)


def draw(what: str, pod: Pod, node: NodeInfo) -> int:
    """1 to 100, always the same for one pod and one node."""
    return Random(f"{what}/{pod.uid}/{node.name}").randint(1, 100)
