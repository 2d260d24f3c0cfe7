"""Merges the scores of several plugins into one score of 0 to 10.

kube-scheduler multiplies an extender's score by 10 and by the extender's weight. With the sum of the plugins' weights
as that weight, what it adds is the weighted total of the plugins, rounded to tenths of its range.
"""

from collections.abc import Iterable

import numpy as np

from kubesched.engine import IntVector
from kubesched.framework import Profile

_SAFE_WEIGHT = 2**55


def extender_weight(profiles: Iterable[Profile]) -> int:
    """The weight that kube-scheduler is to give the extender: the largest sum of score weights of a profile."""
    sums = (sum(profile.weights[plugin.name] for plugin in profile.points["score"]) for profile in profiles)
    return max(sums, default=0)


def extender_scores(totals: IntVector, weight: int) -> IntVector:
    """Weighted totals, 0..100 * weight, as scores of 0..10.

    Args:
        totals: (nodes,) int64.
        weight: the extender's.
    Returns: (nodes,) int64.
    Rule: (2 * total + 10 * weight) // (20 * weight): to the nearest, halves up.
    """
    if weight <= 0:
        return np.zeros_like(totals)
    if weight > _SAFE_WEIGHT:
        exact = [(2 * total + 10 * weight) // (20 * weight) for total in totals.tolist()]
        return np.array(exact, dtype=np.int64)
    return np.floor_divide(2 * totals + 10 * weight, 20 * weight)
