"""Amounts are printed as they were written, and sums as their first amount."""

import pytest

from kubesched.admission.amounts import amount_of, quantity_text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2000m", "2"),
        ("0.25", "250m"),
        ("0.5Gi", "512Mi"),
        ("1023Ki", "1023Ki"),
        ("0.5Ki", "512"),
        ("700000k", "700M"),
        ("1e9", "1e9"),
        ("1500e3", "1500e3"),
        ("10e3", "10e3"),
        ("1E", "1E"),
        (1073741824, "1073741824"),
        ("0", "0"),
    ],
)
def test_a_quantity_is_printed_in_its_form(written, shown):
    assert quantity_text(written) == shown


@pytest.mark.parametrize(
    ("amounts", "shown"),
    [
        (["1Gi", "512M"], "1548576Ki"),
        (["512M", "512Mi"], "1048870912"),
        (["0", "1Gi"], "1Gi"),
        (["1e9", "700M"], "1700e6"),
        (["1Gi", "512Mi"], "1536Mi"),
    ],
)
def test_a_sum_has_the_form_of_its_first_amount_that_is_not_zero(amounts, shown):
    assert str(sum(map(amount_of, amounts))) == shown
