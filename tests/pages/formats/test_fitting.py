"""Texts are folded where a reader can follow."""

import pytest

from kubesched.pages.formats.fitting import fold


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("short enough", 12, ["short enough"]),
        ("  blanks stay", 20, ["  blanks stay"]),
        ("between words if possible", 13, ["between words", "if possible"]),
        ("app.kubernetes.io/name=session-redis is", 20, ["app.kubernetes.io/", "name=session-redis", "is"]),
        ("- batch/price-recalculation-6w9hj", 18, ["- batch/price-", "recalculation-", "6w9hj"]),
        ("sha256abcdefgh", 10, ["sha256abcd", "efgh"]),
        ("two\nlines of a text", 8, ["two", "lines of", "a text"]),
    ],
)
def test_long_texts_are_folded_between_words_and_long_words_after_punctuation(
    text: str, width: int, lines: list[str]
) -> None:
    assert fold(text, width).split("\n") == lines
