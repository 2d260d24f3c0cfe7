"""Amounts of resources that remember how they were written, as Kubernetes prints them in the refusals of an API server.

Rule: k8s.io/apimachinery v0.36 resource.Quantity.String and Add: the largest unit that leaves a whole number, in powers
of 1024 or 1000 or with an exponent, as the amount was written; below 1024 never in powers of 1024. A sum is written as
its first amount that is not zero.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Final, Self

from kubesched.api import NANO, Quantities, parse_quantity

_BINARY: Final = ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki")
_DECIMAL: Final = ("E", "P", "T", "G", "M", "k", "", "m", "u", "n")
_EXPONENT: Final = re.compile(r"[eE][+-]?[0-9]+")


class Form(Enum):
    """How a quantity is written."""

    BINARY = "1Gi"
    DECIMAL = "1G"
    EXPONENT = "1e9"


class Amount(int):
    """Billionths of a resource.

    Attributes:
        form: how it was written.
    """

    form: Form

    def __new__(cls, nano: int, form: Form) -> Self:
        """Make an amount of billionths."""
        made = super().__new__(cls, nano)
        made.form = form
        return made

    def __add__(self, other: int) -> "Amount":
        form = other.form if not self and isinstance(other, Amount) else self.form
        return Amount(int(self) + int(other), form)

    def __radd__(self, other: int) -> "Amount":
        return self + other

    def __sub__(self, other: int) -> "Amount":
        return Amount(int(self) - int(other), self.form)

    def __str__(self) -> str:
        if self.form is Form.BINARY and self >= 1024 * NANO:
            return _in_binary(-(-int(self) // NANO))
        for i, suffix in enumerate(_DECIMAL):
            power = 18 - 3 * i
            size: int = 10 ** (9 + power)
            if self and self % size == 0:
                return f"{self // size}{_exponent(power) if self.form is Form.EXPONENT else suffix}"
        return "0"


Amounts = Mapping[str, int]
"""Amounts, or 0, by resource."""


@lru_cache(maxsize=4096)
def amount_of(quantity: str | int | float) -> Amount:
    """Read a valid quantity."""
    text = str(quantity)
    form = Form.BINARY if text.endswith("i") else Form.EXPONENT if _EXPONENT.search(text) else Form.DECIMAL
    return Amount(parse_quantity(quantity), form)


def amounts_of(quantities: Quantities | None) -> dict[str, Amount]:
    """Read valid quantities."""
    return {name: amount_of(text) for name, text in (quantities or {}).items()}


def quantity_text(quantity: str | int | float) -> str:
    """A quantity as Kubernetes prints it again: `2000m` is `2`."""
    return str(amount_of(quantity))


def printed(names: Iterable[str], amounts: Amounts) -> str:
    """`cpu=2,memory=1Gi`: some amounts, in the order of their names."""
    return ",".join(f"{name}={amounts.get(name, 0)!s}" for name in sorted(names))


def joined(faults: Collection[str]) -> str:
    """`[a, b]`: several faults as an API server says them; one stands alone."""
    return f"[{', '.join(faults)}]" if len(faults) > 1 else "".join(faults)


def _in_binary(units: int) -> str:
    for i, suffix in enumerate(_BINARY):
        size = 1024 ** (len(_BINARY) - i)
        if units % size == 0:
            return f"{units // size}{suffix}"
    return str(units)


def _exponent(power: int) -> str:
    return f"e{power}" if power else ""
