import pytest

from kubesched.errors import InputError
from kubesched.snapshot.yaml_documents import read_yaml


def read(text: str | bytes) -> list:
    return list(read_yaml(text.encode() if isinstance(text, str) else text, "f.yaml"))


def test_every_document_is_one_value_and_an_empty_one_is_none():
    assert read("a: 1\n---\n---\nb: [x, 2]\n...\n---\n") == [{"a": 1}, None, {"b": ["x", 2]}, None]


def test_quoted_scalars_stay_text():
    assert read("['1', \"true\", '', !!str 5, ! 6]") == [["1", "true", "", "5", "6"]]


def test_keys_become_text():
    assert read("{1: a, true: b, 1.5: c, 2024-01-01: d}") == [{"1": "a", "true": "b", "1.5": "c", "2024-01-01": "d"}]


def test_an_alias_stands_for_what_it_names():
    assert read("a: &x {b: 1}\nc: *x\nd: &s word\n*s : 2\n") == [{"a": {"b": 1}, "c": {"b": 1}, "d": "word", "word": 2}]


def test_merged_keys_give_way_to_own_ones_and_to_earlier_maps():
    text = "a: &a {p: 1, q: 2}\nb: &b {q: 3, r: 4}\nc:\n  <<: [*a, *b]\n  p: 0\n"
    assert read(text)[0]["c"] == {"p": 0, "q": 2, "r": 4}


def test_binary_becomes_its_text():
    assert read("!!binary aGVsbG8=") == ["hello"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb:\n  c: 2\n  c: 3\n", "line 4, column 3: key 'c' stands twice in one map"),
        ("a: &x [*x]", "line 1, column 8: alias *x refers to nothing that is complete here"),
        ("a: *b", "alias *b refers to nothing"),
        ("- " * 300, "line 1, column 401: nested deeper than 200 levels"),
        ("[" * 300, "nested deeper than 200 levels"),
        ("? [a]\n: b", "a map key is a list or a map"),
        ("? {a: b}\n: b", "a map key is a list or a map"),
        ("~: a", "a map key is null"),
        ("<<: 5", "`<<` takes a map or a list of maps"),
        ("a: !Ref b", "unknown tag '!Ref'"),
        ("a: !Ref [b]", "unknown tag '!Ref'"),
        ("a: .inf", "line 1, column 4: '.inf' is no finite number"),
        ("a: !!int many", "'many' is no finite number"),
        ("a: b: c", "line 1, column 5: this is no YAML: mapping values are not allowed in this context"),
        ('a: "b', "this is no YAML: found unexpected end of stream"),
        ("\ta: b", "this is no YAML: found character that cannot start any token"),
        (b"a: \xff", "this is no YAML: invalid leading UTF-8 octet"),
        (b"a: \x01", "this is no YAML: control characters are not allowed"),
        ("%YAML 3.0\n---\na: b", "this is no YAML: found incompatible YAML document"),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(text, words):
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value).startswith("f.yaml: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_aliases_that_multiply_are_refused():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in range(9):
        bomb += f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]\n"
    with pytest.raises(InputError, match="the aliases of this document stand for more than 1000000 values"):
        read(bomb)
