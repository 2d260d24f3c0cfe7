"""Patterns are found as Go finds them, in linear time."""

import time

import pytest

from kubesched.cel.regular_expressions import compile_pattern
from kubesched.errors import CelRuntimeError


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("b", "abc", (1, 2)),
        ("a|ab|abc", "xabc", (1, 2)),
        ("(?:abc|ab|a)c?", "xabc", (1, 4)),
        ("a.*c", "abcabc", (0, 6)),
        ("a.*?c", "abcabc", (0, 3)),
        ("(?U)a.*c", "abcabc", (0, 3)),
        ("(a*)*", "aab", (0, 2)),
        ("(|a)*", "aa", (0, 0)),
        ("(a|)+$", "aa", (0, 2)),
        ("a{2,3}", "aaaa", (0, 3)),
        ("a{2,3}?", "aaaa", (0, 2)),
        ("x{0}y", "xy", (1, 2)),
        (r"\bfoo\b", "a foo b", (2, 5)),
        (r"\Bo\B", "foo o", (1, 2)),
        ("(?m)^b$", "a\nb\nc", (2, 3)),
        ("(?i)straße", "STRASSE straße", (8, 14)),
        ("(?i:A)b", "ab", (0, 2)),
        ("[^a-c]", "abcd", (3, 4)),
        ("[[:digit:]]+", "ab12", (2, 4)),
        (r"[\d-]+", "a1-2", (1, 4)),
        (r"\p{Lu}\pN", "aÉ5", (1, 3)),
        (r"\Qa.b\E.", "a.bc", (0, 4)),
        ("", "abc", (0, 0)),
        ("$", "abc", (3, 3)),
        ("z", "abc", None),
    ],
)
def test_the_first_match(pattern, text, span):
    assert compile_pattern(pattern).find(text) == span


def test_all_matches_without_empty_ones_after_another():
    assert compile_pattern("b*").find_all("abc") == [(0, 0), (1, 2), (3, 3)]
    assert compile_pattern("[0-9]+").find_all("a1b22c3", 2) == [(1, 2), (3, 5)]


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(?=a)",
            "(?!a)",
            "(?<=a)",
            "(?<!a)",
            "(?>a)",
            r"(a)\1",
            "(?P=n)",
            "(?P<n",
            "(?z)",
            "(?i",
            "(?-)",
            r"\C",
            r"\Z",
        ),
        *("(", ")", "a)", "[a", "[b-a]", "[[:foo:]]", "*", "a|*", "a**", "a{2}{3}", "a{1001}", "(a{100}){100}", "\\"),
        *(r"\q", r"\x{110000}", r"\p{Foo}", "(" * 65 + ")" * 65, "(((((a{9}){9}){9}){9}){9})"),
    ],
)
def test_what_go_refuses_is_refused(pattern):
    with pytest.raises(CelRuntimeError, match=r"^error parsing regexp: "):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)(.*)(.*)(.*)[^a!]$", "(a?){50}b$"])
def test_patterns_that_make_others_slow_take_linear_time(pattern):
    began = time.perf_counter()
    assert not compile_pattern(f"^{pattern}").is_in("a" * 1000 + "!a")
    assert time.perf_counter() - began < 5


def test_a_search_that_is_too_long_even_so_ends_with_an_error():
    with pytest.raises(CelRuntimeError, match="cost limit exceeded"):
        compile_pattern("(a|b)*a(a|b){900}c").find("ab" * 20_000)


def test_what_was_found_is_not_kept_without_end():
    pattern = compile_pattern("a")
    for number in range(1000):
        pattern.is_in(str(number))
    assert len(pattern._answers) <= 256
