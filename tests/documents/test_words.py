import pytest

from kubesched.documents import count, joined, listed, plural


@pytest.mark.parametrize(("n", "text"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods"), (5000, "5,000 pods")])
def test_a_count_has_its_noun_in_the_right_form(n, text):
    assert count(n, "pod") == text


def test_a_verb_follows_the_number():
    assert [count(n, "node is", "nodes are") for n in (1, 2)] == ["1 node is", "2 nodes are"]
    assert [plural(n, "its", "their") for n in (1, 2)] == ["its", "their"]


@pytest.mark.parametrize(
    ("names", "text"),
    [("", ""), ("a", "a"), ("abc", "a, b, c"), ("abcd", "a, b, c, d"), ("abcde", "a, b, c and 2 more")],
)
def test_a_long_list_is_cut_and_a_single_name_is_not_counted(names, text):
    assert listed(names) == text


def test_how_many_names_a_list_shows():
    assert listed("abcdef", first=4) == "a, b, c, d and 2 more"
    assert listed((str(n) for n in range(2000)), first=1) == "0 and 1,999 more"


@pytest.mark.parametrize(("words", "text"), [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c")])
def test_a_sentence_joins_its_words(words, text):
    assert joined(words) == text


def test_a_sentence_cuts_a_long_list():
    assert joined("abcd", first=3) == "a, b, c and d"
    assert joined("abcde", first=3) == "a, b, c and 2 more"
