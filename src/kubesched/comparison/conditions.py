"""Conditions on the figures of a comparison, such as `pending>0,skew>5`: a check that a pipeline can ask for."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from kubesched.comparison.comparison_result import Comparison
from kubesched.comparison.figures import Figure, figure
from kubesched.errors import InputError

_FORM: Final = re.compile(r"\s*(?P<name>\w+)\s*(?P<sign>>=|<=|==|!=|>|<)\s*(?P<value>\S+)\s*")
_COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}


class Condition(msgspec.Struct, frozen=True):
    """A condition on a figure of the second side that must not hold.

    Attributes:
        text: as written, without spaces.
        figure: which figure.
        sign: how it is compared with `limit`.
    """

    text: str
    figure: Figure
    sign: str
    limit: float


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """Read conditions that are separated by commas.

    Raises:
        InputError: one of them is not a condition, or there is no such figure.

    Example:
        assert [one.text for one in parse_conditions("pending>0, cpuP95>=95%")] == ["pending>0", "cpuP95>=95%"]
    """
    return tuple(_parsed(one) for one in text.split(","))


def _parsed(text: str) -> Condition:
    form = _FORM.fullmatch(text)
    if form is None:
        raise InputError(f'"{text.strip()}" is not a condition; expected for example pending>0 or cpuP95>=95%')
    measured = figure(form["name"])
    limit = measured.unit.parse(form["value"])
    return Condition(f"{form['name']}{form['sign']}{form['value']}", measured, form["sign"], limit)


def failures(conditions: Iterable[Condition], comparison: Comparison) -> dict[str, str]:
    """Condition -> why it fails the check, empty where it does not.

    A figure that the cluster does not have fails: it cannot be checked.
    """
    values = {one.figure.name: one.b for one in comparison.differences}
    return {one.text: _failure(one, values.get(one.figure.name)) for one in conditions}


def _failure(condition: Condition, value: float | None) -> str:
    one = condition.figure
    if value is None:
        return f"{one.title}: this cluster has no such figure, so it cannot be checked"
    if not _COMPARE[condition.sign](value, condition.limit):
        return ""
    return f"{one.title}: {one.unit.in_words(value)}"
