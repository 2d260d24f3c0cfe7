"""JSON that is deeper than a decoder can go is decoded without its depths."""

import json

import msgspec
import pytest

from kubesched.documents import decode_nested


def nested(levels: int, inside: str = "1") -> str:
    return '{"a":[' * (levels // 2) + inside + "]}" * (levels // 2)


def decoded(text: str) -> object:
    return decode_nested(msgspec.json.decode, text.encode())


def test_what_a_decoder_can_read_stays_whole() -> None:
    assert decoded(nested(200)) == json.loads(nested(200))


def test_the_depths_are_null_and_the_rest_stays() -> None:
    text = f'{{"first": {nested(9_000)}, "then": [{nested(9_000)}, {nested(10)}], "last": "x"}}'
    first, then, last = msgspec.convert(decoded(text), dict).values()
    assert first["a"][0]["a"]
    assert then[1] == json.loads(nested(10))
    assert last == "x"


@pytest.mark.parametrize("tricky", ['"]}]}"', '"\\"]}"', '"\\\\"', '"{[\\u005b"'])
def test_brackets_in_strings_do_not_count(tricky: str) -> None:
    text = f'{{"first": {tricky}, {tricky}: {nested(9_000, tricky)}, "last": {tricky}}}'
    assert msgspec.convert(decoded(text), dict)["last"] == json.loads(tricky)


@pytest.mark.parametrize("text", ["{" * 9_000, nested(9_000)[:-1], nested(9_000) + "]", nested(9_000) + ' "', "nope"])
def test_what_is_not_json_is_refused_as_ever(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        decoded(text)
