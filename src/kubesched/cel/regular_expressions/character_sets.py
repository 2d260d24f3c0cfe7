"""Sets of characters: ranges, Unicode categories, and sets of sets."""

import unicodedata
from collections.abc import Iterable
from typing import Final

Range = tuple[str, str]

_MOST_KEPT: Final = 1024


class CharacterSet:
    """A set of characters.

    Attributes:
        folds: whether a character is in the set if its lower or upper case is.
    """

    __slots__ = ("_answers", "_categories", "_is_negated", "_parts", "_ranges", "folds")

    def __init__(
        self,
        ranges: Iterable[Range] = (),
        *,
        categories: Iterable[str] = (),
        parts: Iterable["CharacterSet"] = (),
        is_negated: bool = False,
        folds: bool = False,
    ) -> None:
        self._ranges = tuple(ranges)
        self._categories = tuple(categories)
        self._parts = tuple(parts)
        self._is_negated = is_negated
        self.folds = folds
        self._answers: dict[str, bool] = {}

    def __contains__(self, character: str) -> bool:
        answer = self._answers.get(character)
        if answer is None:
            answer = self._has_any_case(character) is not self._is_negated
            if len(self._answers) < _MOST_KEPT:
                self._answers[character] = answer
        return answer

    def _has_any_case(self, character: str) -> bool:
        return any(map(self._has, cases(character) if self.folds else (character,)))

    def _has(self, character: str) -> bool:
        return (
            any(low <= character <= high for low, high in self._ranges)
            or (bool(self._categories) and unicodedata.category(character).startswith(self._categories))
            or any(character in part for part in self._parts)
        )

    def negated(self) -> "CharacterSet":
        """All other characters."""
        return CharacterSet(parts=(self,), is_negated=True)


def cases(character: str) -> set[str]:
    """A character in all its cases: `k`, `K` and the Kelvin sign are the same."""
    once = {character, character.lower(), character.upper(), character.casefold()}
    return {case for one in once for case in (one, one.lower(), one.upper()) if len(case) == 1}


_DIGITS: Final[list[Range]] = [("0", "9")]
_LETTERS: Final[list[Range]] = [("A", "Z"), ("a", "z")]
_SPACES: Final[list[Range]] = [("\t", "\n"), ("\f", "\r"), (" ", " ")]
_WORD: Final[list[Range]] = [*_DIGITS, *_LETTERS, ("_", "_")]
_PUNCTUATION: Final[list[Range]] = [("!", "/"), (":", "@"), ("[", "`"), ("{", "~")]

PERL_SETS: Final = {
    "d": CharacterSet(_DIGITS),
    "s": CharacterSet(_SPACES),
    "w": CharacterSet(_WORD),
    "D": CharacterSet(_DIGITS, is_negated=True),
    "S": CharacterSet(_SPACES, is_negated=True),
    "W": CharacterSet(_WORD, is_negated=True),
}
"""`\\d` and the like: ASCII only."""

POSIX_SETS: Final = {
    "alnum": CharacterSet([*_DIGITS, *_LETTERS]),
    "alpha": CharacterSet(_LETTERS),
    "ascii": CharacterSet([("\0", "\x7f")]),
    "blank": CharacterSet([("\t", "\t"), (" ", " ")]),
    "cntrl": CharacterSet([("\0", "\x1f"), ("\x7f", "\x7f")]),
    "digit": CharacterSet(_DIGITS),
    "graph": CharacterSet([("!", "~")]),
    "lower": CharacterSet([("a", "z")]),
    "print": CharacterSet([(" ", "~")]),
    "punct": CharacterSet(_PUNCTUATION),
    "space": CharacterSet([*_SPACES, ("\v", "\v")]),
    "upper": CharacterSet([("A", "Z")]),
    "word": CharacterSet(_WORD),
    "xdigit": CharacterSet([*_DIGITS, ("A", "F"), ("a", "f")]),
}

ANY: Final = CharacterSet(is_negated=True)
ANY_BUT_NEWLINE: Final = CharacterSet([("\n", "\n")], is_negated=True)
WORD: Final = PERL_SETS["w"]

CATEGORIES: Final = frozenset(
    {
        *("C", "Cc", "Cf", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No"),
        *("P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs"),
    }
)
"""Names after `\\p`. Scripts, such as Greek, are not supported: Python does not know them."""
