import pytest

from kubesched.documents import advice_on_comments, read_yaml
from kubesched.errors import YamlError


@pytest.mark.parametrize(
    "text",
    ["a:\n// b\n- c: d\n", "a: 1\n/* b */\nc: 2\n", "x: y\na: [1] // b\n", "- a\n  // b\n- c: d\n  e: [\n"],
)
def test_a_comment_of_another_language_that_breaks_yaml_is_named_with_its_line(text):
    with pytest.raises(YamlError) as caught:
        list(read_yaml(text))
    mark = "/*" if "/*" in text else "//"
    assert str(caught.value).endswith(f"; line 2: comments in YAML begin with #, not with {mark}")
    assert caught.value.advice not in caught.value.upstream


@pytest.mark.parametrize("text", ['a: ["http://x"\nb: "a // b"\nc: ]', "// far above\n\n\n\n\na: ]"])
def test_slashes_that_are_not_the_cause_are_not_named(text):
    with pytest.raises(YamlError) as caught:
        list(read_yaml(text.partition("// far")[0] or "\n\n\n\n\na: ]"))
    assert caught.value.advice == ""
    assert advice_on_comments(text, 6 if "far" in text else 3) == ""


def test_a_comment_in_json_is_to_be_removed():
    assert advice_on_comments('{"a": 1, // b', 1, is_json=True) == "line 1: JSON has no comments; remove //"
