"""Finds equal rows of a table that is given by its columns."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from kubesched.engine.growing_columns import IntVector


def equal_rows(n: int, columns: Iterable[npt.NDArray[Any]]) -> IntVector:
    """(n,) int64: rows with equal values in all columns have the same number, from 0 on.

    Args:
        columns: (n,) integers each; without any, all rows are equal.

    Example:
        assert equal_rows(3, [np.array([7, 9, 7])]).tolist() == [0, 1, 0]
    """
    numbers = np.zeros(n, dtype=np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        _, numbers = np.unique(numbers * len(values) + codes.reshape(-1), return_inverse=True)
    return numbers.reshape(-1).astype(np.int64)
