"""Kubernetes resource quantities, exactly: parsed to integer billionths, rounded up to the units a scheduler counts in.

Rule: k8s.io/apimachinery v0.36 resource.Quantity: decimal number, then nothing, `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei`, or
`e`/`E` and an integer; digits below one billionth are rounded up.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from kubesched.errors import QuantityError

__all__ = ["MAX_INT64", "NANO", "parse_quantity", "whole_units"]

MAX_INT64: Final = 2**63 - 1
NANO: Final = 10**9

_SUFFIXES: Final[dict[str, Fraction]] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{letter: Fraction(1000**power) for power, letter in enumerate("kMGTPE", 1)},
    **{letter + "i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", 1)},
}
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i|)")
_MAX_EXPONENT: Final = 40  # a larger one is a mistake, and would cost memory to expand


@lru_cache(maxsize=65536)
def parse_quantity(text: str | int | float) -> int:
    """Read a quantity such as `100m`, `1.5Gi`, `1e3` or `.5`.

    Returns: the value in billionths, exact; what is finer is rounded up (away from zero for negative values too).
    Raises:
        QuantityError: the text is no quantity, or its exponent is out of any sensible range.
    """
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        raise QuantityError(
            f'{text!r} is not a quantity; write a number with an optional suffix, such as "500m", "2" or "1.5Gi"'
        )
    number, suffix = match.groups()
    if suffix in _SUFFIXES:
        factor = _SUFFIXES[suffix]
    else:
        exponent = int(suffix[1:]) if len(suffix) < 6 else _MAX_EXPONENT + 1
        if abs(exponent) > _MAX_EXPONENT:
            raise QuantityError(f"{text!r} is out of range: the exponent of a quantity is at most {_MAX_EXPONENT}")
        factor = Fraction(10) ** exponent
    value = Fraction(number) * factor * NANO
    whole = -(-abs(value.numerator) // value.denominator)
    return whole if value >= 0 else -whole


def whole_units(resource: str, nano: int) -> int:
    """Round an exact amount up to what the scheduler counts in: milli-CPU for `cpu`, whole units for everything else.

    Returns: 0 for an amount that does not fit int64.
    Rule: kube-scheduler v1.36 (Resource.Add): MilliValue or Value, which round up; an overflow counts as 0.
    """
    whole = -(-nano // 10**6) if resource == "cpu" else -(-nano // NANO)
    return whole if whole <= MAX_INT64 else 0
