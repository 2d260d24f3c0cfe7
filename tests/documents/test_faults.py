"""A fault names the field, what is expected and what was found; a secret is not shown."""

from typing import Annotated

import msgspec
import pytest

from kubesched.documents import Fault, describe_fault, describe_json_fault, shorten


class Inner(msgspec.Struct):
    name: str
    count: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0
    ratio: int | float | str = 0


class Outer(msgspec.Struct):
    items: list[Inner] = []
    by_key: dict[str, Inner] = {}


def fault_of(document: object, *shown: object) -> str:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(document, Outer)
    return str(describe_fault(caught.value, *shown))


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "expected an object, found []"),
        ({"items": [{"name": "a"}, {"name": 5}]}, "items[1].name: expected a string, found 5; put it in quotes"),
        ({"items": [{}]}, "items[0].name: Required value"),
        ({"items": [{"name": "a", "count": 10}]}, "items[0].count: expected an integer of at most 9, found 10"),
        ({"items": [{"name": "a", "ratio": True}]}, "items[0].ratio: expected a number or a string, found true"),
        ({"by_key": {"a": {"name": "a"}, "b": {"name": None}}}, "by_key.b.name: expected a string, found null"),
    ],
)
def test_plain_values_that_are_no_struct(document, sentence):
    assert fault_of(document, document) == sentence


def test_without_the_document_no_value_is_shown():
    assert fault_of({"items": [{"name": 5}]}) == "items[0].name: expected a string, found an integer"


def test_json_that_is_broken_elsewhere():
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(b'{"items": 5, "x": nope}', type=Outer)
    assert "invalid character" in describe_json_fault(caught.value, b'{"items": 5, "x": nope}').text


def test_long_values_are_cut():
    assert shorten("x" * 100) == '"' + "x" * 59 + "..."
    assert str(Fault("", "text")) == "text"
