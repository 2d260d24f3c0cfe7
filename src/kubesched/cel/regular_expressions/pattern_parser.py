"""Parses patterns.

Rule: RE2's syntax, as Go 1.26 (regexp/syntax) takes it, with Go's errors.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from kubesched.cel.regular_expressions.character_sets import (
    ANY,
    ANY_BUT_NEWLINE,
    CATEGORIES,
    PERL_SETS,
    POSIX_SETS,
    CharacterSet,
    Range,
)
from kubesched.cel.regular_expressions.pattern_tree import (
    Alternatives,
    Assertion,
    PatternNode,
    Repetition,
    Sequence,
)
from kubesched.errors import CelRuntimeError

_MOST_TIMES: Final = 1000
_MAX_NESTING: Final = 64
_COUNT: Final = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII)
_GROUP_NAME: Final = re.compile(r"\(\?P?<([A-Za-z0-9_]+)>", re.ASCII)
_ESCAPED: Final = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|([1-7][0-7]{2}|0[0-7]{0,2}))")
_CONTROL: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ASSERTIONS: Final = {
    "A": Assertion.TEXT_START,
    "z": Assertion.TEXT_END,
    "b": Assertion.WORD_BOUNDARY,
    "B": Assertion.NO_WORD_BOUNDARY,
}
_TIMES: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_PERL_SYNTAX: Final = "invalid or unsupported Perl syntax"


@dataclass(frozen=True, slots=True)
class _Flags:
    """`(?i)`: case does not count; `m`: lines; `s`: the dot takes newlines; `U`: fewer is preferred."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


def parse_pattern(text: str) -> PatternNode:
    """Parse a pattern.

    Raises:
        CelRuntimeError: with the text of Go.
    """
    return _PatternParser(text).parse()


def pattern_error(problem: str, part: str) -> CelRuntimeError:
    """The error of a pattern that does not parse."""
    return CelRuntimeError(f"error parsing regexp: {problem}: `{part}`")


