"""What rules will say about each node when more pods of a kind are on it, computed for all nodes at once."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kubesched.engine import BoolVector, IntVector, are_within
from kubesched.framework.column_cache import MAX_SCORE, PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.hook_answers import as_scores, as_verdicts
from kubesched.state import Has, Nodes, PodBatch, PodInfo, WhatIfNodes

_MOST: Final = 4  # layers
_PATIENCE: Final = 8  # answers that were missing, until they are computed for all rows
_WORTH_IT: Final = 32  # rows asked for of those that a layer has


class RowsAhead:
    """The answers of some rules with one, two or more further pods on each row, all equal to one pod.

    A layer has the answers for one number of pods. It is made when several were asked for that are in none. Where that
    was not worth it, as where one pod after another comes to the same node, the next one is made later. There is none
    where a rule looks at single pods: those that come may differ in what it reads of them.

    Args:
        state: of the cycle of the pod.
    """

    _table: "_MorePods"  # this and the next one: from the first layer on
    _batch: PodBatch

    def __init__(
        self, filters: Sequence[PluginRule], scores: Sequence[PluginRule], state: CycleState, nodes: Nodes
    ) -> None:
        self._filters = filters
        self._scores = scores
        self._state = state
        self._nodes = nodes
        self._axis = nodes.columns.resources.log
        self._of_axis = self._axis.generation
        self._is_possible = True
        self._layers: list[_Layer] = []
        self._is_known = np.zeros(nodes.columns.capacity, dtype=np.bool_)
        self._n_came = np.zeros(nodes.columns.capacity, dtype=np.int64)
        self._n_missing = 0
        self._n_taken = _WORTH_IT
        self._patience = _PATIENCE

    def is_about(self, came: PodInfo) -> bool:
        """Whether a pod that has come to a row holds there what the pods hold that are looked at in advance."""
        pod = self._state.pod
        return came.requests is pod.requests and came.ports is pod.ports

    def changed(self, rows: Sequence[int]) -> None:
        """Note that something else has changed on some rows than that such a pod came."""
        self._is_known[rows] = False

    def take(self, row: int) -> list[int] | None:
        """The scores of a row to which one more pod has come; None where the rules have to be asked.

        Raises:
            Exception: a rule failed.
        """
        if self._of_axis != self._axis.generation:  # rules may look at other resources than they did
            self._of_axis = self._axis.generation
            self._is_known[:] = False
        n_came = self._n_came.item(row)
        if not self._is_known[row] or n_came >= len(self._layers):
            if self._is_possible:
                self._miss(row)
            return None
        self._n_came[row] = n_came + 1
        self._n_taken += 1
        layer = self._layers[n_came]
        return [values.item(row) for values in layer.scores] if layer.fits.item(row) else None

    def _miss(self, row: int) -> None:
        self._n_came[row] += 1
        self._n_missing += 1
        if self._n_missing < self._patience:
            return
        if self._n_taken < _WORTH_IT:
            self._patience *= 2
        self._n_missing = self._n_taken = 0
        if not self._is_known[row] or len(self._layers) == _MOST:
            self._begin()
        self._add_layer()

    def _begin(self) -> None:
        """Copy the rows as they are now."""
        self._layers.clear()
        self._table = _MorePods(self._nodes)
        self._batch = PodBatch.repeated(self._state.pod, self._nodes.n, self._nodes.columns.resources)
        self._n_came[:] = 0
        self._is_known[self._nodes.all_rows] = True

    def _add_layer(self) -> None:
        """Have one more pod come to each node, and ask the rules about the next one."""
        state, table, rows = self._state, self._table, self._nodes.all_rows
        pod, capacity = state.pod.pod, len(self._is_known)
        table.add(np.arange(table.n), self._batch)
        fits, scores = np.zeros(capacity, dtype=np.bool_), []
        fits[rows] = True
        for plugin in (rule.plugin for rule in self._filters):
            verdicts = as_verdicts(plugin, plugin.filter_nodes(state, pod, table), table.n)
            verdicts.check()
            self._is_possible &= not verdicts.may_fail
            fits[rows] &= verdicts.values == 0
        for plugin in (rule.plugin for rule in self._scores):
            answer = as_scores(plugin, plugin.score_nodes(state, pod, table), table.n)
            if not are_within(answer, 0, MAX_SCORE):
                self._is_possible = False
                break
            values = np.zeros(capacity, dtype=np.int8)
            values[rows] = answer
            scores.append(values)
        self._layers.append(_Layer(fits, scores))
        self._is_possible &= not table.is_searched
        if not self._is_possible:
            self._layers.clear()


class _Layer(NamedTuple):
    """The answers with one number of further pods: (rows,) whether all filters let a row through, and the scores."""

    fits: BoolVector
    scores: list[npt.NDArray[np.int8]]


class _MorePods(WhatIfNodes):
    """A copy of all nodes for more pods, which notes whether a rule looks at single pods.

    Attributes:
        is_searched: whether one may have: it asked for the pods of a node, or for a copy or a part of the table.
    """

    def __init__(self, source: Nodes) -> None:
        super().__init__(source)
        self.is_searched = False

    def pods(self, position: int) -> Sequence[PodInfo]:
        self.is_searched = True
        return super().pods(position)

    def in_doubt(self, trait: Has, rejected: BoolVector) -> Mapping[int, Sequence[PodInfo]]:
        self.is_searched = True
        return super().in_doubt(trait, rejected)

    def select(self, positions: npt.NDArray[np.intp]) -> WhatIfNodes:
        self.is_searched = True
        return super().select(positions)

    def copy(self) -> WhatIfNodes:
        self.is_searched = True
        return super().copy()

    @property
    def moved_volumes(self) -> IntVector:
        self.is_searched = True
        return super().moved_volumes
