import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubesched.engine import equal_rows


@given(st.integers(0, 20).flatmap(lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), max_size=4)))
def test_rows_have_one_number_exactly_if_all_columns_are_equal(columns: list[list[int]]) -> None:
    n = len(columns[0]) if columns else 5
    numbers = equal_rows(n, [np.array(column, dtype=np.int32) for column in columns]).tolist()
    rows = list(zip(*columns, strict=True)) if columns else [()] * n
    assert [numbers.index(number) for number in numbers] == [rows.index(row) for row in rows]
    assert sorted(set(numbers)) == list(range(len(set(rows))))
