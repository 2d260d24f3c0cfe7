"""Arrays that grow, and rows that are given out."""

import numpy as np
import pytest

from kubesched.engine import RowAllocator, grown, runs


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_a_grown_array_keeps_what_it_held_and_is_zero_beyond(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    larger = grown(array, 5)
    assert (larger.shape, larger.dtype) == ((*shape[:-1], 5), array.dtype)
    assert (larger[..., :3] == array).all()
    assert not larger[..., 3:].any()


def test_the_lowest_freed_row_is_given_out_first() -> None:
    rows = RowAllocator()
    assert [rows.take() for _ in range(4)] == [0, 1, 2, 3]
    rows.give_back((2, 0))
    assert (rows.n_rows, rows.free) == (4, {0, 2})
    assert [rows.take() for _ in range(3)] == [0, 2, 4]


@pytest.mark.parametrize(
    ("values", "distinct", "which"), [([], [], []), ([3], [3], [0]), ([0, 0, 2, 5, 5], [0, 2, 5], [0, 0, 1, 2, 2])]
)
def test_runs_are_the_distinct_values_and_who_has_which(
    values: list[int], distinct: list[int], which: list[int]
) -> None:
    found = runs(np.array(values, dtype=np.int64))
    assert [part.tolist() for part in found] == [distinct, which]
