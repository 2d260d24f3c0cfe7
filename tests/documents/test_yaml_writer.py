import pytest

from kubesched.documents import read_yaml, write_yaml


def read(text: str) -> object:
    return next(read_yaml(text)).value


@pytest.mark.parametrize(
    "text", ["y", "on", "1e3", "0o17", "017", "1_0", "null", "a: b", "<<", "ä", "2001-01-01", "", "1.5", ".inf", "="]
)
def test_texts_are_written_so_that_they_stay_texts(text):
    assert read(write_yaml({"a": text})) == {"a": text}


def test_shared_values_are_written_out():
    shared = ["a"]
    assert "&" not in write_yaml([shared, shared])


@pytest.mark.parametrize("text", ["a\nb\n", "a\n  b", " a\nb", "a \nb\n\n", "\n", "a\n\tb", "# a\n- b: |\n  c\n"])
def test_lines_are_written_as_lines_and_read_back(text):
    assert read(write_yaml({"a": text})) == {"a": text}
    assert write_yaml({"a": "b: 1\nc: 2\n"}) == "a: |\n  b: 1\n  c: 2\n"


@pytest.mark.parametrize(("number", "text"), [(1.0, "1"), (1.5, "1.5"), (5, "5"), (1e-7, "1.0e-07")])
def test_numbers_are_written_as_numbers(number, text):
    assert write_yaml([number]) == f"- {text}\n"
    assert read(write_yaml([number])) == [number]


def test_comments_are_above_the_fields_and_items_that_they_explain():
    value = {"spec": {"rules": [{"verbs": ["get"]}, {"verbs": ["list"]}], "text": "a: 1\nb: 2\n"}}
    comments = {"spec": "All.", "spec.rules[1]": "Second.", "spec.text": "Long. " * 30, "spec.text.b": "Not a field."}
    text = write_yaml(value, comments)
    assert read(text) == value
    assert text.startswith("# All.\nspec:\n  rules:\n  - verbs:\n    - get\n  # Second.\n  - verbs:\n")
    assert "  # Long. Long." in text
    assert "Not a field." not in text
    assert max(map(len, text.splitlines())) < 110


def test_what_a_reader_makes_of_objects_and_texts_is_written_as_they_are():
    class Object(dict):
        pass

    class Text(str):
        __slots__ = ()

    assert write_yaml(Object(a=Text("yes"), b=Text("x\ny\n"))) == "a: 'yes'\nb: |\n  x\n  y\n"
