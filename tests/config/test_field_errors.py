import msgspec
import pytest

from kubesched.config import Duration, FieldError, child, config_error, did_you_mean, item, joined
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
    assert joined(["a", "b"]) == "[a, b]"
    assert joined(["a", "a"]) == "a"


def test_help_stands_on_indented_lines_below():
    errors = [FieldError.required("a", help="give it"), FieldError.required("b")]
    assert str(config_error(errors, "prefix: ")) == "prefix: [a: Required value, b: Required value]\n  a: give it"


def test_paths_begin_without_a_point():
    assert child("", "a") == "a"
    assert item(child("a", "b"), 2) == "a.b[2]"


def test_the_nearest_word_is_found_whatever_its_case():
    assert did_you_mean("PARALLELISM", ["parallelism", "profiles"]) == 'did you mean "parallelism"?'
    assert did_you_mean("zzz", ["parallelism"]) == ""
