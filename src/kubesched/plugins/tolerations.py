"""Which taints a pod tolerates, and which nodes' taints keep it away.

Distinct taint lists are few, so each is judged once per distinct list of tolerations; a column is a look-up. Rule:
kube-scheduler v1.36 Toleration.ToleratesTaint and FindMatchingUntoleratedTaint; TaintTolerationComparisonOperators
off, so that the operators Lt and Gt tolerate nothing.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from kubesched.api import Taint, Toleration
from kubesched.engine import BoolVector, IntVector
from kubesched.state import Nodes, Part

__all__ = [
    "JudgedTaints",
    "has_untolerated_taint",
    "is_tolerated",
    "judged_taints",
    "untolerated_taints",
    "without_untolerated_taint",
]

_KEEPS_AWAY: Final = ("NoSchedule", "NoExecute")
_UNWANTED: Final = "PreferNoSchedule"


def is_tolerated(taint: Taint, tolerations: Sequence[Toleration]) -> bool:
    """Whether one of the tolerations tolerates the taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def untolerated_taints(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> list[Taint]:
    """The NoSchedule and NoExecute taints that keep pods with these tolerations away."""
    return [taint for taint in taints if taint.effect in _KEEPS_AWAY and not is_tolerated(taint, tolerations)]


def has_untolerated_taint(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> bool:
    """Whether there is one."""
    return bool(untolerated_taints(taints, tolerations))


def without_untolerated_taint(nodes: Nodes, tolerations: Part[tuple[Toleration, ...]]) -> BoolVector:
    """(nodes,) bool: nodes from which no NoSchedule or NoExecute taint keeps the pod away."""
    return ~judged_taints(nodes, tolerations).keep_away[nodes.taint_ids]


class JudgedTaints:
    """What one list of tolerations makes of every distinct taint list.

    Attributes:
        keep_away: (taint lists,) bool: the list has a NoSchedule or NoExecute taint that is not tolerated.
        n_unwanted: (taint lists,) int64: PreferNoSchedule taints that are not tolerated.
    """

    __slots__ = ("_tolerations", "keep_away", "n_unwanted")

    def __init__(self, tolerations: tuple[Toleration, ...]) -> None:
        self._tolerations = tolerations
        self.keep_away: BoolVector = np.zeros(0, dtype=np.bool_)
        self.n_unwanted: IntVector = np.zeros(0, dtype=np.int64)

    def extend(self, taint_lists: Sequence[tuple[Taint, ...]]) -> None:
        """Judge the lists that are new since the last time; a list keeps its number for good."""
        new = taint_lists[len(self.keep_away) :]
        keep_away = [has_untolerated_taint(taints, self._tolerations) for taints in new]
        n_unwanted = [self._count_unwanted(taints) for taints in new]
        self.keep_away = np.append(self.keep_away, np.array(keep_away, dtype=np.bool_))
        self.n_unwanted = np.append(self.n_unwanted, np.array(n_unwanted, dtype=np.int64))

    def _count_unwanted(self, taints: tuple[Taint, ...]) -> int:
        return sum(taint.effect == _UNWANTED and not is_tolerated(taint, self._tolerations) for taint in taints)


def judged_taints(nodes: Nodes, tolerations: Part[tuple[Toleration, ...]]) -> JudgedTaints:
    """The judgement of every taint list that the table's cluster has; index it with `nodes.taint_ids`."""
    judged: JudgedTaints | None = tolerations.compiled.get(JudgedTaints)
    if judged is None:
        judged = tolerations.compiled[JudgedTaints] = JudgedTaints(tolerations.value)
    taint_lists = nodes.columns.taint_lists.values
    if len(judged.keep_away) < len(taint_lists):
        judged.extend(taint_lists)
    return judged


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if (toleration.effect and toleration.effect != taint.effect) or (toleration.key and toleration.key != taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value
