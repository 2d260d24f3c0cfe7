"""The last lines of reports about what would happen."""

from datetime import UTC, datetime, timedelta

import pytest

from kubesched.pages.formats import limits

TAKEN_AT = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=30), "less than 2 minutes ago"),
        (timedelta(minutes=2), "2 minutes ago"),
        (timedelta(hours=1, minutes=30), "90 minutes ago"),
        (timedelta(hours=30), "30 hours ago"),
        (timedelta(days=3), "3 days ago"),
    ],
)
def test_the_age_of_the_snapshot_comes_first(age: timedelta, words: str):
    first, *_ = limits(TAKEN_AT, TAKEN_AT + age)
    assert first == f"The snapshot was taken {words}, at 2026-05-01 09:30 UTC."


def test_a_snapshot_without_a_time_has_no_age_and_what_a_report_adds_comes_last():
    assert limits(own=("Volumes stay.",)) == (
        "Not modelled: autoscalers and the timing of controllers.",
        "Volumes stay.",
    )
