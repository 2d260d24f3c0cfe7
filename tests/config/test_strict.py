from typing import Annotated

import msgspec
import pytest

from kubesched.config.findings import error_of
from kubesched.config.parsed_text import parse_value
from kubesched.config.scalars import Duration
from kubesched.config.strict import convert, select_known, typed
from kubesched.errors import ConfigError


class Inner(msgspec.Struct, rename="camel"):
    some_count: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0
    wait: Duration = Duration(0)


class Outer(msgspec.Struct, rename="camel"):
    name: str = ""
    flag: bool = True
    ratio: float = 0
    inner: Inner | None = None
    items: tuple[Inner, ...] = ()
    by_key: dict[str, Inner] = {}


def texts(text: str) -> list[str]:
    return [finding.message for finding in select_known(parse_value(text).value, Outer)[1]]


def decode(text: str) -> tuple[Outer | None, list[str]]:
    """The value, and what a loader says about each value of a wrong type."""
    value, findings = convert(select_known(parse_value(text).value, Outer)[0], Outer)
    return value, [str(error_of([finding])) for finding in findings]


def test_unknown_fields_are_found_at_any_depth():
    assert texts("{foo: 1, inner: {x: 1}, items: [{}, {SomeCount: 1}], byKey: {k: {z: 1}}}") == [
        'unknown field "byKey.k.z"',
        'unknown field "foo"',
        'unknown field "inner.x"',
        'unknown field "items[1].SomeCount"',
    ]


def test_unknown_and_repeated_fields_of_json_stand_in_its_order():
    assert texts('{"z": 1, "name": "a", "name": "b", "items": [{"x": 1}], "b": 1}') == [
        'unknown field "z"',
        'duplicate field "name"',
        'unknown field "items[0].x"',
        'unknown field "b"',
    ]


def test_the_help_offers_the_nearest_field_or_all():
    findings = select_known({"Name": 1, "inner": {"zzz": 1}}, Outer)[1]
    assert [finding.lines[1:] for finding in findings] == [
        ('Name: did you mean "name"?',),
        ("inner.zzz: allowed here: someCount, wait",),
    ]


def test_null_is_absent_and_an_empty_item():
    assert decode("{name: null, inner: null, items: [null]}") == (Outer(items=(Inner(),)), [])


def test_a_duration_is_read_from_its_text():
    assert decode("inner: {wait: 1m}") == (Outer(inner=Inner(wait=Duration(60))), [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: 5", "name: expected a string, found 5; put it in quotes"),
        ("flag: 'no'", 'flag: expected true or false, found "no"'),
        ("ratio: x", 'ratio: expected a number, found "x"'),
        ("inner: [1]", "inner: expected an object, found [1]"),
        ("items: {a: 1}", 'items: expected a list, found {"a":1}'),
        ("items: [{}, {someCount: 1.5}]", "items[1].someCount: expected an integer, found 1.5"),
        ("inner: {someCount: 10}", "inner.someCount: expected an integer of at most 9, found 10"),
        ("byKey: {a: {}, b: {someCount: x}}", 'byKey.b.someCount: expected an integer, found "x"'),
        ("inner: {wait: 5}", "inner.wait: expected a duration such as 15s or 1m30s, found 5"),
        (
            "inner: {wait: soon}",
            'time: invalid duration "soon"\n  inner.wait: a duration is a number with a unit, such as 15s or 1m30s',
        ),
    ],
)
def test_a_wrong_type_is_told_with_its_path(text, message):
    assert decode(text)[1] == [message]


def test_every_value_of_a_wrong_type_is_left_out_and_the_rest_is_read():
    value, errors = decode("{name: 5, flag: false, items: [{}, 3, {someCount: x}, {someCount: 2}], byKey: []}")
    assert value == Outer(flag=False, items=(Inner(), Inner(), Inner(), Inner(2)))
    assert errors == [
        "byKey: expected an object, found []",
        "items[1]: expected an object, found 3",
        'items[2].someCount: expected an integer, found "x"',
        "name: expected a string, found 5; put it in quotes",
    ]


def test_a_value_of_python_has_its_type_or_is_an_error():
    assert typed(5, float) == 5.0
    with pytest.raises(ConfigError, match="expected an integer, found"):
        typed("x", int)
