"""A selector names its comparisons with literals, and can be written with another literal."""

import pytest

from kubesched.cel import DeviceFact, Quantity, Semver
from tests.cel.devices import DRIVER, GPU, selector

MODEL = f"{DRIVER}/model"
VERSION = f"{DRIVER}/driverVersion"
MEMORY = f"{DRIVER}/memory"
LARGE = Quantity.parse("80Gi")
SECOND = Semver.parse("2.0.0")


@pytest.mark.parametrize(
    ("text", "fact", "name", "operator", "literal", "written"),
    [
        ("device.driver == 'a'", DeviceFact.DRIVER, "", "==", "a", "'a'"),
        ("{a}.model != \"H100\"", DeviceFact.ATTRIBUTE, MODEL, "!=", "H100", '"H100"'),
        ("2 < {a}.numa", DeviceFact.ATTRIBUTE, f"{DRIVER}/numa", ">", 2, "2"),
        ("{a}.model in ['a', 'b']", DeviceFact.ATTRIBUTE, MODEL, "in", ("a", "b"), "['a', 'b']"),
        ("{a}.model.startsWith('A')", DeviceFact.ATTRIBUTE, MODEL, "startsWith", "A", "'A'"),
        ("{a}.?model.orValue('') == 'x'", DeviceFact.ATTRIBUTE, MODEL, "==", "x", "'x'"),
        ("{m}.compareTo(quantity('80Gi')) >= 0", DeviceFact.CAPACITY, MEMORY, ">=", LARGE, "'80Gi'"),
        ("quantity('80Gi').compareTo({m}) >= 0", DeviceFact.CAPACITY, MEMORY, "<=", LARGE, "'80Gi'"),
        ("{a}.driverVersion.isLessThan(semver('2.0.0'))", DeviceFact.ATTRIBUTE, VERSION, "<", SECOND, "'2.0.0'"),
        ("cel.bind(a, {a}, a.model == 'x')", DeviceFact.ATTRIBUTE, MODEL, "==", "x", "'x'"),
    ],
)  # fmt: skip
def test_a_comparison_and_where_its_literal_is(text, fact, name, operator, literal, written):
    compiled = selector(text)
    (comparison,) = compiled.comparisons
    assert (comparison.fact, comparison.name, comparison.operator) == (fact, name, operator)
    assert comparison.literal == literal
    assert compiled.text[comparison.start : comparison.end] == written


@pytest.mark.parametrize(
    ("text", "operator", "literal"),
    [("{a}.ecc", "==", True), ("!{a}.ecc", "==", False), ("has({a}.ecc)", "has", True)],
)
def test_a_fact_alone_is_a_comparison_without_a_written_literal(text, operator, literal):
    compiled = selector(text)
    (comparison,) = compiled.comparisons
    assert (comparison.name, comparison.operator, comparison.literal) == (f"{DRIVER}/ecc", operator, literal)
    with pytest.raises(ValueError, match="has no literal"):
        compiled.with_literal(comparison, "1")


@pytest.mark.parametrize("text", ["{a}.model == {a}.numa", "{a}.model.size() == 3", "1 == 2", "[1].exists(x, x == 1)"])
def test_nothing_else_is_a_comparison(text):
    assert selector(text).comparisons == ()


@pytest.mark.parametrize(
    ("text", "literal", "result"),
    [
        ("{m}.compareTo(quantity('80Gi')) >= 0", "40Gi", '{m}.compareTo(quantity("40Gi")) >= 0'),
        ("{a}.numa == 2 || false", "1", "{a}.numa == 1 || false"),
        ("{a}.model == 'é'", 'a"b', '{a}.model == "a\\"b"'),
    ],
)
def test_a_selector_with_another_literal(text, literal, result):
    compiled = selector(text)
    changed = compiled.with_literal(compiled.comparisons[0], literal)
    assert changed == selector(result).text


def test_a_fix_makes_the_device_match():
    compiled = selector("{m}.compareTo(quantity('80Gi')) >= 0")
    assert not compiled.matches(GPU)
    assert selector(compiled.with_literal(compiled.comparisons[0], "40Gi")).matches(GPU)
