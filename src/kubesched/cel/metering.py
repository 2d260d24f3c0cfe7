"""Counts what an evaluation costs, and ends it at upstream's limit.

Rule: Kubernetes v1.36: an evaluation may cost 1,000,000. A step costs 1, a text a tenth for each character that is read
(cel-go v0.26). Here lists in lists also cost by all that is in them, because a few steps can make them grow without
bounds.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubesched.cel.cel_values import LISTS, MAPS, OptionalValue
from kubesched.cel.closures import Evaluate, Frame
from kubesched.cel.library import cost_of_sorting, out_of_budget

COUNTER: Final = 1
"""The index of what is left in a frame."""

_MOST_NESTED: Final = 100_000
_SIZED: Final = frozenset({str, bytes}) | LISTS | MAPS
_CONTAINERS: Final = LISTS | MAPS | {tuple}


def charge(frame: Frame, cost: int) -> None:
    """Take a cost off.

    Raises:
        CelRuntimeError: nothing is left.
    """
    frame[COUNTER] -= cost
    if frame[COUNTER] < 0:
        raise out_of_budget()


def charged(evaluate: Evaluate, cost: int) -> Evaluate:
    """A closure that costs something whenever it is evaluated."""
    if not cost:
        return evaluate

    def charging(frame: Frame) -> Any:
        charge(frame, cost)
        return evaluate(frame)

    return charging


def charged_by_result(evaluate: Evaluate, cost_if: Mapping[Any, int]) -> Evaluate:
    """A closure that costs something for some results."""

    def charging(frame: Frame) -> Any:
        value = evaluate(frame)
        if type(value) is bool:
            charge(frame, cost_if.get(value, 0))
        return value

    return charging


def charged_if_there(evaluate: Evaluate) -> Evaluate:
    """A closure whose optional result costs 1 if there is a value."""

    def charging(frame: Frame) -> Any:
        value = evaluate(frame)
        charge(frame, int(value.is_there))
        return value

    return charging


def charged_for_sorting(evaluate: Evaluate) -> Evaluate:
    """A closure whose result is a list that is sorted by keys."""

    def charging(frame: Frame) -> Any:
        value = evaluate(frame)
        charge(frame, 2 + cost_of_sorting(value))
        return value

    return charging


def effort_of(values: Sequence[Any]) -> int:
    """What a call costs at least: upstream's costs do not always grow with the texts and lists that are read."""
    return sum(len(value) for value in values if type(value) in _SIZED) // 100


def weighed(evaluate: Evaluate) -> Evaluate:
    """A closure whose result is a list or map, which must not have too much in it."""

    def charging(frame: Frame) -> Any:
        value = evaluate(frame)
        charge(frame, weight_of(value) // 10 if _is_nested(value) else 0)
        return value

    return charging


def _is_nested(value: Any) -> bool:
    elements = [*value, *value.values()] if type(value) in MAPS else value
    return any(type(element) in _CONTAINERS for element in elements)


def weight_of(value: Any) -> int:
    """How many values are in a value, however deep.

    Raises:
        CelRuntimeError: there are too many.
    """
    total, waiting = 0, [value]
    while waiting:
        inner = waiting.pop()
        total += 1
        if total > _MOST_NESTED:
            raise out_of_budget()
        if type(inner) is OptionalValue:
            waiting.append(inner.value)
        elif type(inner) in LISTS or type(inner) is tuple:
            waiting += inner
        elif type(inner) in MAPS:
            waiting += [*inner, *inner.values()]
    return total
