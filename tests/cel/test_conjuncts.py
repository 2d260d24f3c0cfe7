"""A device that does not match is told which part of the selector decides, and what it has there."""

import pytest

from kubesched.cel import Quantity, Semver
from tests.cel.devices import GPU, selector


def test_a_conjunction_has_its_parts_with_their_places():
    compiled = selector("{a}.ecc && ({a}.numa == 1 && {a}.model == 'x') && true")
    assert [part.text for part in compiled.conjuncts] == [
        compiled.text[part.start : part.end] for part in compiled.conjuncts
    ]
    assert [part.text.split("].")[-1] for part in compiled.conjuncts] == ["ecc", "numa == 1", "model == 'x'", "true"]


def test_parts_inside_of_a_bind_are_parts():
    compiled = selector("cel.bind(a, {a}, a.ecc && a.numa == 2)")
    assert [part.text for part in compiled.conjuncts] == ["a.ecc", "a.numa == 2"]
    refusal = compiled.refusal(GPU)
    assert refusal
    assert (refusal.conjunct.text, refusal.value, refusal.error) == ("a.numa == 2", 1, "")


def test_a_disjunction_is_one_part():
    (part,) = selector("{a}.ecc || {a}.numa == 1").conjuncts
    assert part.comparison is None


@pytest.mark.parametrize(
    ("text", "decides", "value", "error"),
    [
        ("{a}.ecc && {m}.compareTo(quantity('80Gi')) >= 0", ">=", Quantity.parse("40Gi"), ""),
        ("{a}.driverVersion.isLessThan(semver('1.0.0'))", "<", Semver.parse("1.2.3"), ""),
        ("{a}.nope == 1 && {a}.model == 'H100'", "==", "A100", ""),
        ("{a}.nope == 1 && {a}.ecc", "==", None, "no such key: nope"),
        ("has({a}.nope)", "has", None, ""),
        ("!{a}.ecc", "==", True, ""),
        ("{a}.ecc && {a}.numa", "==", 1, "no such overload"),
    ],
)
def test_the_part_that_decides(text, decides, value, error):
    refusal = selector(text).refusal(GPU)
    assert refusal is not None
    assert refusal.conjunct.comparison is not None
    assert (refusal.conjunct.comparison.operator, refusal.value, refusal.error) == (decides, value, error)


def test_a_device_that_matches_is_not_refused():
    assert selector("{a}.ecc && {a}.numa == 1").refusal(GPU) is None
