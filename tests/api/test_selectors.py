"""Which labels a selector selects."""

import pytest

from kubesched.api import (
    LabelSelector,
    NodeSelectorTerm,
    Requirement,
    SelectorRequirement,
    as_int64,
    parse_node_term,
    parse_selector,
)
from kubesched.errors import SelectorError


def expression(operator: str, *values: str, key: str = "k") -> SelectorRequirement:
    return SelectorRequirement(key, operator, values or None)


@pytest.mark.parametrize(
    ("requirement", "accepted", "rejected"),
    [
        (Requirement("k", "In", ("a", "b")), ["a", "b"], ["c", "", None]),
        (Requirement("k", "NotIn", ("a", "b")), ["c", "", None], ["a", "b"]),
        (Requirement("k", "Exists"), ["a", ""], [None]),
        (Requirement("k", "DoesNotExist"), [None], ["a", ""]),
        (Requirement("k", "Gt", ("5",)), ["6", "+7", "007"], ["5", "-9", "x", "", "5.5", None, str(2**63)]),
        (Requirement("k", "Lt", ("5",)), ["4", "-9"], ["5", "6", "x", None, str(-(2**63) - 1)]),
    ],
    ids=lambda value: value.operator if isinstance(value, Requirement) else "",
)
def test_an_operator_accepts_values(requirement: Requirement, accepted: list, rejected: list) -> None:
    assert [value for value in [*accepted, *rejected] if requirement.accepts(value)] == accepted


def test_the_null_selector_selects_nothing_and_the_empty_one_everything() -> None:
    nothing, everything = parse_selector(None), parse_selector(LabelSelector())
    assert (nothing.matches({}), nothing.is_empty) == (False, False)
    assert (everything.matches({"a": "b"}), everything.is_empty) == (True, True)


def test_labels_and_expressions_must_all_hold() -> None:
    selector = parse_selector(LabelSelector({"app": "web"}, (expression("Exists"),)))
    assert selector.matches({"app": "web", "k": ""})
    assert not selector.matches({"app": "web"})
    assert not selector.matches({"app": "db", "k": ""})


def test_a_label_selector_knows_no_comparison() -> None:
    with pytest.raises(SelectorError, match='"Gt" is not a valid label selector operator'):
        parse_selector(LabelSelector(match_expressions=(expression("Gt", "1"),)))


def test_a_node_term_asks_labels_and_the_name() -> None:
    name = SelectorRequirement("metadata.name", "In", ("n1",))
    term = parse_node_term(NodeSelectorTerm((expression("In", "a"),), (name,)))
    assert term.matches({"k": "a"}, "n1")
    assert not term.matches({"k": "a"}, "n2")
    assert not term.matches({"k": "b"}, "n1")


def test_other_fields_than_the_name_are_empty() -> None:
    term = parse_node_term(NodeSelectorTerm(None, (SelectorRequirement("spec.x", "NotIn", ("y",)),)))
    assert term.matches({}, "n1")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), None),
        ("0" * 5000 + "7", 7),
        ("9" * 5000, None),
        ("1_0", None),
        ("", None),
        (" 1", None),
    ],
)
def test_integers_are_read_as_go_reads_them(text: str, value: int | None) -> None:
    assert as_int64(text) == value
