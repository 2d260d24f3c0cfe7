"""Characters that act on a terminal, or that a reader cannot see, are printed as escapes."""

import json
import unicodedata

import pytest

from kubesched.documents import escape_controls, escape_in_json

JOINERS = "\u200c\u200d"
KEPT = f"\t\n{JOINERS}"
TAG = "\U000e0041"


def acts(character: str) -> bool:
    """Whether Unicode calls a character a control, a format, an end of line or half of a pair."""
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs") and character not in KEPT


SCRIPTS = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN", "SHORTHAND", "MUSICAL")
"""Their signs of the category Cf are visible, or belong to signs that are."""


def test_no_character_that_acts_or_hides_is_printed() -> None:
    every = [character for character in map(chr, range(0x110000)) if acts(character)]
    printed = {character for character in every if escape_controls(character) == character}
    assert {unicodedata.name(one, "?").split()[0] for one in printed} <= set(SCRIPTS)


@pytest.mark.parametrize("text", ["", "n1", "Größe", "名前", "می\u200cخواهم", "👩\u200d💻", "a\tb\nc", "✓ → █▒·"])
def test_words_of_every_language_stay(text: str) -> None:
    assert escape_controls(text) == escape_in_json(text) == text


def test_escapes_of_json_are_the_same_text() -> None:
    text = f"a\x7f\x9b\u061c\u202e\ufeff\u2028{TAG}b\ud800"
    written = escape_in_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert written.isascii()
    assert escape_controls(text) == r"a\x7f\x9b\u061c\u202e\ufeff\u2028\U000e0041b\ud800"
