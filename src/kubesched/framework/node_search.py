"""Finds the nodes of a table on which a pod fits: PreFilter, the nodes that it leaves, Filter.

Scheduling cycles, explanations and the calls of an extender begin here. Whatever else may reject nodes, such as an
extender, comes between `filter` and scoring. Rule: kube-scheduler v1.36 findNodesThatFitPod.
"""

from typing import Final

import numpy as np

from kubesched.framework.cycle_state import CycleState
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.framework import Framework, PreFiltered
from kubesched.framework.status import Status
from kubesched.framework.verdicts import FilterResult
from kubesched.state import Nodes, Rows

_NOT_CHOSEN: Final = "node(s) didn't satisfy plugin(s) [{}]"


class NodeSearch:
    """The search for the nodes of one pod. Creating it asks PreFilter.

    Args:
        nodes: the nodes to search.
        is_whole: whether these are the whole snapshot, or much of it, so that kept columns serve.
    Attributes:
        status: SUCCESS, or PreFilter's rejection or fault, which ends the search.
        node_names: the only nodes that PreFilter plugins chose; None for all.
        positions: the rows of `nodes` to filter, ascending; None for all.
        table: these rows.
        is_whole: as given, and false for a table that PreFilter narrowed.
        diagnosis: why nodes do not fit, as far as PreFilter knows.
    """

    __slots__ = ("_framework", "_state", "diagnosis", "is_whole", "node_names", "positions", "status", "table")

    def __init__(self, framework: Framework, state: CycleState, nodes: Nodes, *, is_whole: bool = True) -> None:
        self._framework = framework
        self._state = state
        self.diagnosis = Diagnosis(nodes.n)
        self.positions: Rows | None = None
        self.table = nodes
        self.is_whole = is_whole
        before = framework.run_pre_filter(state, state.pod.pod, nodes)
        self.status = before.status
        self.node_names = before.node_names
        if not before.status.is_success:
            self._end(before)
        elif before.node_names is not None:
            self.diagnosis.unschedulable_plugins.update(before.narrowed_by)
            self.diagnosis.absent = Status.unresolvable(_NOT_CHOSEN.format(" ".join(sorted(before.narrowed_by))))
            positions = (nodes.position_of(name) for name in before.node_names)
            self._narrow(sorted(position for position in positions if position is not None))
            self.diagnosis.n_left_out = len(nodes) - len(self.table)

    def _end(self, before: PreFiltered) -> None:
        """PreFilter's rejection or fault applies to every node."""
        self._narrow([])
        diagnosis, status = self.diagnosis, before.status
        diagnosis.absent = status
        diagnosis.pre_filter_message = status.message
        if status.is_rejected:
            diagnosis.add_plugin(status)
            if not status.plugin:
                diagnosis.unschedulable_plugins.update(before.narrowed_by)

    def _narrow(self, positions: list[int]) -> None:
        self.positions = np.array(positions, dtype=np.intp)
        self.table = self.table.select(self.positions)
        self.is_whole = False

    @property
    def failure(self) -> Status | None:
        """The fault of a PreFilter plugin, which ends the pod's attempt; None for none."""
        return None if self.status.is_success or self.status.is_rejected else self.status

    def filter(self, table: Nodes | None = None, *, is_whole: bool = False) -> FilterResult:
        """Ask the filters about the nodes that PreFilter left, or about another table."""
        if table is None:
            table, is_whole = self.table, self.is_whole
        return self._framework.run_filter_with_nominated(self._state, self._state.pod.pod, table, is_whole=is_whole)

    def give_up(self, undecided: Status) -> None:
        """Note that kubesched cannot decide about the pod, whatever it said about single nodes."""
        self.diagnosis.explicit.clear()
        self._end(PreFiltered(undecided))

    def take_in(self, result: FilterResult) -> None:
        """Note in the diagnosis why the pod fits on none of the nodes."""
        self._framework.keep(result)
        self.diagnosis.take_in(result)


def find_feasible(framework: Framework, state: CycleState, nodes: Nodes) -> Diagnosis:
    """Search all nodes of a snapshot, and count the fault of a plugin as a rejection of the node.

    Returns: the diagnosis, with the verdicts of the filters; its `result` is None when PreFilter ended the search.
    Raises:
        DeadlineExceeded: the checkpoint of the state raised it.

    Example:
        with FakeCluster(nodes=[make_node("n1")]) as cluster:
            state = CycleState(cluster.cluster_state.pod_info(make_pod("web")))
            assert find_feasible(cluster.framework, state, cluster.nodes).result.fits.all()
    """
    search = NodeSearch(framework, state, nodes)
    if search.status.is_success:
        result = search.filter()
        if result.failure is None and result.undecided is not None:
            search.give_up(result.undecided)
        else:
            search.take_in(result)
    return search.diagnosis
