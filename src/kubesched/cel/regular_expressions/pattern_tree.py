"""The nodes of a parsed pattern."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from kubesched.cel.regular_expressions.character_sets import CharacterSet


class Assertion(Enum):
    """A condition on a position."""

    TEXT_START = auto()
    TEXT_END = auto()
    LINE_START = auto()
    LINE_END = auto()
    WORD_BOUNDARY = auto()
    NO_WORD_BOUNDARY = auto()


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after another."""

    parts: tuple["PatternNode", ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several; earlier ones are preferred."""

    parts: tuple["PatternNode", ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """Several times.

    Attributes:
        most: None for any number.
        is_greedy: whether more is preferred.
    """

    part: "PatternNode"
    least: int
    most: int | None
    is_greedy: bool


PatternNode: TypeAlias = CharacterSet | Assertion | Sequence | Alternatives | Repetition
