"""How many generated inputs a property is tried on: few in `make test`, many more in the campaign `properties`."""

import os
from typing import Any

from hypothesis import settings

TIMES = int(os.environ.get("KUBESCHED_TRIALS_TIMES", "1"))
"""By how much every number is multiplied; campaigns/properties sets it."""


def examples(n: int, **more: Any) -> settings:
    """Settings of Hypothesis for a test, in place of its 100 examples."""
    return settings(max_examples=n * TIMES, deadline=None, **more)


def seeds(n: int) -> range:
    """Seeds for a test that draws its input by itself."""
    return range(n * TIMES)
