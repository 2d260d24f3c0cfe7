"""Moves pods on a copy of some rows, and runs the filters on it."""

from collections.abc import Callable

from kubesched.api import Pod
from kubesched.engine import BoolVector
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.verdicts import FilterResult, PodChanges
from kubesched.state import Nodes, PodBatch, Rows, WhatIfNodes


class MovedPods:
    """Some rows of the cluster with pods moved onto and off them, and the verdicts of the filters then.

    Args:
        ask: runs the filters.
        tell: notifies the plugins that pods were added (True) or removed (False).
        state: of the cycle; it is copied.
        nodes: the rows; they are copied.

    Attributes:
        nodes: the copy; its positions are those of the table that it was made from.

    Example:
        with FakeCluster(nodes=[make_node("n1")], pods=[make_pod("web", node="n1")]) as cluster:
            state = CycleState(cluster.cluster_state.pod_info(make_pod("new")))
            what_if = cluster.handle.what_if(state, state.pod.pod, cluster.nodes)
            what_if.remove(np.array([0]), PodBatch(cluster.nodes.pods(0)))
            assert what_if.fits().all() and not what_if.nodes.pods(0)
    """

    __slots__ = ("_ask", "_pod", "_state", "_tell", "nodes")

    def __init__(
        self,
        ask: Callable[[CycleState, Pod, Nodes], FilterResult],
        tell: Callable[[CycleState, Pod, PodChanges, bool], None],
        state: CycleState,
        pod: Pod,
        nodes: Nodes,
    ) -> None:
        self._ask = ask
        self._tell = tell
        self._state = state.clone()
        self._pod = pod
        self.nodes: WhatIfNodes = nodes.copy()

    def add(self, positions: Rows, pods: PodBatch) -> None:
        """Put the i-th pod on the node at positions[i].

        Raises:
            PluginFault: a plugin failed; the table is not usable any more.
        """
        self.nodes.add(positions, pods)
        self._tell(self._state, self._pod, PodChanges(self.nodes, positions, pods), True)

    def remove(self, positions: Rows, pods: PodBatch) -> None:
        """Take the i-th pod off the node at positions[i].

        Raises:
            PluginFault: as from add.
        """
        self.nodes.remove(positions, pods)
        self._tell(self._state, self._pod, PodChanges(self.nodes, positions, pods), False)

    def filter(self) -> FilterResult:
        """The current verdicts of the filters on every row."""
        return self._ask(self._state, self._pod, self.nodes)

    def fits(self) -> BoolVector:
        """(rows,) whether each row passes now."""
        return self.filter().fits
