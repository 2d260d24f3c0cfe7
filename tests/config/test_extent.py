import pytest

from kubesched.config.documents import parse_value
from kubesched.errors import ConfigError


def nested_aliases(n_levels: int) -> str:
    """Each level stands for ten times the one before."""
    levels = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, n_levels)]
    return "\n".join(["a0: &a0 x", *levels])


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("- ", "x"), ("[", ""), ("&a [", "]")])
def test_nesting_that_would_cost_the_stack_is_refused(opening, closing):
    with pytest.raises(ConfigError, match=r"^yaml: exceeded max depth$"):
        parse_value(opening * 200_000 + closing * 200_000)


def test_aliases_that_would_cost_memory_are_refused():
    with pytest.raises(ConfigError, match=r"^yaml: document contains excessive aliasing$"):
        parse_value(nested_aliases(9))


def test_a_few_aliases_are_as_good_as_what_they_stand_for():
    value = parse_value(nested_aliases(3)).value
    assert value["a2"] == [["x"] * 10] * 10
    assert parse_value("a: &a {b: 1}\nc:\n  <<: *a").value["c"] == {"b": 1}


def test_an_alias_of_what_it_stands_in_is_refused():
    with pytest.raises(ConfigError, match=r"found unconstructable recursive node"):
        parse_value("a: &a [*a]")


def test_only_the_first_document_counts():
    assert parse_value("a: 1\n---\n" + "[" * 300).value == {"a": 1}


def test_json_is_held_to_the_same():
    with pytest.raises(ConfigError, match=r"exceeded max depth$"):
        parse_value('{"a": ' + "[" * 100_000)
