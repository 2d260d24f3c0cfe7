"""resourceVersions are compared as the integers that they are."""

import pytest

from kubesched.api import compare_versions


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [("9", "10", -1), ("10", "9", 1), ("7", "7", 0), ("", "", 0), ("010", "9", 1), ("9" * 5000, "9" * 4999 + "8", 1)],
)
def test_versions_are_integers(first, second, order):
    assert compare_versions(first, second) == order


@pytest.mark.parametrize(("first", "second"), [("simulated-1", "2"), ("2", ""), ("1a", "1b")])
def test_what_is_no_integer_is_not_compared(first, second):
    assert compare_versions(first, second) is None
