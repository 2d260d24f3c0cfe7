import pytest

from kubesched.documents import read_yaml
from kubesched.errors import YamlError


def read(text: str | bytes) -> list:
    return [document.value for document in read_yaml(text)]


def test_every_document_is_one_value_and_an_empty_one_is_none():
    assert read("a: 1\n---\n---\nb: [x, 2]\n...\n---\n") == [{"a": 1}, None, {"b": ["x", 2]}, None]


def test_quoted_scalars_stay_text():
    assert read("['1', \"true\", '', !!str 5, ! 6]") == [["1", "true", "", "5", "6"]]


def test_keys_become_text():
    assert read("{1: a, true: b, 1.5: c, 2024-01-01: d}") == [{"1": "a", "true": "b", "1.5": "c", "2024-01-01": "d"}]


def test_an_alias_stands_for_what_it_names():
    assert read("a: &x {b: 1}\nc: *x\nd: &s word\n*s : 2\n") == [{"a": {"b": 1}, "c": {"b": 1}, "d": "word", "word": 2}]


@pytest.mark.parametrize(
    "text",
    [
        f"a: &a {'x' * 100_000}\nb: [{'*a, ' * 1000}]\n",
        f"a: &a {'x' * 100_000}\nb: [{'{*a : 1}, ' * 1000}]\n",
        "".join(f"---\na: &a [{'1, ' * 1000}]\nb: [{'*a, ' * 100}]\n" for _ in range(20)),
    ],
    ids=["a long text", "a long key", "many documents"],
)
def test_what_aliases_expand_to_has_a_bound(text):
    with pytest.raises(YamlError, match="document contains excessive aliasing"):
        read(text)


def test_merged_keys_give_way_to_own_ones_and_to_earlier_maps():
    text = "a: &a {p: 1, q: 2}\nb: &b {q: 3, r: 4}\nc:\n  <<: [*a, *b]\n  p: 0\n"
    assert read(text)[0]["c"] == {"p": 0, "q": 2, "r": 4}


def test_binary_becomes_its_text():
    assert read("!!binary aGVsbG8=") == ["hello"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x [*x]", "line 1, column 8: anchor 'x' value contains itself"),
        ("a: *b", "unknown anchor 'b' referenced"),
        ("- " * 300, "line 1, column 401: exceeded max depth of 200"),
        ("[" * 300, "exceeded max depth of 200"),
        ("? [a]\n: b", "a map key is a list or a map"),
        ("? {a: b}\n: b", "a map key is a list or a map"),
        ("~: a", "a map key is null"),
        ("<<: 5", "map merge requires map or sequence of maps as the value"),
        ("a: !Ref b", "unknown tag '!Ref'"),
        ("a: !Ref [b]", "unknown tag '!Ref'"),
        ("a: .inf", "line 1, column 4: '.inf' is not a finite number"),
        ("a: !!int many", "'many' is not a number"),
        ("a: b: c", "line 1, column 5: not valid YAML: mapping values are not allowed in this context"),
        ('a: "b', "not valid YAML: found unexpected end of stream"),
        ("\ta: b", "not valid YAML: found character that cannot start any token"),
        (b"a: \xff", "not valid YAML: invalid leading UTF-8 octet"),
        (b"a: \x01", "not valid YAML: control characters are not allowed"),
        ("%YAML 3.0\n---\na: b", "not valid YAML: found incompatible YAML document"),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(text, words):
    with pytest.raises(YamlError) as caught:
        read(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_repeated_keys_have_their_places_and_the_last_value_counts():
    (document,) = read_yaml("a: 1\nb:\n  c: 2\n  c: 3\n1: v\n1: w\n")
    assert document.value == {"a": 1, "b": {"c": 3}, "1": "w"}
    assert [(key.line, key.column, key.text) for key in document.repeated_keys] == [
        (4, 3, 'key "c" already set in map'),
        (6, 1, "key 1 already set in map"),
    ]


def test_a_key_that_a_merge_brings_too_is_repeated_by_the_merge():
    (document,) = read_yaml("a: {<<: {b: 1}, b: 2}\nc: {b: 1, <<: {b: 2}}\nd: {<<: [{b: 1}, {b: 2}]}")
    assert document.value == {"a": {"b": 2}, "c": {"b": 1}, "d": {"b": 1}}
    assert [(key.line, key.is_merged) for key in document.repeated_keys] == [(1, True), (2, True), (3, True)]


def test_keys_are_sorted_on_request():
    (document,) = read_yaml("b: {z: 1, a: 2}\na: {<<: {q: 1}, p: 2}", sort_keys=True)
    assert [list(document.value), list(document.value["b"]), list(document.value["a"])] == [
        ["a", "b"],
        ["a", "z"],
        ["p", "q"],
    ]


def test_a_fault_is_reported_as_upstream_reports_it_too():
    with pytest.raises(YamlError) as caught:
        read("a: 1\nb: [\n")
    assert caught.value.upstream == "yaml: line 2: did not find expected node content"
    assert str(caught.value) == "line 3, column 1: not valid YAML: did not find expected node content"


def test_texts_have_their_places_where_these_are_asked_for():
    document, further = read_yaml("a: 1\nb:\n  - |\n    x\n    y\n  - 'q'\n--- {c: d}\n", places=True)
    block, quoted = document.value["b"]
    assert [(text.line, text.column, text.is_literal) for text in (block, quoted)] == [(3, 5, True), (6, 5, False)]
    assert (further.value["c"].line, further.value["c"].offset) == (7, 42)
    assert (further.start, further.line) == (34, 7)
