"""The verdicts of one Filter plugin on all nodes, independent of the others; and the plugin, which gives details."""

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import msgspec
import numpy as np

from kubesched.engine import BoolVector, IntVector
from kubesched.framework import (
    Code,
    CycleState,
    FilterResult,
    Plugin,
    PluginFault,
    Status,
    alike_rejections,
    rejection_details,
)
from kubesched.state import NodeInfo, Nodes, PodBatch, PodInfo

_LOG: Final = logging.getLogger("kubesched.plugin")


class PluginVerdicts(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The verdicts of one Filter plugin, or of an extender, on all nodes.

    Attributes:
        plugin: its name.
        names: of all nodes.
        pre_filter: its PreFilter's rejection of the pod, which applies to every node; None for none.
        skipped: whether its PreFilter returned SKIP.
        node_names: the only nodes that its PreFilter thinks worth looking at; None for all.
        distinct: the different verdicts of its filter; the first one is SUCCESS.
        index: (nodes,) which of them each node has; None where the filter was not asked.
    """

    plugin: str
    names: Sequence[str]
    pre_filter: Status | None = None
    skipped: bool = False
    node_names: frozenset[str] | None = None
    distinct: Sequence[Status] = ()
    index: IntVector | None = None

    @property
    def rejections(self) -> dict[str, Status]:
        """Node -> why its filter rejects it, in the snapshot's order, without PreFilter's rejection."""
        if self.index is None:
            return {}
        positions = np.flatnonzero(self.index).tolist()
        return {self.names[position]: self.distinct[int(self.index[position])] for position in positions}

    @property
    def n_left_out(self) -> int:
        """How many nodes its PreFilter thinks not worth looking at."""
        return int(np.count_nonzero(self._left_out))

    @cached_property
    def rejected(self) -> BoolVector:
        """(nodes,) bool: nodes that the plugin keeps the pod from, by PreFilter or Filter."""
        if self.pre_filter is not None:
            return np.ones(len(self.names), dtype=np.bool_)
        return self._left_out if self.index is None else self._left_out | (self.index > 0)

    @cached_property
    def rejected_for_good(self) -> BoolVector:
        """(nodes,) bool: those of them that stay rejected whatever pods leave."""
        if self.pre_filter is not None:
            return np.full(len(self.names), self.pre_filter.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        if self.index is None:
            return self._left_out
        for_good = np.array([one.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for one in self.distinct], dtype=np.bool_)
        rejected: BoolVector = (self._left_out & (self.index == 0)) | for_good[self.index]
        return rejected

    @cached_property
    def _left_out(self) -> BoolVector:
        if self.node_names is None:
            return np.zeros(len(self.names), dtype=np.bool_)
        return np.array([name not in self.node_names for name in self.names], dtype=np.bool_)

    @cached_property
    def kinds(self) -> IntVector:
        """(nodes,) which of `distinct` each node has; -1 where only PreFilter leaves it out."""
        index = np.zeros(len(self.names), dtype=np.int64) if self.index is None else self.index
        return np.where((index == 0) & self._left_out, -1, index)

    def status_of(self, position: int) -> Status:
        """The plugin's verdict on one node; SUCCESS where it has no objection."""
        if self.pre_filter is not None:
            return self.pre_filter
        if self.index is not None and self.index[position]:
            return self.distinct[int(self.index[position])]
        if self._left_out[position]:
            return Status.unresolvable(f"node(s) didn't satisfy plugin {self.plugin}").by(self.plugin)
        return Status.SUCCESS


def verdicts_of(
    plugin: str,
    names: Sequence[str],
    result: FilterResult | None = None,
    *,
    pre_filter: Status | None = None,
    skipped: bool = False,
    node_names: frozenset[str] | None = None,
) -> PluginVerdicts:
    """What a plugin makes of all nodes.

    Args:
        result: its filter's verdicts over all nodes; None where it was not asked.
    """
    if result is None:
        return PluginVerdicts(plugin, names, pre_filter, skipped, node_names)
    statuses = result.statuses()
    return PluginVerdicts(plugin, names, pre_filter, skipped, node_names, tuple(statuses.distinct), statuses.index)


class AskedPlugin:
    """A Filter plugin that was asked by itself. It gives details as long as the cluster is the same.

    Args:
        plugin: the plugin.
        state: what its PreFilter left.
        nodes: all nodes.
        nominated: the pods that keep room on a node until they are there, by the position of the node.
    """

    def __init__(self, plugin: Plugin, state: CycleState, nodes: Nodes, nominated: Mapping[int, list[PodInfo]]) -> None:
        self.state = state
        self.plugin, self._nodes, self._nominated = plugin, nodes, nominated
        self._faults: list[Status] = []

    def details(self, position: int, status: Status) -> tuple[str, ...]:
        """The details of its filter's rejection of one node; empty where the reasons are complete.

        If explain_rejection fails, the reasons have to do, and a warning is logged, once for all nodes with this fault.
        """
        there = self._nominated.get(position, [])
        node = _with(self._nodes, position, there)
        try:
            details = rejection_details(self.plugin, self.state, self.state.pod.pod, node, status)
            kept = f"room is kept for {', '.join(info.pod.key for info in there)} (nominated)"
            return (*details, kept) if there and status.code is not Code.ERROR else details
        except PluginFault as fault:
            self._note(fault, "the reasons are shown without details")
            return ()

    @cached_property
    def alike(self) -> IntVector:
        """(nodes,) numbers: nodes with the same one have the same details for the same rejection."""
        try:
            alike = alike_rejections(self.plugin, self.state, self.state.pod.pod, self._nodes)
        except PluginFault as fault:
            self._note(fault, "each node is explained by itself")
            return np.arange(len(self._nodes))
        if self._nominated:
            alike = alike.copy()
            alike[list(self._nominated)] = alike.max() + 1 + np.arange(len(self._nominated))
        return alike

    def _note(self, fault: PluginFault, then: str) -> None:
        if fault.status not in self._faults:
            self._faults.append(fault.status)
            _LOG.warning("%s; %s", fault.status.located, then)


def _with(nodes: Nodes, position: int, pods: list[PodInfo]) -> NodeInfo:
    """A node, on which some pods are put if there are any."""
    if not pods:
        return nodes[position]
    table = nodes.select(np.array([position], dtype=np.intp)).copy()
    table.add(np.zeros(len(pods), dtype=np.intp), PodBatch(pods))
    return table[0]
