"""Divisions and rounding are Go's, to the last unit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.engine import as_fractions, floor_divide, round_half_away, weighted_sum

FEW = st.integers(1, 3)
MANY = st.just(100)  # long columns take another way


@given(st.lists(st.tuples(st.integers(0, 2**62), st.integers(1, 2**62)), min_size=1, max_size=5), FEW | MANY)
def test_quotients_are_rounded_down(pairs: list[tuple[int, int]], times: int) -> None:
    numerators, denominators = (
        np.array(column * times, dtype=np.int64) for column in map(list, zip(*pairs, strict=True))
    )
    assert floor_divide(numerators, denominators).tolist() == [a // b for a, b in pairs] * times


@given(st.lists(st.tuples(st.integers(0, 2**62), st.integers(1, 2**62)), min_size=1, max_size=5), FEW | MANY)
def test_fractions_are_those_of_floats(pairs: list[tuple[int, int]], times: int) -> None:
    numerators, denominators = (
        np.array(column * times, dtype=np.int64) for column in map(list, zip(*pairs, strict=True))
    )
    assert as_fractions(numerators, denominators).tolist() == [float(a) / float(b) for a, b in pairs] * times


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(0, 100), st.booleans()), max_size=4), FEW | MANY)
def test_rows_are_added_up_by_weight(rows: list[tuple[int, int, bool]], times: int) -> None:
    weights = np.array([weight for weight, _, _ in rows], dtype=np.int64)
    amounts = np.array([[amount] * times for _, amount, _ in rows], dtype=np.int64).reshape(len(rows), times)
    counts = np.array([[counts] * times for _, _, counts in rows], dtype=np.bool_).reshape(len(rows), times)
    assert weighted_sum(weights, amounts).tolist() == [sum(w * amount for w, amount, _ in rows)] * times
    assert weighted_sum(weights, counts).tolist() == [sum(w * counts for w, _, counts in rows)] * times


@given(st.integers(1, 2**45), st.integers(0, 63))
def test_quotients_just_below_an_integer_are_not_rounded_up(denominator: int, quotient: int) -> None:
    numerator = denominator * quotient + denominator - 1
    column = np.full(100, numerator, dtype=np.int64)
    assert floor_divide(column, np.full(100, denominator, dtype=np.int64)).tolist() == [quotient] * 100


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0.0, 0), (0.49999999999999994, 0), (0.5, 1), (1.5, 2), (2.5, 3), (2.4999, 2), (1e15 + 0.5, 10**15 + 1)],
)
def test_halves_are_rounded_away_from_zero(value: float, rounded: int) -> None:
    assert round_half_away(np.array([value])).tolist() == [rounded]
