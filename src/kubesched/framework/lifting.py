"""Rules written per node, run over the rows of a table as if they had been written over columns."""

from collections.abc import Iterator

import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.plugin import Plugin
from kubesched.framework.status import Code, Status
from kubesched.framework.verdicts import Verdicts
from kubesched.state import NodeInfo, Nodes

__all__ = ["lifted_filter", "lifted_score"]

_INT64 = 2**63
_ROWS_BETWEEN_LOOKS = 256
"""Rows between two looks at the clock."""


def lifted_filter(plugin: Plugin, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
    """Ask `filter` of every row.

    Raises:
        TypeError: the hook returned something that is no verdict.
    """
    values = np.zeros(len(nodes), dtype=np.int32)
    numbers: dict[Status, int] = {}
    node = NodeInfo(nodes, 0)
    ask = plugin.filter
    for rows in _portions(state, len(nodes)):
        for position in rows:
            node._move_to(position)
            status = ask(state, pod, node)
            if status is Status.SUCCESS:
                continue
            values[position] = numbers.setdefault(_rejection(status), len(numbers) + 1)
    return Verdicts(values, list(numbers))


def _portions(state: CycleState, n_rows: int) -> Iterator[range]:
    """All rows; where somebody waits, in portions with a look at the clock before each."""
    if state.checkpoint is None:
        yield range(n_rows)
        return
    for start in range(0, n_rows, _ROWS_BETWEEN_LOOKS):
        state.checkpoint()
        yield range(start, min(start + _ROWS_BETWEEN_LOOKS, n_rows))


def _rejection(answer: object) -> Status:
    if isinstance(answer, Status) and (answer.is_rejected or answer.code is Code.ERROR):
        return answer
    raise TypeError(f"filter must return Status.SUCCESS or a rejection; found {answer!r:.80}")


def lifted_score(plugin: Plugin, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
    """Ask `score` of every row.

    Raises:
        TypeError: the hook returned something that is no int64.
    """
    scores = []
    node = NodeInfo(nodes, 0)
    ask = plugin.score
    for rows in _portions(state, len(nodes)):
        for position in rows:
            node._move_to(position)
            scores.append(_int64(ask(state, pod, node)))
    return np.array(scores, dtype=np.int64)


def _int64(answer: object) -> int:
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool) and -_INT64 <= int(answer) < _INT64:
        return int(answer)
    raise TypeError(f"score must return an int64; found {answer!r:.80}")
