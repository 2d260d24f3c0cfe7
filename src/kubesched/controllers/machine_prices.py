"""What a node costs, by the type of its machine and what is paid for: on demand, spot or reserved."""

import re
from collections.abc import Mapping
from typing import Final

from kubesched.api import CAPACITY_LABELS, SPOT_LABELS
from kubesched.controllers.node_shape import machine_name

Prices = Mapping[str, float | Mapping[str, float]]
"""Instance type -> price of a node for an hour, or capacity type -> price: `on-demand`, `spot` or `reserved`."""

HOURS_A_MONTH: Final = 730
"""As cloud providers bill it."""
CAPACITY_TYPES: Final = ("on-demand", "spot", "reserved")
_SYNONYMS: Final = {"ondemand": "on-demand", "regular": "on-demand", "standard": "on-demand", "preemptible": "spot"}


def capacity_type(text: str) -> str:
    """A capacity type in the words of this module: `ON_DEMAND` and `on demand` are `on-demand`."""
    written = re.sub(r"[\s_]+", "-", text.strip().lower())
    return _SYNONYMS.get(written, written)


def capacity_type_of(labels: Mapping[str, str]) -> str:
    """What is paid for a node; `on-demand` where no label of its provider says otherwise."""
    if any(labels.get(key) == "true" for key in SPOT_LABELS):
        return "spot"
    known = next((labels[key] for key in CAPACITY_LABELS if labels.get(key)), "")
    return capacity_type(known) or "on-demand"


def price_of(labels: Mapping[str, str], prices: Prices) -> float | None:
    """What a node with these labels costs in an hour; None where that is not known."""
    price = prices.get(machine_name(labels))
    return price.get(capacity_type_of(labels)) if isinstance(price, Mapping) else price


def priced_as(labels: Mapping[str, str], prices: Prices) -> str:
    """The instance type of a node without a price, and the capacity type where another one has a price."""
    name = machine_name(labels)
    return f"{name} {capacity_type_of(labels)}" if isinstance(prices.get(name), Mapping) else name
