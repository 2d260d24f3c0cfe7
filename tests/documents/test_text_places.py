import pytest

from kubesched.documents import locate

TEXT = """# a comment
plain: 1
map: &x
  list: [1, {deep: 2}]
"dotted.key":
- g: h
  "with[0]": 5
alias: *x
merged:
  <<: *x
  own: 3
last: |
  text
"""


@pytest.mark.parametrize(
    ("path", "place", "is_there"),
    [
        ("", (2, 1), True),
        ("plain", (2, 8), True),
        ("map", (3, 1), True),
        ("map.list", (4, 3), True),
        ("map.list[0]", (4, 10), True),
        ("map.list[1].deep", (4, 20), True),
        ("map.list[7].deep", (4, 3), False),
        ("map.absent", (3, 1), False),
        ("dotted.key[0].g", (6, 6), True),
        ("dotted.key[0].with[0]", (7, 14), True),
        ("alias", (8, 1), True),
        ("alias.list[0]", (4, 10), True),
        ("merged.list[0]", (4, 10), True),
        ("merged.own", (11, 8), True),
        ("MAP.List[0]", (4, 10), True),
        ("last", (12, 7), True),
        ("absent.field", (2, 1), False),
    ],
)
def test_a_field_or_its_nearest_parent_has_a_place(path, place, is_there):
    nearest, found = locate(TEXT).root.nearest(path)
    assert (nearest.shown, found) == (place, is_there)


def test_the_key_of_a_field_has_a_place():
    assert locate(TEXT).root.nearest("dotted.key[0].with[0]")[0].key == (7, 3)


def test_the_last_of_a_repeated_key_counts_and_the_repetition_is_reported():
    places = locate("a: 1\na: 2\n")
    assert places.root.nearest("a")[0].shown == (2, 4)
    assert [(key.line, key.column) for key in places.repeated_keys] == [(2, 1)]


def test_every_document_that_is_not_empty_has_a_place():
    assert [place.shown for place in locate("a: 1\n---\n# nothing\n---\n\nb: 2\n").documents] == [(1, 1), (6, 1)]


@pytest.mark.parametrize(("text", "fault"), [("a: [\n", (2, 1)), ("a: 1\n\tb: 2", (2, 1)), ("a: *b", (1, 4))])
def test_what_is_not_yaml_has_the_place_of_its_fault(text, fault):
    assert locate(text).fault == fault


def test_json_may_be_indented_with_tabs():
    assert locate('{\n\t"a":\t[1]\n}').root.nearest("a[0]")[0].shown == (2, 8)


def test_nothing_is_at_the_beginning():
    assert locate("").root.shown == (1, 1)
    assert locate("5").root.shown == (1, 1)
