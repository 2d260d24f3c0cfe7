"""Finds patterns in texts, in a time that is linear in the text: all ways are followed at once.

Rule: leftmost-first, as Perl and RE2 have it.
"""

from functools import lru_cache
from typing import Final

from kubesched.cel.regular_expressions.character_sets import WORD, CharacterSet
from kubesched.cel.regular_expressions.pattern_parser import parse_pattern
from kubesched.cel.regular_expressions.pattern_program import Found, Split, Step, program_of
from kubesched.cel.regular_expressions.pattern_tree import Assertion
from kubesched.errors import CelRuntimeError

Span = tuple[int, int]

_KEPT: Final = 256
_LONGEST_KEPT: Final = 128
_MOST_VISITS: Final = 300_000
"""Steps of one search. Long texts and long patterns together are too much for Python."""

_Ways = dict[int, int]
"""Steps to go on from, in the order of preference, each with where its match began."""


class Pattern:
    """A compiled pattern.

    Attributes:
        effort: steps of the last search and of the pattern, 0 if the answer was kept.
    """

    def __init__(self, text: str) -> None:
        self._steps = program_of(parse_pattern(text))
        self.effort = len(self._steps)
        self._answers: dict[str, bool] = {}

    def is_in(self, text: str) -> bool:
        """Whether the pattern is somewhere in a text."""
        if len(text) > _LONGEST_KEPT:
            return self.find(text) is not None
        answer = self._answers.get(text)
        if answer is not None:
            self.effort = 0
            return answer
        if len(self._answers) >= _KEPT:
            self._answers.clear()
        answer = self._answers[text] = self.find(text) is not None
        return answer

    def find(self, text: str, start: int = 0) -> Span | None:
        """The first match at or after a position.

        Raises:
            CelRuntimeError: the search takes too many steps.
        """
        search = _Search(self._steps, text)
        span = search.run(start)
        self.effort = len(self._steps) + search.visits
        return span

    def find_all(self, text: str, most: int = -1) -> list[Span]:
        """All matches from left to right, without empty ones directly after another one."""
        found: list[Span] = []
        position, last_end, effort = 0, -1, 0
        while position <= len(text) and (most < 0 or len(found) < most):
            span = self.find(text, position)
            effort += self.effort
            if span is None:
                break
            start, end = span
            if start < end or start != last_end:
                found.append(span)
            position = end if end > start else end + 1
            last_end = end
        self.effort = effort
        return found


@lru_cache(maxsize=_KEPT)
def compile_pattern(text: str) -> Pattern:
    """Compile a pattern; the last 256 are kept.

    Raises:
        CelRuntimeError: with the text of Go.
    """
    return Pattern(text)


class _Search:
    """One search in a text.

    Attributes:
        visits: steps so far.
    """

    def __init__(self, steps: list[Step], text: str) -> None:
        self._steps = steps
        self._text = text
        self.visits = 0

    def run(self, start: int) -> Span | None:
        ways: _Ways = {}
        best: Span | None = None
        for position in range(start, len(self._text) + 1):
            if best is None:
                self._follow(ways, 0, position, position)
            elif not ways:
                break
            ways, found = self._advance(ways, position)
            best = found or best
        return best

    def _advance(self, ways: _Ways, position: int) -> tuple[_Ways, Span | None]:
        """Read one character on all ways. A match ends those of less preference."""
        after: _Ways = {}
        character = self._text[position : position + 1]
        for at, began in ways.items():
            step = self._steps[at]
            if isinstance(step, Found):
                return after, (began, position)
            if isinstance(step, CharacterSet) and character and character in step:
                self._follow(after, at + 1, began, position + 1)
        return after, None

    def _follow(self, ways: _Ways, start: int, began: int, position: int) -> None:
        """Add a step, and what it leads to without a character. `ways` has what was added before."""
        waiting = [start]
        while waiting:
            at = waiting.pop()
            if at in ways:
                continue
            self.visits += 1
            ways[at] = began
            step = self._steps[at]
            if isinstance(step, Split):
                waiting += (step.second, step.first)
            elif isinstance(step, Assertion) and self._holds(step, position):
                waiting.append(at + 1)
        if self.visits > _MOST_VISITS:
            raise CelRuntimeError("operation cancelled: actual cost limit exceeded", is_final=True)

    def _holds(self, assertion: Assertion, position: int) -> bool:
        before, after = self._text[max(position - 1, 0) : position], self._text[position : position + 1]
        match assertion:
            case Assertion.TEXT_START:
                return position == 0
            case Assertion.TEXT_END:
                return not after
            case Assertion.LINE_START:
                return before in ("", "\n")
            case Assertion.LINE_END:
                return after in ("", "\n")
            case _:
                is_boundary = _is_word(before) is not _is_word(after)
                return is_boundary is (assertion is Assertion.WORD_BOUNDARY)


def _is_word(character: str) -> bool:
    return bool(character) and character in WORD
