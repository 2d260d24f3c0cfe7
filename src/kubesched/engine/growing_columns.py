"""Growing NumPy columns: one entry per row, capacity doubled when it runs out, freed rows reused.

The log of changed rows is the memory by which a cached column is brought up to date instead of computed again.
"""

from heapq import heapify, heappop, heappush
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

BoolVector = npt.NDArray[np.bool_]
IntVector = npt.NDArray[np.int64]
IntMatrix = npt.NDArray[np.int64]
FloatVector = npt.NDArray[np.float64]

ArrayT = TypeVar("ArrayT", bound=npt.NDArray[Any])

_FEW: Final = 16


def are_within(values: npt.NDArray[np.integer[Any]], least: int, most: int) -> bool:
    """Whether all of some integers are within limits; a few are compared without NumPy, in a fifth of its time."""
    if values.size < _FEW:
        few: list[int] = values.tolist()
        return not few or (least <= min(few) and max(few) <= most)
    return bool(values.min() >= least and values.max() <= most)


def grown(array: ArrayT, capacity: int) -> ArrayT:
    """Copy an array into one whose last axis has `capacity` slots; the new ones are zero."""
    larger = np.zeros((*array.shape[:-1], capacity), dtype=array.dtype)
    larger[..., : array.shape[-1]] = array
    return larger  # type: ignore[return-value]


def runs(values: IntVector) -> tuple[IntVector, npt.NDArray[np.intp]]:
    """The distinct values of an ascending array, and (values,) which of them each is."""
    is_first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return values[is_first], np.cumsum(is_first) - 1


class RowAllocator:
    """Gives out row numbers, lowest freed one first.

    Attributes:
        n_rows: one more than the highest row ever given out.
        free: rows below n_rows that are not in use; a heap.
    """

    __slots__ = ("free", "n_rows")

    def __init__(self) -> None:
        self.n_rows = 0
        self.free: list[int] = []

    def take(self, row: int | None = None) -> int:
        """A row that is not in use: this free one if one is named."""
        if row is not None:
            self.free.remove(row)
            heapify(self.free)
            return row
        if self.free:
            return heappop(self.free)
        self.n_rows += 1
        return self.n_rows - 1

    def give_back(self, row: int) -> None:
        """Let a row be given out again."""
        heappush(self.free, row)


class ChangeLog:
    """An append-only list of changed rows, cut at the front. A generation is a place in it.

    Attributes:
        generation: the number of changes so far.
    """

    __slots__ = ("_limit", "_rows", "_start", "generation")

    def __init__(self, limit: int = 1024) -> None:
        self.generation = 0
        self._rows: list[int] = []
        self._start = 0  # the generation of the first kept change
        self._limit = limit

    def record(self, row: int) -> None:
        """Remember that a row changed."""
        self._rows.append(row)
        self.generation += 1
        if len(self._rows) > 2 * self._limit:
            cut = len(self._rows) - self._limit
            del self._rows[:cut]
            self._start += cut

    def keep(self, limit: int) -> None:
        """Keep at least this many changes from now on."""
        self._limit = max(limit, self._limit)

    def since(self, generation: int) -> list[int] | None:
        """The distinct rows that changed after a generation, ascending; None when the log begins later."""
        if generation < self._start:
            return None
        rows = self._rows[generation - self._start :]
        return rows if len(rows) < 2 else sorted(set(rows))