class _PatternParser:
    """A pattern, and how far it is parsed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._flags = _Flags()
        self._nesting = 0

    def parse(self) -> PatternNode:
        node = self._alternatives()
        if self._at < len(self._text):
            raise pattern_error("unexpected )", self._text)
        return node

    def _is_next(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _alternatives(self) -> PatternNode:
        parts = [self._sequence()]
        while self._is_next("|"):
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def _sequence(self) -> PatternNode:
        parts: list[PatternNode] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            start = self._at
            parts += self._atoms()
            if parts or self._at > start:
                self._repeat(parts, start)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _atoms(self) -> list[PatternNode]:
        r"""The next atom; several for `\Q..\E`, none for `(?i)`."""
        character = self._text[self._at]
        if character == "\\":
            return self._escape()
        if character == "(":
            return self._group()
        if character == "[":
            return [self._set()]
        if character in _TIMES:
            raise pattern_error("missing argument to repetition operator", self._operator())
        self._at += 1
        if character == ".":
            return [ANY if self._flags.s else ANY_BUT_NEWLINE]
        if character == "^":
            return [Assertion.LINE_START if self._flags.m else Assertion.TEXT_START]
        if character == "$":
            return [Assertion.LINE_END if self._flags.m else Assertion.TEXT_END]
        return [self._literal(character)]

    def _operator(self) -> str:
        """A repetition operator as errors show it."""
        text = self._text[self._at : self._at + 2]
        return text if text[1:] == "?" else text[:1]

    def _literal(self, character: str) -> CharacterSet:
        return CharacterSet([(character, character)], folds=self._flags.i)

    def _repeat(self, parts: list[PatternNode], start: int) -> None:
        """Apply the operators after an atom; two of them on one another are an error."""
        operator_start, times = self._at, self._times()
        if times is None:
            return
        if not parts:
            raise pattern_error("missing argument to repetition operator", self._text[operator_start : self._at])
        is_greedy = not self._flags.U
        if self._is_next("?"):
            self._at += 1
            is_greedy = not is_greedy
        least, most = times
        node = Repetition(parts.pop(), least, most, is_greedy)
        if _times_in(node) > _MOST_TIMES:
            raise pattern_error("invalid repeat count", self._text[operator_start : self._at])
        parts.append(node)
        if self._times() is not None:
            raise pattern_error("invalid nested repetition operator", self._text[operator_start : self._at])

    def _times(self) -> tuple[int, int | None] | None:
        """The next repetition operator."""
        character = self._text[self._at : self._at + 1]
        if character in _TIMES and character:
            self._at += 1
            return _TIMES[character]
        match = _COUNT.match(self._text, self._at)
        if match is None:
            return None
        self._at = match.end()
        least = int(match[1][:9])
        most = least if match[2] is None else int(match[3][:9]) if match[3] else None
        if least > _MOST_TIMES or (most is not None and not least <= most <= _MOST_TIMES):
            raise pattern_error("invalid repeat count", match[0])
        return least, most

    def _group(self) -> list[PatternNode]:
        start, flags = self._at, self._flags
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise pattern_error("expression nests too deeply", self._text)
        if self._is_next("(?") and not self._open_special():
            self._nesting -= 1
            return []
        if self._at == start:
            self._at += 1
        node = self._alternatives()
        if not self._is_next(")"):
            raise pattern_error("missing closing )", self._text)
        self._at += 1
        self._flags = flags
        self._nesting -= 1
        return [node]

    def _open_special(self) -> bool:
        """Skip `(?P<name>` or `(?flags:`, or apply `(?flags)`; whether a group begins."""
        name = _GROUP_NAME.match(self._text, self._at)
        if name is not None:
            self._at = name.end()
            return True
        if self._is_next("(?P<") or self._is_next("(?<"):
            raise self._no_group()
        return self._change_flags()

    def _no_group(self) -> CelRuntimeError:
        rest = self._text[self._at :]
        if rest[2:4] in ("<=", "<!"):
            return pattern_error(_PERL_SYNTAX, rest[:4])
        end = rest.find(">")
        return pattern_error("invalid named capture", rest[: end + 1] if end >= 0 else rest)

    def _change_flags(self) -> bool:
        start, value, flags = self._at, True, self._flags
        position = start + 2
        while position < len(self._text):
            character = self._text[position]
            position += 1
            if character in "imsU":
                flags = replace(flags, **{character: value})
            elif character == "-" and value:
                value = False
            elif character in ":)" and self._text[position - 2] != "-":
                self._flags, self._at = flags, position
                return character == ":"
            else:
                raise pattern_error(_PERL_SYNTAX, self._text[start:position])
        raise pattern_error("missing closing )", self._text)

    def _escape(self) -> list[PatternNode]:
        """What begins with a backslash, outside of brackets."""
        letter = self._text[self._at + 1 : self._at + 2]
        if letter in _ASSERTIONS and letter:
            self._at += 2
            return [_ASSERTIONS[letter]]
        if letter == "Q":
            end = self._text.find("\\E", self._at)
            quoted = self._text[self._at + 2 : end if end >= 0 else None]
            self._at = end + 2 if end >= 0 else len(self._text)
            return [self._literal(character) for character in quoted]
        named = self._named_set()
        return [named if named is not None else self._literal(self._escaped_character())]

    def _named_set(self) -> CharacterSet | None:
        r"""`\d`, `\pL`, `\p{^Lu}` and the like."""
        letter = self._text[self._at + 1 : self._at + 2]
        if letter in PERL_SETS and letter:
            self._at += 2
            return PERL_SETS[letter]
        return self._category() if letter in ("p", "P") else None

    def _category(self) -> CharacterSet:
        match = re.compile(r"\\[pP](?:\{(\^?)(\w+)\}|(\w))").match(self._text, self._at)
        name = "" if match is None else match[2] or match[3]
        if match is None or (name not in CATEGORIES and name != "Any"):
            raise pattern_error("invalid character class range", match[0] if match else self._text[self._at :])
        self._at = match.end()
        is_negated = (match[0][1] == "P") is not bool(match[1])
        chosen = ANY if name == "Any" else CharacterSet(categories=(name,), folds=self._flags.i)
        return chosen.negated() if is_negated else chosen

    def _escaped_character(self) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        if not letter:
            raise CelRuntimeError("error parsing regexp: trailing backslash at end of expression: ``")
        code = _ESCAPED.match(self._text, self._at)
        if code is not None:
            number = int(code[1] or code[2], 16) if code[3] is None else int(code[3], 8)
            if number <= 0x10FFFF:
                self._at = code.end()
                return chr(number)
        elif letter in _CONTROL or (letter.isascii() and not letter.isalnum()):
            self._at += 2
            return _CONTROL.get(letter, letter)
        raise pattern_error("invalid escape sequence", self._text[self._at : self._at + 2])

    def _set(self) -> CharacterSet:
        """A set in brackets."""
        start = self._at
        self._at += 1
        is_negated = self._is_next("^")
        self._at += is_negated
        ranges: list[Range] = []
        parts: list[CharacterSet] = []
        is_first = True
        while is_first or not self._is_next("]"):
            if self._at >= len(self._text):
                raise pattern_error("missing closing ]", self._text[start:])
            named = self._posix_set() or (self._named_set() if self._is_next("\\") else None)
            if named is not None:
                parts.append(named)
            else:
                ranges.append(self._range())
            is_first = False
        self._at += 1
        return CharacterSet(ranges, parts=parts, is_negated=is_negated, folds=self._flags.i)

    def _posix_set(self) -> CharacterSet | None:
        """`[:alpha:]` inside of brackets."""
        end = self._text.find(":]", self._at + 2) if self._is_next("[:") else -1
        if end < 0:
            return None
        written = self._text[self._at : end + 2]
        chosen = POSIX_SETS.get(written[2:-2].removeprefix("^"))
        if chosen is None:
            raise pattern_error("invalid character class range", written)
        self._at = end + 2
        return chosen.negated() if written.startswith("[:^") else chosen

    def _range(self) -> Range:
        """`a` or `a-z`."""
        start = self._at
        low = high = self._set_character()
        if self._is_next("-") and not self._is_next("-]") and self._at + 1 < len(self._text):
            self._at += 1
            high = self._set_character()
        if high < low:
            raise pattern_error("invalid character class range", self._text[start : self._at])
        return low, high

    def _set_character(self) -> str:
        if self._is_next("\\"):
            return self._escaped_character()
        self._at += 1
        return self._text[self._at - 1]


def _times_in(node: PatternNode) -> int:
    """How often the innermost part of repetitions in one another may come."""
    if isinstance(node, Repetition):
        return max(node.least, node.most or 0, 1) * _times_in(node.part)
    if isinstance(node, Sequence | Alternatives):
        return max(map(_times_in, node.parts), default=1)
    return 1
