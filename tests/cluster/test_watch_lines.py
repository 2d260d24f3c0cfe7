import msgspec
import pytest

from kubesched.api import KINDS
from kubesched.cluster.watch_lines import Lines, foreign_type, outline_of, read_line

LINES = [b'{"type":"ADDED","object":{"a":1}}', b'{"type":"BOOKMARK","object":{}}']


@pytest.mark.parametrize("size", [1, 2, 7, 20, 1000])
def test_lines_are_whole_however_the_network_cuts_them(size: int) -> None:
    text, lines, found = b"\n".join(LINES) + b"\n", Lines(), []
    for start in range(0, len(text), size):
        found += lines.complete(text[start : start + size])
    assert (found, lines.n_waiting) == (LINES, 0)


def test_the_beginning_of_a_line_waits_for_its_end() -> None:
    lines = Lines()
    assert lines.complete(b"one\ntw") == [b"one"]
    assert lines.n_waiting == 2
    assert lines.complete(b"o\n") == [b"two"]


def test_empty_lines_say_nothing() -> None:
    assert Lines().complete(b"\n\none\n\n") == [b"one"]


@pytest.mark.parametrize(
    ("raw", "foreign"),
    [
        (b'{"kind":"Pod","apiVersion":"v1","metadata":{}}', ""),
        (b'{"apiVersion":"v1","kind":"Pod"}', ""),
        (b'{"metadata":{"name":"a"}}', ""),
        (b'{ "metadata":{"name":"a"}}', ""),
        (b'{"kind":"Pod","apiVersion":"v2","metadata":{}}', "v2/Pod"),
        (b'{"kind":"PodTemplate","apiVersion":"v1","metadata":{}}', "v1/PodTemplate"),
        (b'{"spec":{},"kind":"Node"}', "/Node"),
        (b"5", ""),
        (b'{"kind":5}', ""),
    ],
)
def test_an_object_of_another_type_is_named(raw: bytes, foreign: str) -> None:
    assert foreign_type(KINDS["Pod"], msgspec.Raw(raw)) == foreign


def test_a_line_keeps_its_object_as_it_came() -> None:
    said = read_line(LINES[0])
    assert (said.type, bytes(said.object)) == ("ADDED", b'{"a":1}')


def test_an_outline_needs_the_metadata_alone() -> None:
    outline = outline_of(msgspec.Raw(b'{"metadata":{"name":"n","namespace":"a","resourceVersion":"7"},"spec":5}'))
    assert (outline.key, outline.resource_version) == ("a/n", "7")


@pytest.mark.parametrize("raw", [b"5", b'{"metadata":5}', b'{"metadata":{"name":5}}', b'{"metadata":{"name":"\xff"}}'])
def test_an_outline_of_nonsense_is_empty(raw: bytes) -> None:
    assert outline_of(msgspec.Raw(raw)).key == ""
