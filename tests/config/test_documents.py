import pytest
import yaml

from kubesched.config import write_yaml
from kubesched.config.documents import parse_document, parse_value
from kubesched.errors import ConfigError


def value_of(text: str) -> object:
    return parse_document(text).value


# As kubectl's reader takes them, checked against sigs.k8s.io/yaml.
@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("y", True),
        ("Off", False),
        ("017", 15),
        ("0o17", 15),
        ("-017", -15),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1e2", 100),
        ("4.0", 4),
        ("1.5", 1.5),
        ("~", None),
        ("", None),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("!!timestamp 2001-01-01", "2001-01-01"),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("'5'", "5"),
    ],
)
def test_scalars_are_resolved_as_kubectl_does(scalar, value):
    read = value_of(f"a: {scalar}")["a"]
    assert (read, type(read)) == (value, type(value))


def test_keys_become_texts_in_sorted_order():
    assert list(value_of("b: 1\n1: 2\nyes: 3\n1.5: 4\na: 5")) == ["1", "1.5", "a", "b", "true"]


def test_repeated_keys_are_counted_with_their_lines():
    parsed = parse_document("a: 1\nb: 2\na: 3\n1: 4\n1: 5")
    assert parsed.duplicate_keys == ('line 3: key "a" already set in map', "line 5: key 1 already set in map")


def test_a_key_that_a_merge_brings_already_is_a_repeated_one():
    parsed = parse_document("a: {<<: {b: 1}, b: 2}\nc: {<<: {b: 1}, d: 2}")
    assert parsed.value == {"a": {"b": 2}, "c": {"b": 1, "d": 2}}
    assert parsed.duplicate_keys == ('line 1: key "b" already set in map',)


def test_only_the_first_document_counts():
    assert value_of("a: 1\n---\nb: [") == {"a": 1}


def test_nothing_is_null():
    assert value_of("") is None
    assert value_of("# nothing\n") is None


def test_json_keeps_its_order_and_remembers_repeated_keys():
    value = value_of('{"b": 1, "a": {"c": 1, "c": 2}, "b": 3}')
    assert (list(value), value.duplicates, value["a"].duplicates) == (["b", "a"], ("b",), ("c",))


def test_a_configuration_that_begins_with_a_brace_is_json_and_other_values_need_not_be():
    with pytest.raises(ConfigError, match="json parse error"):
        parse_document("{a: b}")
    assert parse_value("{a: b}").value == parse_value('{"a": "b"}').value == {"a": "b"}


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="the words of a syntax error are libyaml's")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\nprofiles: [\n", "yaml: line 3: did not find expected node content"),
        ("a: 'x\nfoo: 1\n", "yaml: line 3: found unexpected end of stream"),
        ("a: 1\n\tfoo: 1", "yaml: line 2: found a tab character that violates indentation"),
    ],
)
def test_a_syntax_error_is_placed_as_upstream_places_it(text, message):
    with pytest.raises(ConfigError) as caught:
        value_of(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [*x]",
        "? [a]\n: x",
        "? \n: x",
        "a: !!python/object:os.system x",
        "a: \x01",
        "[" * 5000,
        '{"a": NaN}',
        '{"a"}',
    ],
)
def test_what_json_cannot_say_is_refused_without_a_trace(text):
    with pytest.raises(ConfigError, match=r"^(yaml: |couldn't get version/kind; json parse error: )"):
        value_of(text)


@pytest.mark.parametrize(
    "text", ["y", "on", "1e3", "0o17", "017", "1_0", "null", "a: b", "<<", "ä", "2001-01-01", "", "1.5"]
)
def test_texts_are_written_so_that_they_stay_texts(text):
    assert value_of(write_yaml({"a": text})) == {"a": text}


def test_shared_values_are_written_out():
    shared = ["a"]
    assert "&" not in write_yaml([shared, shared])


@pytest.mark.parametrize("text", ["a\nb\n", "a\n  b", " a\nb", "a \nb\n\n", "\n", "a\n\tb", "# a\n- b: |\n  c\n"])
def test_lines_are_written_as_lines_and_read_back(text):
    assert value_of(write_yaml({"a": text})) == {"a": text}
    assert write_yaml({"a": "b: 1\nc: 2\n"}) == "a: |\n  b: 1\n  c: 2\n"
