"""The record of an explanation: every plugin's verdict on every node, and the resulting decision."""

import logging
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import Pod
from kubesched.explanation.fix import Fix
from kubesched.explanation.hooks import PRE_ENQUEUE, HookAnswer, gated_words
from kubesched.explanation.unscheduled import Ended
from kubesched.framework import (
    Code,
    CycleState,
    Diagnosis,
    FilterResult,
    Plugin,
    PluginFault,
    RowStatuses,
    Scores,
    Status,
    rejection_details,
)
from kubesched.scheduler import ExtenderAnswer
from kubesched.shown import Shown, data_frame
from kubesched.state import NodeInfo, Nodes, PodBatch, PodInfo, Snapshot

if TYPE_CHECKING:
    import pandas as pd

_LOG: Final = logging.getLogger("kubesched.plugin")
BoolVector = npt.NDArray[np.bool_]
_NOBODY: Final[Mapping[int, list[PodInfo]]] = {}


class PluginVerdicts:
    """The verdicts of one Filter plugin, independent of the others.

    Args:
        plugin: the plugin; None for an extender, which has a name alone.
        state: what its PreFilter left.
    Attributes:
        plugin: its name.
        pre_filter: its PreFilter's rejection of the pod, which applies to every node; None for none.
        skipped: whether its PreFilter returned SKIP.
        node_names: the only nodes that its PreFilter thinks worth looking at; None for all.
        result: its filter's verdicts over all nodes; None where it was not asked.
        nominated: the pods that keep room on a node until they are there, by the position of the node.
    """

    def __init__(
        self,
        plugin: Plugin | None,
        state: CycleState,
        nodes: Nodes,
        name: str = "",
        nominated: Mapping[int, list[PodInfo]] = _NOBODY,
    ) -> None:
        self.plugin = name if plugin is None else plugin.name
        self.nominated = nominated
        self.nodes = nodes
        self._plugin = plugin
        self._faults: list[Status] = []
        self.state = state
        self.pre_filter: Status | None = None
        self.skipped = False
        self.node_names: frozenset[str] | None = None
        self.result: FilterResult | None = None

    @property
    def rejections(self) -> dict[str, Status]:
        """Node -> why its filter rejects it, in the snapshot's order, without PreFilter's rejection."""
        return {} if self.result is None else rejections_in(self.result)

    @property
    def n_left_out(self) -> int:
        """How many nodes its PreFilter thinks not worth looking at."""
        return 0 if self.node_names is None else sum(name not in self.node_names for name in self.nodes.names)

    @cached_property
    def _statuses(self) -> RowStatuses | None:
        return None if self.result is None else self.result.statuses()

    @cached_property
    def rejected(self) -> BoolVector:
        """(nodes,) bool: nodes that the plugin keeps the pod from, by PreFilter or Filter."""
        if self.pre_filter is not None:
            return np.ones(len(self.nodes), dtype=np.bool_)
        rejected = np.zeros(len(self.nodes), dtype=np.bool_)
        if self.result is not None:
            rejected |= ~self.result.fits
        if self.node_names is not None:
            rejected |= np.array([name not in self.node_names for name in self.nodes.names], dtype=np.bool_)
        return rejected

    @property
    def rejected_for_good(self) -> BoolVector:
        """(nodes,) bool: those of them that stay rejected whatever pods leave."""
        if self.pre_filter is not None:
            return np.full(len(self.nodes), self.pre_filter.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        rejected = self.rejected
        if self.result is None or self._statuses is None:
            return rejected
        rejected = rejected & self.result.fits
        rejected[self._statuses.with_code(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)] = True
        return rejected

    def status_of(self, position: int) -> Status:
        """The plugin's verdict on one node; SUCCESS where it has no objection."""
        if self.pre_filter is not None:
            return self.pre_filter
        if self._statuses is not None and self._statuses.index[position]:
            return self._statuses[position]
        if self.node_names is not None and self.nodes.name(position) not in self.node_names:
            return Status.unresolvable(f"node(s) didn't satisfy plugin {self.plugin}").by(self.plugin)
        return Status.SUCCESS

    def details(self, position: int) -> tuple[str, ...]:
        """The details of its filter's rejection of one node; empty where the reasons are complete.

        If explain_rejection fails, the reasons have to do, and a warning is logged, once for all nodes with this fault.
        """
        if self.pre_filter is not None or self._plugin is None:
            return ()
        there = self.nominated.get(position, [])
        node, status = _with(self.nodes, position, there), self.status_of(position)
        try:
            details = rejection_details(self._plugin, self.state, self.state.pod.pod, node, status)
            kept = f"room is kept for {', '.join(info.pod.key for info in there)} (nominated)"
            return (*details, kept) if there and status.code is not Code.ERROR else details
        except PluginFault as fault:
            if fault.status not in self._faults:
                self._faults.append(fault.status)
                _LOG.warning("%s; the reasons are shown without details", fault.status.located)
            return ()


def _with(nodes: Nodes, position: int, pods: list[PodInfo]) -> NodeInfo:
    """A node, on which some pods are put if there are any."""
    if not pods:
        return nodes[position]
    table = nodes.select(np.array([position], dtype=np.intp)).copy()
    table.add(np.zeros(len(pods), dtype=np.intp), PodBatch(pods))
    return table[0]


class Preemption(msgspec.Struct, frozen=True, eq=False):
    """What PostFilter plugins would do for a pod that fits nowhere.

    Attributes:
        node_name: where room would be made; empty for nowhere.
        victims: the pods that would be deleted there, most important first.
        n_pdb_violations: how many of them a disruption budget protects.
        message: what the plugins say.
        said: the words of DefaultPreemption and DynamicResources alone.
        broken: `namespace/name` of the disruption budgets that these evictions break. There may be none although some
            victims are protected: preemption counts the pods that it puts back, too.
    """

    node_name: str
    victims: tuple[PodInfo, ...]
    n_pdb_violations: int
    message: str
    broken: tuple[str, ...] = ()
    said: str = ""


class Explanation(Shown, msgspec.Struct, eq=False, dict=True):
    """One pod against one cluster.

    Attributes:
        info: the pod with its parts.
        profile: the scheduler name that serves it.
        snapshot: the cluster without the pod.
        by_plugin: the verdicts of each Filter plugin, in the order in which filters run; then those of extenders, under
            `extender` and the urlPrefix.
        diagnosis: why the nodes do not fit.
        scores: of the feasible nodes; None when there are none, or when scoring failed.
        failure: the fault of a plugin, which ends the pod's attempt as SchedulerError; None for none.
        preemption: what PostFilter would do; None when the pod fits, a plugin failed, or without `preempt`.
        extenders: what the extenders said, in the order of the calls.
        held_back: why kube-scheduler would not try the pod now; empty when it would.
        hooks: what PreEnqueue, PostFilter, Reserve and Permit plugins answered, apart from SUCCESS. Reserve and Permit
            are asked about the best node; DefaultPreemption's answer is `preemption`.
        compares: whether a plugin or an extender scores; without any, kube-scheduler takes the first node that fits.
        ended: how the pod has ended; nothing is evaluated for it. None for a pod that has not.
        hangs: why a pod that names its node does not start there; empty where nothing is known to prevent it.
        refused: why the API server does not create the pod; it is explained as if it were created. Empty if it does.
        runs_on: the node that the pod is on; it was explained as if it were not there yet. Empty for a pending pod.
        notes: what plugins say about their data, by plugin.
        fixes: what makes it fit, best first, as `Explainer.fixes` finds it; empty until that was asked.
        fix_fault: the first fault of a plugin that was met while they were tried; None for none.

    Example:
        explanation = explain(load_snapshot("cluster.json"), "shop/web-7")
        assert explanation.fits and explanation.best == ["n1", "n2"]
        print({name: len(verdicts.rejections) for name, verdicts in explanation.by_plugin.items()})
    """

    info: PodInfo
    profile: str
    snapshot: Snapshot
    diagnosis: Diagnosis
    by_plugin: dict[str, PluginVerdicts] = {}
    scores: Scores | None = None
    failure: Status | None = None
    preemption: Preemption | None = None
    extenders: list[ExtenderAnswer] = []
    held_back: str = ""
    hooks: list[HookAnswer] = []
    compares: bool = True
    runs_on: str = ""
    notes: dict[str, tuple[str, ...]] = {}
    ended: Ended | None = None
    hangs: str = ""
    refused: str = ""
    fixes: tuple[Fix, ...] = ()
    fix_fault: Status | None = None

    @property
    def result(self) -> FilterResult | None:
        """The verdicts of the whole profile on the nodes that PreFilter left; None when it ended the search."""
        return self.diagnosis.result

    @property
    def pod(self) -> Pod:
        """The pod, as it was explained."""
        return self.info.pod

    @property
    def nodes(self) -> Nodes:
        """The table of all nodes, in the snapshot's order."""
        return self.snapshot.nodes

    @property
    def fits(self) -> bool:
        """Whether some node passes every filter."""
        return self.result is not None and bool(self.result.fits.any())

    @property
    def held_back_words(self) -> str:
        """Why kube-scheduler would not try the pod now, with the plugin that gates it; empty when it would."""
        return self.held_back if self.gate is None else gated_words(self.gate)

    @property
    def gate(self) -> HookAnswer | None:
        """The PreEnqueue plugin that keeps the pod out of the queue; None for none."""
        return next((one for one in self.hooks if one.point == PRE_ENQUEUE), None)

    @property
    def turned_down(self) -> HookAnswer | None:
        """The Reserve or Permit plugin that rejects the pod on the best node; None for none."""
        return next((one for one in self.hooks if one.node and one.is_rejection), None)

    @property
    def undecided(self) -> str:
        """Why kubesched cannot decide about the pod, while kube-scheduler can; empty where it decides."""
        status = self.diagnosis.undecided
        return "" if status is None else status.message

    @property
    def message(self) -> str:
        """The FitError text when no node fits, with a fault as the rejection of its node; else why it is not placed.

        It is what the recorded evaluations have, which look at every node by itself. An attempt ends with `failure`.
        Empty if kubesched cannot decide about the pod: then nothing says that no node fits.
        """
        if self.ended is not None or self.undecided:
            return ""
        if not self.fits:
            return self.diagnosis.message
        if self.turned_down is not None:
            return self.turned_down.status.message
        return self.failure.message if self.scores is None and self.failure is not None else ""

    @cached_property
    def rejections(self) -> dict[str, Status]:
        """Node -> the first rejection of the whole profile, in the snapshot's order.

        Nodes that pass are left out, and so are nodes that PreFilter left out.
        """
        return {} if self.result is None else rejections_in(self.result)

    @cached_property
    def feasible(self) -> list[str]:
        """The nodes that pass everything, in the snapshot's order."""
        if self.result is None:
            return []
        names = self.result.nodes.names
        return [names[position] for position in np.flatnonzero(self.result.fits).tolist()]

    @cached_property
    def best(self) -> list[str]:
        """The nodes with the highest total, in the snapshot's order."""
        if self.scores is None:
            return []
        total = self.scores.total
        return [self.scores.nodes.name(position) for position in np.flatnonzero(total == total.max()).tolist()]

    def scores_frame(self) -> "pd.DataFrame":
        """The weighted scores as a DataFrame, a row for each feasible node, the best first; `node` is the index.

        Columns: each plugin that scored, in the order of the profile, and `total`. Nodes with equal totals are in the
        snapshot's order. The frame has no rows if no node was scored.

        Raises:
            InputError: pandas is not installed.
        """
        if self.scores is None:
            return data_frame({"node": [], "total": []}, "node")
        columns = {name: self.scores.of(name).tolist() for name in self.scores.by_plugin}
        columns |= {"node": self.scores.nodes.names, "total": self.scores.total.tolist()}
        return data_frame(columns, "node").sort_values("total", ascending=False, kind="stable")


def rejections_in(result: FilterResult) -> dict[str, Status]:
    """Node -> its first rejection, in the order of the table."""
    statuses, names = result.statuses(), result.nodes.names
    positions = np.flatnonzero(statuses.index)
    numbers = zip(positions.tolist(), statuses.index[positions].tolist(), strict=True)
    return {names[position]: statuses.distinct[number] for position, number in numbers}
