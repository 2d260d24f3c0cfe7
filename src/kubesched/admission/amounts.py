"""Amounts of resources as Kubernetes prints them in the refusals of an API server.

Rule: k8s.io/apimachinery v0.36 resource.Quantity.String: the largest unit that leaves a whole number. Powers of 1024
where the amount was written so, and it is 1024 or more.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kubesched.api import NANO, Quantities, parse_quantity

__all__ = ["amount_text", "amounts_of", "is_binary", "printed", "quantity_text"]

Amounts = Mapping[str, int]
"""Billionths by resource."""

_BINARY: Final = ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"]
_DECIMAL: Final = ("E", "P", "T", "G", "M", "k", "", "m", "u", "n")


def amounts_of(quantities: Quantities | None) -> dict[str, int]:
    """Quantities in billionths."""
    return {name: parse_quantity(text) for name, text in (quantities or {}).items()}


def is_binary(quantity: str | int | float) -> bool:
    """Whether a quantity is written in powers of 1024."""
    return str(quantity).endswith("i")


def quantity_text(quantity: str | int | float) -> str:
    """A quantity as Kubernetes prints it again: `2000m` is `2`."""
    return amount_text(parse_quantity(quantity), binary=is_binary(quantity))


def amount_text(nano: int, *, binary: bool = False) -> str:
    """Billionths as Kubernetes prints them."""
    if binary and nano >= 1024 * NANO:
        for i, suffix in enumerate(_BINARY):
            size = 1024 ** (len(_BINARY) - i) * NANO
            if nano % size == 0:
                return f"{nano // size}{suffix}"
    for i, suffix in enumerate(_DECIMAL):
        size = 10 ** (27 - 3 * i)
        if nano and nano % size == 0:
            return f"{nano // size}{suffix}"
    return "0"


def printed(names: Iterable[str], amounts: Amounts, binary: Iterable[str] = ()) -> str:
    """`cpu=2,memory=1Gi`: some amounts, in the order of their names.

    Args:
        binary: the resources that are written in powers of 1024.
    """
    return ",".join(f"{name}={amount_text(amounts.get(name, 0), binary=name in binary)}" for name in sorted(names))
