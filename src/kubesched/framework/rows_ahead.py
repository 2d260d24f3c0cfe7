"""What rules will say about each node when more pods of a kind are on it, computed for all nodes at once."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kubesched.framework.column_cache import KeptColumn, PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.hook_answers import as_scores, as_verdicts
from kubesched.state import Nodes, PodBatch

_MOST: Final = 4  # layers
_PATIENCE: Final = 8  # answers that were missing, until they are computed for all rows
_WORTH_IT: Final = 32  # rows asked for of those that a layer has


class RowsAhead:
    """The answers of some rules with one, two or more further pods on each row, all equal to one pod.

    A layer has the answers for one number of pods. It is made when several were asked for that are in none. Where that
    was not worth it, as where one pod after another comes to the same node, the next one is made later.

    Args:
        state: of the cycle of the pod.
    """

    def __init__(self, rules: Sequence[PluginRule], state: CycleState, nodes: Nodes) -> None:
        self._rules = rules
        self._state = state
        self._nodes = nodes
        self._batch = PodBatch.repeated(state.pod, nodes.n, nodes.columns.resources)
        self._table = nodes.copy()
        self._layers: list[list[npt.NDArray[Any]]] = []
        self._is_known = np.zeros(nodes.columns.capacity, dtype=np.bool_)
        self._n_came = np.zeros(nodes.columns.capacity, dtype=np.int64)
        self._n_missing = 0
        self._n_taken = _WORTH_IT
        self._patience = _PATIENCE

    def changed(self, rows: Sequence[int]) -> None:
        """Note that something else has changed on some rows than that such a pod came."""
        self._is_known[rows] = False

    def take(self, row: int, columns: Sequence[KeptColumn]) -> bool:
        """Bring columns up to date where one more pod has come to a row; false where the rules have to be asked.

        Args:
            columns: those of the rules.
        Raises:
            Exception: a rule failed.
        """
        n_came = self._n_came.item(row)
        if not self._is_known[row] or n_came >= len(self._layers):
            self._miss(row)
            return False
        self._n_came[row] = n_came + 1
        self._n_taken += 1
        for values, column in zip(self._layers[n_came], columns, strict=True):
            column.set(row, values.item(row))
        return True

    def _miss(self, row: int) -> None:
        self._n_came[row] += 1
        self._n_missing += 1
        if self._n_missing < self._patience:
            return
        if self._n_taken < _WORTH_IT:
            self._patience *= 2
        self._n_missing = self._n_taken = 0
        if not self._is_known[row] or len(self._layers) == _MOST:
            self._layers.clear()
            self._table = self._nodes.copy()
            self._n_came[:] = 0
            self._is_known[self._nodes.all_rows] = True
        self._add_layer()

    def _add_layer(self) -> None:
        """Have one more pod come to each node, and ask the rules about the next one."""
        state, table, rows = self._state, self._table, self._nodes.all_rows
        pod = state.pod.pod
        table.add(np.arange(table.n), self._batch)
        layer = []
        for rule in self._rules:
            plugin = rule.plugin
            if rule.is_filter:
                answer = as_verdicts(plugin, plugin.filter_nodes(state, pod, table), table.n).values
            else:
                answer = as_scores(plugin, plugin.score_nodes(state, pod, table), table.n)
            small = _small(answer)
            values = np.zeros(len(self._is_known), dtype=small.dtype)
            values[rows] = small
            layer.append(values)
        self._layers.append(layer)


def _small(answer: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same integers in a byte each, if that holds them, as it does for scores."""
    fits = len(answer) == 0 or (answer.min() >= -128 and answer.max() <= 127)
    return answer.astype(np.int8) if fits else answer
