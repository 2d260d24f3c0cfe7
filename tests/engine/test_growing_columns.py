"""Arrays that grow, rows that are given out, and which of them changed since when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.engine import ChangeLog, RowAllocator, are_within, grown, runs


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
    for row in (2, 0):
        rows.give_back(row)
    assert (rows.n_rows, sorted(rows.free)) == (4, [0, 2])
    assert [rows.take() for _ in range(3)] == [0, 2, 4]


@pytest.mark.parametrize(
    ("values", "distinct", "which"), [([], [], []), ([3], [3], [0]), ([0, 0, 2, 5, 5], [0, 2, 5], [0, 0, 1, 2, 2])]
)
def test_runs_are_the_distinct_values_and_who_has_which(
    values: list[int], distinct: list[int], which: list[int]
) -> None:
    found = runs(np.array(values, dtype=np.int64))
    assert [part.tolist() for part in found] == [distinct, which]


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(0, 60))
def test_the_rows_that_changed_after_a_generation_are_told_or_that_they_are_forgotten(
    rows: list[int], since: int
) -> None:
    log = ChangeLog(limit=8)
    for row in rows:
        log.record(row)
    assert log.generation == len(rows)
    since = min(since, len(rows))
    found = log.since(since)
    if found is not None:
        assert found == sorted(set(rows[since:]))
    else:
        assert len(rows) - since > 8


def test_a_longer_memory_can_be_asked_for() -> None:
    log = ChangeLog(limit=2)
    log.keep(100)
    log.keep(3)
    for row in range(100):
        log.record(row)
    assert log.since(0) == list(range(100))


@pytest.mark.parametrize("n", [1, 3, 100])
def test_limits_are_within(n: int) -> None:
    values = np.full(n, 5, dtype=np.int64)
    assert are_within(values, 0, 5)
    assert are_within(values, 5, 9)
    assert not are_within(values, 0, 4)
    assert not are_within(values, 6, 9)


def test_no_values_are_within_anything() -> None:
    assert are_within(np.zeros(0, dtype=np.int8), 1, 0)
