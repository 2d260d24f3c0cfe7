import msgspec
import pytest

from kubesched.cluster.watch_lines import outline_of, read_line, split_lines

LINES = [b'{"type":"ADDED","object":{"a":1}}', b'{"type":"BOOKMARK","object":{}}']


@pytest.mark.parametrize("size", [1, 2, 7, 20, 1000])
def test_lines_are_whole_however_the_network_cuts_them(size: int) -> None:
    text, rest, lines = b"\n".join(LINES) + b"\n", b"", []
    for start in range(0, len(text), size):
        more, rest = split_lines(rest, text[start : start + size])
        lines += more
    assert (lines, rest) == (LINES, b"")


def test_the_beginning_of_a_line_waits_for_its_end() -> None:
    assert split_lines(b"", b"one\ntw") == ([b"one"], b"tw")


def test_empty_lines_say_nothing() -> None:
    assert split_lines(b"", b"\n\none\n\n") == ([b"one"], b"")


def test_a_line_keeps_its_object_as_it_came() -> None:
    said = read_line(LINES[0])
    assert (said.type, bytes(said.object)) == ("ADDED", b'{"a":1}')


def test_an_outline_needs_the_metadata_alone() -> None:
    outline = outline_of(msgspec.Raw(b'{"metadata":{"name":"n","namespace":"a","resourceVersion":"7"},"spec":5}'))
    assert (outline.key, outline.resource_version) == ("a/n", "7")


@pytest.mark.parametrize("raw", [b"5", b'{"metadata":5}', b'{"metadata":{"name":5}}', b'{"metadata":{"name":"\xff"}}'])
def test_an_outline_of_nonsense_is_empty(raw: bytes) -> None:
    assert outline_of(msgspec.Raw(raw)).key == ""
