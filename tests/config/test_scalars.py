import msgspec
import pytest

from kubesched.config import Duration, Int32, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("15s", 15), ("1m30s", 90), ("1h0m0.5s", 3600.5), ("100ms", 0.1), ("-2h", -7200), (".5s", 0.5), ("0", 0)],
)
def test_a_duration_is_read_in_seconds(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (15, "15s"),
        (600, "10m0s"),
        (3600, "1h0m0s"),
        (0.1, "100ms"),
        (1.5, "1.5s"),
        (3e-6, "3µs"),
        (-90, "-1m30s"),
    ],
)
def test_a_duration_is_written_as_go_writes_it(seconds, text):
    assert str(Duration(seconds)) == text


@pytest.mark.parametrize("text", ["1h0m0.000000001s", "2562047h47m16.854775807s", "999ns", "1.5µs", "10m0s"])
def test_what_was_written_is_read_back(text):
    assert str(parse_duration(text)) in (text, "2562047h47m16.854775808s")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", 'time: invalid duration "soon"'),
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("5", 'time: missing unit in duration "5"'),
        ("1s5", 'time: missing unit in duration "1s5"'),
        ("5x", 'time: unknown unit "x" in duration "5x"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
        (f"{'9' * 5000}s", f'time: invalid duration "{"9" * 5000}s"'),
    ],
)
def test_what_is_no_duration_is_refused_in_go_words(text, message):
    with pytest.raises(ValueError) as caught:
        parse_duration(text)
    assert str(caught.value) == message


def test_an_int32_is_bounded():
    assert msgspec.convert(2**31 - 1, Int32) == 2**31 - 1
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(2**31, Int32)
