"""How many inputs a property is tried on: few in `make test`, many more in the campaign `properties`."""

import os
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

T = TypeVar("T")

TIMES = int(os.environ.get("KUBESCHED_TRIALS_TIMES", "1"))
"""By how much every number is multiplied; campaigns/properties sets it."""


def examples(n: int, **more: Any) -> settings:
    """Settings of Hypothesis for a test, in place of the usual 40 examples."""
    return settings(max_examples=n * TIMES, deadline=None, **more)


def seeds(n: int) -> range:
    """Seeds for a test that draws its input by itself."""
    return range(n * TIMES)


def one_in(n: int, recorded: Sequence[T]) -> Sequence[T]:
    """Every n-th of the recorded inputs, and all of them in the campaign."""
    return recorded[:: n if TIMES == 1 else 1]
