"""Rules written per node, run over the rows of a table as if they had been written over columns."""

import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.plugin import Plugin
from kubesched.framework.status import Status
from kubesched.framework.verdicts import Verdicts
from kubesched.state import NodeInfo, Nodes

__all__ = ["lifted_filter", "lifted_score"]

_INT64 = 2**63


def lifted_filter(plugin: Plugin, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
    """Ask `filter` of every row.

    Raises:
        TypeError: the hook returned something that is no verdict.
    """
    values = np.zeros(len(nodes), dtype=np.int32)
    numbers: dict[Status, int] = {}
    node = NodeInfo(nodes, 0)
    ask = plugin.filter
    for position in range(len(nodes)):
        node._move_to(position)
        status = ask(state, pod, node)
        if status is Status.SUCCESS:
            continue
        if not isinstance(status, Status) or status.is_skip:
            raise TypeError(f"filter must return Status.SUCCESS or a rejection; found {status!r:.80}")
        if not status.is_success:
            values[position] = numbers.setdefault(status, len(numbers) + 1)
    return Verdicts(values, list(numbers))


def lifted_score(plugin: Plugin, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
    """Ask `score` of every row.

    Raises:
        TypeError: the hook returned something that is no int64.
    """
    scores = []
    node = NodeInfo(nodes, 0)
    ask = plugin.score
    for position in range(len(nodes)):
        node._move_to(position)
        score = ask(state, pod, node)
        if type(score) is not int:
            if not isinstance(score, np.integer):
                raise TypeError(f"score must return an int; found {score!r:.80}")
            score = int(score)
        if not -_INT64 <= score < _INT64:
            raise TypeError(f"score must return an int64; found {score}")
        scores.append(score)
    return np.array(scores, dtype=np.int64)
