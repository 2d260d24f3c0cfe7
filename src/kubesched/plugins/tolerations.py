"""Finds the taints that a pod tolerates, and the nodes whose taints it does not tolerate.

Distinct taint lists are few, so each is judged once per distinct list of tolerations; a column is a look-up. Rule:
kube-scheduler v1.36 Toleration.ToleratesTaint and FindMatchingUntoleratedTaint. Without the feature gate
TaintTolerationComparisonOperators the operators Lt and Gt tolerate nothing; with it, pods have ComparingTolerations.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from kubesched.api import ComparingToleration, Taint, Toleration, as_int64
from kubesched.engine import BoolVector, Interner, IntVector, grown
from kubesched.state import Nodes, Part

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


def taint_words(taint: Taint) -> str:
    """A taint as kubectl writes it: `gpu=true:NoSchedule`."""
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def near_miss(taint: Taint, tolerations: Sequence[Toleration]) -> str:
    """The toleration that was probably meant for a taint, as ` (the pod tolerates gpu=True)`; empty for none.

    Its key is that of the taint. Its effect may be another one; its value may be missing or differ in case. Conditions
    of nodes are left out: the API server gives every pod tolerations of two of them for NoExecute alone.
    """
    if taint.key.startswith("node.kubernetes.io/"):
        return ""
    for one in tolerations:
        is_any = one.operator == "Exists"
        if one.key == taint.key and (is_any or one.value.lower() in ("", taint.value.lower())):
            value = "" if is_any else f"={one.value}" if one.value else '=""'
            return f" (the pod tolerates {one.key}{value}{f':{one.effect}' if one.effect else ''})"
    return ""


class JudgedTaints:
    """What one list of tolerations makes of every distinct taint list.

    Attributes:
        keep_away: (taint lists,) bool: the list has a NoSchedule or NoExecute taint that is not tolerated.
        n_unwanted: (taint lists,) int64: PreferNoSchedule taints that are not tolerated.
    """

    __slots__ = ("_generation", "_tolerated", "keep_away", "n_unwanted")

    def __init__(self, tolerations: tuple[Toleration, ...]) -> None:
        self._tolerated = _Tolerated(tolerations)
        self._generation = 0
        self.keep_away: BoolVector = np.zeros(0, dtype=np.bool_)
        self.n_unwanted: IntVector = np.zeros(0, dtype=np.int64)

    def bring_up_to_date(self, taint_lists: Interner[tuple[Taint, ...]]) -> None:
        """Judge the lists that came since the last time."""
        log, size = taint_lists.log, len(taint_lists)
        if len(self.keep_away) and self._generation == log.generation:
            return
        changed = log.since(self._generation) if len(self.keep_away) else None
        capacity = max(size, len(self.keep_away))
        self.keep_away, self.n_unwanted = grown(self.keep_away, capacity), grown(self.n_unwanted, capacity)
        for number in range(size) if changed is None else changed:
            taints = taint_lists.values[number] if number < size else None
            if taints is not None:
                effects = [taint.effect for taint in taints if taint not in self._tolerated]
                self.keep_away[number] = any(effect in _KEEPS_AWAY for effect in effects)
                self.n_unwanted[number] = effects.count(_UNWANTED)
        self._generation = log.generation


class _Tolerated:
    """The taints that a list of tolerations tolerates; a long list is looked up, not walked through for each taint."""

    __slots__ = ("_comparing", "_entries")

    def __init__(self, tolerations: Sequence[Toleration]) -> None:
        self._entries = {  # (key, value, effect): an empty key or effect is any, and so is the value None
            (one.key, None if one.operator == "Exists" else one.value, one.effect)
            for one in tolerations
            if one.operator in ("", "Equal", "Exists")
        }
        self._comparing = [one for one in tolerations if isinstance(one, ComparingToleration)]

    def __contains__(self, taint: Taint) -> bool:
        entries = self._entries
        return any(
            (key, value, effect) in entries
            for key in (taint.key, "")
            for value in (taint.value, None)
            for effect in (taint.effect, "")
        ) or any(_tolerates(one, taint) for one in self._comparing)


def judged_taints(nodes: Nodes, tolerations: Part[tuple[Toleration, ...]]) -> JudgedTaints:
    """The judgement of every taint list that the table's cluster has; index it with `nodes.taint_ids`."""
    judged: JudgedTaints | None = tolerations.compiled.get(JudgedTaints)
    if judged is None:
        judged = tolerations.compiled[JudgedTaints] = JudgedTaints(tolerations.value)
    judged.bring_up_to_date(nodes.columns.taint_lists)
    return judged


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if (toleration.effect and toleration.effect != taint.effect) or (toleration.key and toleration.key != taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    if isinstance(toleration, ComparingToleration):
        return _compares(toleration, taint.value)
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def _compares(toleration: ComparingToleration, value: str) -> bool:
    of_taint, bound = _number(value), _number(toleration.value)
    if of_taint is None or bound is None:
        return False
    return of_taint < bound if toleration.operator == "Lt" else of_taint > bound


def _number(text: str) -> int | None:
    """An int64 without zeros or a sign that it does not need; any other text is not a number."""
    number = as_int64(text)
    return number if str(number) == text else None
