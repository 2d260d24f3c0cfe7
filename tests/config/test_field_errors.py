import msgspec
import pytest

from kubesched.config import (
    Duration,
    FieldError,
    bracketed,
    child,
    did_you_mean,
    item,
    qualified_name_errors,
)
from kubesched.config.field_errors import Verbatim


class Point(msgspec.Struct, rename="camel"):
    x_axis: int
    others: tuple[int, ...] = ()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, "3"),
        (True, "true"),
        ('a"b', r'"a\"b"'),
        (Duration(10), '"10s"'),
        ((), "[]"),
        ((Point(1),), '[{"XAxis":1,"Others":null}]'),
        (Point(1, (2,)), '{"XAxis":1,"Others":[2]}'),
        (Verbatim("{}"), "{}"),
    ],
)
def test_an_invalid_value_is_shown_as_upstream_shows_it(value, shown):
    assert str(FieldError.invalid("a.b", value, "must not be")) == f"a.b: Invalid value: {shown}: must not be"


def test_each_kind_of_finding_has_upstream_words():
    assert str(FieldError.required("a")) == "a: Required value"
    assert str(FieldError.required("a", "say it")) == "a: Required value: say it"
    assert str(FieldError.duplicate("a", "x")) == 'a: Duplicate value: "x"'
    assert str(FieldError.forbidden("a", "not here")) == "a: Forbidden: not here"
    assert str(FieldError.unsupported("a", "x", ("b", "c"))) == (
        'a: Unsupported value: "x": supported values: "b", "c"'
    )


def test_an_unsupported_value_is_told_the_nearest_one():
    assert FieldError.unsupported("a", "list", ("System", "List")).help == 'did you mean "List"?'


def test_several_findings_stand_in_brackets_and_a_repeated_one_once():
    assert bracketed(["a", "b"]) == "[a, b]"
    assert bracketed(["a", "a"]) == "a"


def test_paths_begin_without_a_point():
    assert child("", "a") == "a"
    assert item(child("a", "b"), 2) == "a.b[2]"


def test_the_nearest_word_is_found_whatever_its_case():
    assert did_you_mean("PARALLELISM", ["parallelism", "profiles"]) == 'did you mean "parallelism"?'
    assert did_you_mean("zzz", ["parallelism"]) == ""


NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
OPTIONAL_PREFIX = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"


def faults(name: str) -> list[str]:
    return [str(error).removeprefix(f'p: Invalid value: "{name}": ') for error in qualified_name_errors("p", name)]


@pytest.mark.parametrize("name", ["cpu", "example.com/gpu", "A_b.c-1", "x" * 63])
def test_well_formed_names_pass(name):
    assert faults(name) == []


# Recorded from kube-scheduler v1.36.3.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x" * 64, ["name part must be no more than 63 bytes"]),
        ("a." * 130 + "b/x", ["prefix part must be no more than 253 bytes"]),
        ("/x", ["prefix part must be non-empty"]),
        ("", ["name part must be non-empty", f"name part {NAME_RULE}"]),
        ("bad_", [f"name part {NAME_RULE}"]),
        ("a/b/c", [f"a valid label key {NAME_RULE} {OPTIONAL_PREFIX}"]),
    ],
)
def test_each_broken_rule_is_told_in_upstream_words(name, expected):
    assert faults(name) == expected


def test_prefix_and_name_are_judged_apart():
    assert [fault[:11] for fault in faults("bad name/")] == ["prefix part", "name part m", "name part m"]
