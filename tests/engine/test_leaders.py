from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubesched.engine import Leaders, first_leaders, leaders

VALUES = st.integers(-3, 3) | st.integers(-(2**31) + 1, 2**31 - 1)
STEPS = st.lists(st.tuples(st.integers(0, 10**6), VALUES | st.none()), max_size=30)


def expected(values: list[int], n: int) -> list[int]:
    return sorted(range(len(values)), key=lambda position: (-values[position], position))[:n]


@given(st.lists(VALUES, min_size=1), st.integers(1, 5))
def test_the_first_leaders_are_the_highest_and_of_equal_ones_the_first(values: list[int], n: int) -> None:
    before = np.array(values)
    assert first_leaders(before, n) == expected(values, n)
    assert before.tolist() == values


@given(st.lists(VALUES, min_size=1, max_size=40), STEPS, st.sampled_from([4, 7, 256]))
def test_leaders_are_known_whatever_changes_and_goes(
    values: list[int], steps: list[tuple[int, int | None]], n_kept: int
) -> None:
    with patch.object(leaders, "_MOST", n_kept):
        kept = Leaders(np.array(values))
        for number, value in [(0, values[0]), *steps]:
            position = number % len(values)
            if value is not None:
                values[position] = value
                kept.set(position, value)
            elif len(values) > 1:
                del values[position]
                kept = kept.without(position)
            assert kept.values.tolist() == values
            assert kept.first(4) == expected(values, 4)
            ties = [position for position, one in enumerate(values) if one == max(values)]
            known = kept.ties()
            assert known == ties or (known is None and len(ties) >= min(n_kept, 4))
