"""Expected values were taken from `kubectl annotate --local -o json` (kubectl 1.32) over an unknown kind."""

import pytest

from kubesched.documents.yaml_scalars import parse_boolean, parse_number, resolve_plain


@pytest.mark.parametrize("text", ["y", "Y", "yes", "Yes", "on", "ON", "true", "True"])
def test_yaml_1_1_words_for_true_are_true(text):
    assert resolve_plain(text) is True


@pytest.mark.parametrize("text", ["n", "No", "off", "False", "FALSE"])
def test_yaml_1_1_words_for_false_are_false(text):
    assert resolve_plain(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_words_for_null_are_none(text):
    assert resolve_plain(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("017", 15),
        ("0o17", 15),
        ("-017", -15),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("1__0", 10),
        ("08", 8),
        ("+5", 5),
        ("0777777", 262143),
        ("100000000000000000000", 100000000000000000000),
        ("1e3", 1000.0),
        ("1.5e3", 1500.0),
        ("1.", 1.0),
        (".5", 0.5),
    ],
)
def test_numbers_read_as_gos_reader_does(text, number):
    assert resolve_plain(text) == number


@pytest.mark.parametrize(
    "text", ["1:30", "12:30:45", "2024-01-01", "2024-01-01T00:00:00Z", "=", "<<", "0x", "1e", "e3", "-", ".", "yEs"]
)
def test_what_only_looks_like_a_value_stays_text(text):
    assert resolve_plain(text) == text


@pytest.mark.parametrize("text", ["9" * 5000, "1e999"])
def test_a_number_beyond_float64_is_text(text):
    assert resolve_plain(text) == text


@pytest.mark.parametrize("text", ["1e3", "4.0", "1."])
def test_a_whole_number_is_an_integer(text):
    assert type(resolve_plain(text)) is int


@pytest.mark.parametrize("text", [".inf", "-.Inf", ".nan"])
def test_a_number_that_json_cannot_say_is_refused(text):
    with pytest.raises(ValueError, match="is not a finite number"):
        resolve_plain(text)


def test_a_tagged_boolean_must_be_one():
    assert parse_boolean("yes") is True
    with pytest.raises(ValueError, match="'maybe' is neither true nor false"):
        parse_boolean("maybe")


def test_a_tagged_number_must_be_one():
    assert parse_number("0x10") == 16
    with pytest.raises(ValueError, match="'many' is not a number"):
        parse_number("many")
