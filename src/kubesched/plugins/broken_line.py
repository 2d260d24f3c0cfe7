"""The broken line that RequestedToCapacityRatio scores by."""

from collections.abc import Sequence

import numpy as np

from kubesched.engine import IntVector


def broken_linear(points: Sequence[tuple[int, int]]) -> IntVector:
    """The line through some points, level outside them, at every whole utilization.

    Args:
        points: (utilization, score) with utilizations increasing.
    Returns: (101,) int64: the score at utilization 0..100.
    Rule: kube-scheduler v1.36 helper.BuildBrokenLinearFunction: between two points integer division toward zero, so
        that falling segments round up.
    """
    return np.array([_at(points, x) for x in range(101)], dtype=np.int64)


def _at(points: Sequence[tuple[int, int]], x: int) -> int:
    for i, (right, top) in enumerate(points):
        if x <= right:
            if i == 0:
                return top
            left, bottom = points[i - 1]
            return bottom + _toward_zero((top - bottom) * (x - left), right - left)
    return points[-1][1]


def _toward_zero(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)
