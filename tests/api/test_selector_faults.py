"""Every expectation was read off kube-scheduler v1.36.3."""

import pytest

from kubesched.api import (
    LabelSelector,
    NodeSelectorTerm,
    SelectorRequirement,
    as_int64,
    parse_node_term,
    parse_selector,
)
from kubesched.errors import SelectorError

CHARACTERS = "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
NAME = (
    f"must consist of {CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    f"a valid label must be an empty string or consist of {CHARACTERS} (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NONE_OR_ONE = "for 'Gt', 'Lt' operators, exactly one value is required"
INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
EMPTY = "for 'in', 'notin' operators, values set can't be empty"


def requirement(key: str, operator: str, *values: str) -> SelectorRequirement:
    return SelectorRequirement(key, operator, values)


def term_faults(*expressions: SelectorRequirement, fields: tuple[SelectorRequirement, ...] = ()) -> tuple[str, ...]:
    with pytest.raises(SelectorError) as raised:
        parse_node_term(NodeSelectorTerm(expressions, fields))
    return raised.value.faults


@pytest.mark.parametrize(
    ("written", "faults"),
    [
        (
            requirement("b!", "Bad", "x y"),
            [
                (
                    'operator: Unsupported value: "Bad": supported values: '
                    '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
                )
            ],
        ),
        (requirement("a", "In"), [f"values: Invalid value: []: {EMPTY}"]),
        (SelectorRequirement("a", "In"), [f"values: Invalid value: null: {EMPTY}"]),
        (
            requirement("a", "Exists", "1"),
            ['values: Invalid value: ["1"]: values set must be empty for exists and does not exist'],
        ),
        (requirement("a", "Gt"), [f"values: Invalid value: []: {NONE_OR_ONE}"]),
        (
            requirement("a", "Gt", "x", "2", "y z"),
            [
                f'values: Invalid value: ["x","2","y z"]: {NONE_OR_ONE}',
                f'values[0]: Invalid value: "x": {INTEGER}',
                f'values[2]: Invalid value: "y z": {INTEGER}',
                f'values[2][a]: Invalid value: "y z": {VALUE}',
            ],
        ),
        (
            requirement("b!", "In", "x y", "ok"),
            [f'key: Invalid value: "b!": name part {NAME}', f'values[0][b!]: Invalid value: "x y": {VALUE}'],
        ),
        (requirement('q"\\t', "Exists"), [f'key: Invalid value: "q\\"\\\\t": name part {NAME}']),
        (requirement("", "Exists"), [f'key: Invalid value: "": name part must be non-empty; name part {NAME}']),
        (requirement("/z", "Exists"), ['key: Invalid value: "/z": prefix part must be non-empty']),
        (
            requirement("x" * 64, "Exists"),
            [f'key: Invalid value: "{"x" * 64}": name part must be no more than 63 bytes'],
        ),
        (requirement("x.Y/z", "Exists"), [f'key: Invalid value: "x.Y/z": prefix part {SUBDOMAIN}']),
        (
            requirement("a/b/c", "Exists"),
            [
                (
                    f'key: Invalid value: "a/b/c": a valid label key {NAME} '
                    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
                )
            ],
        ),
        (
            requirement("a", "In", "é" * 40),
            [f'values[0][a]: Invalid value: "{"é" * 40}": must be no more than 63 bytes; {VALUE}'],
        ),
    ],
)
def test_every_fault_of_a_requirement_is_told(written: SelectorRequirement, faults: list[str]):
    assert term_faults(written) == tuple(f"matchExpressions[0].{fault}" for fault in faults)


def test_fields_have_in_or_not_in_with_one_value():
    fields = (requirement("f", "Bad", "1", "2"), SelectorRequirement("f", "In"), requirement("f", "NotIn", "a", "b"))
    assert term_faults(fields=fields) == (
        'matchFields[0].operator: Unsupported value: "Bad": supported values: "In", "NotIn"',
        "matchFields[1].values: Invalid value: null: must have one element",
        'matchFields[2].values: Invalid value: ["a","b"]: must have one element',
    )


def test_the_faults_of_all_requirements_of_a_term_are_told():
    bad = requirement("a", "In")
    places = [fault.partition(".")[0] for fault in term_faults(bad, requirement("a", "Exists"), bad, fields=(bad,))]
    assert places == ["matchExpressions[0]", "matchExpressions[2]", "matchFields[0]"]


def test_several_faults_stand_in_brackets_each_once():
    assert str(SelectorError("a")) == "a"
    assert str(SelectorError("a", "b", "a")) == "[a, b]"


def selector_error(**selector: object) -> str:
    with pytest.raises(SelectorError) as raised:
        parse_selector(LabelSelector(**selector))
    return str(raised.value)


def test_a_label_selector_has_no_comparisons():
    expressions = (requirement("a", "Gt", "1"),)
    assert selector_error(match_expressions=expressions) == '"Gt" is not a valid label selector operator'


def test_only_the_first_bad_requirement_of_a_label_selector_is_told_and_has_no_place():
    expressions = (requirement("a", "In"), requirement("b", "In"))
    assert selector_error(match_expressions=expressions) == f"values: Invalid value: null: {EMPTY}"
    assert selector_error(match_labels={"a": "x y"}) == f'values[0][a]: Invalid value: "x y": {VALUE}'


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("-3", -3), ("+4", 4), ("9223372036854775808", None), ("1.5", None), ("", None), (" 1", None)],
)
def test_numbers_are_base_10_int64(text: str, number: int | None):
    assert as_int64(text) == number
