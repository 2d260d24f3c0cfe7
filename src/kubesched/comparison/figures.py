"""The figures of a comparison: their names, units and meaning."""

import enum
from math import isfinite
from typing import Final

import msgspec

from kubesched.api import in_words, parse_quantity, whole_units
from kubesched.config import did_you_mean
from kubesched.errors import InputError, QuantityError

_MOST_SHARE: Final = 2
"""Requests can be more than a node has, but not twice as much: a larger number is meant as a percentage."""


class Unit(enum.Enum):
    """What a figure counts in."""

    COUNT = "count"
    SHARE = "share"
    """From 0 to 1."""
    CPU = "cpu"
    """Milli-CPU."""
    MEMORY = "memory"
    """Bytes."""
    PRICE = "price"
    """The currency of the prices, per hour."""

    def in_words(self, value: float) -> str:
        """A value as reports show it.

        Example:
            assert figure("cpuMedian").unit.in_words(0.5) == "50.0%"
        """
        match self:
            case Unit.SHARE:
                return f"{value:.1%}"
            case Unit.CPU | Unit.MEMORY:
                return in_words(self.value, round(value))
            case Unit.PRICE:
                return f"{value:,.2f}"
            case _:
                return f"{value:,.0f}"

    def parse(self, text: str) -> float:
        """A value as people write it: `5`, `80%` or `0.8`, `500m`, `16Gi`.

        Raises:
            InputError: it is not a number, or not a quantity.
        """
        try:
            if self in (Unit.CPU, Unit.MEMORY):
                return float(whole_units(self.value, parse_quantity(text)))
            value = float(text.removesuffix("%")) / 100 if self is Unit.SHARE and "%" in text else float(text)
            if self is Unit.SHARE and value > _MOST_SHARE and "%" not in text:
                raise InputError(f'"{text}" is not a share; write {text}% or {value / 100:g}')
            if isfinite(value):
                return round(value, 12)  # 0.7 / 100 is less than 0.007
        except (QuantityError, ValueError):
            pass
        expected = {Unit.SHARE: "80% or 0.8", Unit.CPU: "500m or 4", Unit.MEMORY: "16Gi"}.get(self, "5")
        raise InputError(f'"{text}" is not a value; expected for example {expected}')


class Figure(msgspec.Struct, frozen=True):
    """A figure.

    Attributes:
        name: in JSON and in conditions: `nodesInUse`.
        title: in tables.
        unit: of its values.
        better: 1 if more is better, -1 if less is better, 0 if that depends.
    """

    name: str
    title: str
    unit: Unit = Unit.COUNT
    better: int = 0


FIGURES: Final = (
    Figure("placed", "pods placed", better=1),
    Figure("pending", "pods pending", better=-1),
    Figure("victims", "pods evicted", better=-1),
    Figure("nodesInUse", "nodes in use", better=-1),
    Figure("nodesFree", "empty nodes (DaemonSets only)", better=1),
    Figure("pricePerHour", "price per hour", Unit.PRICE, -1),
    Figure("cpuMedian", "cpu requested, median", Unit.SHARE),
    Figure("cpuP95", "cpu requested, p95", Unit.SHARE),
    Figure("memoryMedian", "memory requested, median", Unit.SHARE),
    Figure("memoryP95", "memory requested, p95", Unit.SHARE),
    Figure("cpuGap", "largest cpu gap", Unit.CPU, 1),
    Figure("memoryGap", "largest memory gap", Unit.MEMORY, 1),
    Figure("fragmentation", "free cpu that no pod fits", Unit.SHARE, -1),
    Figure("devicesTaken", "devices taken", better=1),
    Figure("devicesFree", "devices free"),
    Figure("devicesMismatched", "free devices that no pending claim fits", better=-1),
    Figure("skew", "largest zone skew of a workload", better=-1),
    Figure("onOneNode", "workloads on one node", better=-1),
    Figure("moved", "pods on another node"),
)
"""In the order of the report."""

_BY_NAME: Final = {one.name: one for one in FIGURES}


def figure(name: str) -> Figure:
    """The figure of this name.

    Raises:
        InputError: there is none.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    near = did_you_mean(name, _BY_NAME)
    raise InputError(f'"{name}" is not a figure; {near or "expected one of " + ", ".join(_BY_NAME)}')
