import pytest
import yaml

from kubesched.config.parsed_text import parse_document, parse_value
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
    keys = [(key.line, key.text) for key in parsed.repeated_keys]
    assert keys == [(3, 'key "a" already set in map'), (5, "key 1 already set in map")]


def test_a_key_that_a_merge_brings_already_is_a_repeated_one():
    parsed = parse_document("a: {<<: {b: 1}, b: 2}\nc: {<<: {b: 1}, d: 2}")
    assert parsed.value == {"a": {"b": 2}, "c": {"b": 1, "d": 2}}
    assert [(key.line, key.text) for key in parsed.repeated_keys] == [(1, 'key "b" already set in map')]


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
        "a: .inf",
        '{"a"}',
    ],
)
def test_what_json_cannot_say_is_refused_without_a_trace(text):
    with pytest.raises(ConfigError, match=r"^(yaml: |couldn't get version/kind; json parse error: )"):
        value_of(text)


def nested_aliases(n_levels: int) -> str:
    """Each level stands for ten times the one before."""
    levels = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, n_levels)]
    return "\n".join(["a0: &a0 x", *levels])


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("- ", "x"), ("[", ""), ("&a [", "]")])
def test_nesting_that_would_cost_the_stack_is_refused(opening, closing):
    with pytest.raises(ConfigError, match=r"^yaml: line 1: exceeded max depth of 200$"):
        parse_value(opening * 200_000 + closing * 200_000)


def test_aliases_that_would_cost_memory_are_refused():
    with pytest.raises(ConfigError, match=r"^yaml: line 7: document contains excessive aliasing$"):
        parse_value(nested_aliases(9))


def test_a_few_aliases_are_as_good_as_what_they_stand_for():
    value = parse_value(nested_aliases(3)).value
    assert value["a2"] == [["x"] * 10] * 10
    assert parse_value("a: &a {b: 1}\nc:\n  <<: *a").value["c"] == {"b": 1}


def test_an_alias_of_what_it_stands_in_is_refused():
    with pytest.raises(ConfigError, match=r"anchor 'a' value contains itself"):
        parse_value("a: &a [*a]")


def test_what_follows_the_first_document_is_not_looked_at():
    assert parse_value("a: 1\n---\n" + "[" * 300).value == {"a": 1}


def test_json_is_held_to_the_same():
    with pytest.raises(ConfigError, match=r"exceeded max depth of 200$"):
        parse_value('{"a": ' + "[" * 100_000)


@pytest.mark.parametrize("text", ["a: {{ .Values.a }}", "{{- if .Values.a }}\na: 1\n{{- end }}"])
def test_a_template_of_a_chart_is_recognised(text):
    for parse in (parse_document, parse_value):
        with pytest.raises(ConfigError, match=r"\n  the text has \{\{, .* `helm template` prints$"):
            parse(text)
    with pytest.raises(ConfigError) as caught:
        parse_document("a: [")
    assert "helm" not in str(caught.value)
