"""Which rows changed since when."""

from hypothesis import given
from hypothesis import strategies as st

from kubesched.engine import ChangeLog


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
