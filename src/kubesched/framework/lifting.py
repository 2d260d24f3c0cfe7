"""Runs rules written per node over the rows of a table, as if they were written over columns."""

import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.fault_texts import answer_text, fault_text
from kubesched.framework.plugin import Plugin
from kubesched.framework.status import HOOK_FAULTS, Code, Status
from kubesched.framework.verdicts import Verdicts
from kubesched.state import NodeInfo, Nodes

_INT64 = 2**63


def lifted_filter(plugin: Plugin, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
    """Ask `filter` of every row. Where it raises, or returns something that is not a verdict, the row has an Error."""
    values = np.zeros(len(nodes), dtype=np.int32)
    numbers: dict[Status, int] = {}
    node = NodeInfo(nodes, 0)
    ask, checkpoint = plugin.filter, state.checkpoint
    for position in range(len(nodes)):
        node._move_to(position)
        try:
            status = ask(state, pod, node)
            if status is not Status.SUCCESS:
                status = _rejection(status)
        except HOOK_FAULTS as error:
            status = Status.error(fault_text(error, ask))
        if status is not Status.SUCCESS:
            values[position] = numbers.setdefault(status, len(numbers) + 1)
        if checkpoint is not None:  # after each row, because the next one may take long
            checkpoint(plugin.name)
    return Verdicts(values, list(numbers))


def _rejection(answer: object) -> Status:
    if isinstance(answer, Status) and (answer.is_rejected or answer.code is Code.ERROR):
        return answer
    raise TypeError(f"filter must return Status.SUCCESS or a rejection; found {answer_text(answer)}")


def lifted_score(plugin: Plugin, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
    """Ask `score` of every row.

    Raises:
        TypeError: the hook returned something that is not an int64.
    """
    scores = []
    node = NodeInfo(nodes, 0)
    ask, checkpoint = plugin.score, state.checkpoint
    for position in range(len(nodes)):
        node._move_to(position)
        scores.append(_int64(ask(state, pod, node)))
        if checkpoint is not None:
            checkpoint(plugin.name)
    return np.array(scores, dtype=np.int64)


def _int64(answer: object) -> int:
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool) and -_INT64 <= int(answer) < _INT64:
        return int(answer)
    raise TypeError(f"score must return an int64; found {answer_text(answer)}")
