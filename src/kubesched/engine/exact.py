"""Upstream's integer arithmetic on whole columns, exact, with the fastest operations that are exact."""

from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.engine.growing_columns import FloatVector, IntMatrix, IntVector

_EXACT_BELOW: Final = 2**51
_SMALL: Final = 64


def floor_divide(numerator: IntVector, denominator: IntVector) -> IntVector:
    """Divide int64 columns, rounding down.

    Args:
        numerator: not negative.
        denominator: positive.
    Float64 division is several times faster and, rounded down, exact for numerators below 2**51: the nearest quotient
    below an integer is 1/denominator away, which is more than half a unit in the last place.
    """
    if numerator.size < _SMALL or numerator.max() >= _EXACT_BELOW:
        return numerator // denominator
    quotient: FloatVector = numerator / denominator
    return quotient.astype(np.int64)


def as_fractions(numerator: IntMatrix, denominator: IntMatrix) -> FloatVector:
    """Divide int64 columns as float64.

    Args:
        denominator: not 0.
    Many columns are made floats first, because dividing them as integers is many times slower.
    """
    quotient: FloatVector
    if numerator.size < _SMALL:
        quotient = numerator / denominator
    else:
        quotient = numerator.astype(np.float64)
        quotient /= denominator.astype(np.float64)
    return quotient


def round_half_away(values: FloatVector) -> IntVector:
    """Round to the nearest integer, halves away from zero.

    Args:
        values: not negative.
    Rule: Go's math.Round.
    """
    whole = np.floor(values)
    whole += values - whole >= 0.5
    return whole.astype(np.int64)


def weighted_sum(weights: IntVector, rows: IntMatrix | npt.NDArray[np.bool_]) -> IntVector:
    """Add up the rows of an int64 or bool matrix, each times its weight.

    For many columns a product of integer matrices is several times slower than its parts.
    """
    is_small = rows.size < _SMALL
    total: IntVector = weights.dot(rows) if is_small else np.add.reduce(rows * weights[:, np.newaxis])
    return total
