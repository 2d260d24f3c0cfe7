"""Compiles a parsed pattern to the steps of a machine that follows all ways through it at once."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from kubesched.cel.regular_expressions.character_sets import CharacterSet
from kubesched.cel.regular_expressions.pattern_tree import Alternatives, Assertion, PatternNode, Repetition, Sequence
from kubesched.errors import CelRuntimeError

MOST_STEPS: Final = 20_000


@dataclass(slots=True)
class Split:
    """Goes on in two places, the first of which is preferred."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Found:
    """The end of the pattern."""


Step: TypeAlias = CharacterSet | Assertion | Split | Found
"""After a set or an assertion comes the next step; a `Split` names where to go on."""


def program_of(tree: PatternNode) -> list[Step]:
    """The steps of a pattern.

    Raises:
        CelRuntimeError: there are too many.
    """
    steps: list[Step] = []
    _add(tree, steps)
    steps.append(Found())
    return steps


def _add(node: PatternNode, steps: list[Step]) -> None:
    if len(steps) > MOST_STEPS:
        raise CelRuntimeError("error parsing regexp: expression too large")
    match node:
        case Sequence():
            for part in node.parts:
                _add(part, steps)
        case Alternatives():
            _add_alternatives(node.parts, steps)
        case Repetition():
            _add_repetition(node, steps)
        case _:
            steps.append(node)


def _add_alternatives(parts: tuple[PatternNode, ...], steps: list[Step]) -> None:
    ends = []
    for part in parts[:-1]:
        split = Split(len(steps) + 1, 0)
        steps.append(split)
        _add(part, steps)
        end = Split(0, 0)
        steps.append(end)
        ends.append(end)
        split.second = len(steps)
    _add(parts[-1], steps)
    for end in ends:
        end.first = end.second = len(steps)


def _add_repetition(node: Repetition, steps: list[Step]) -> None:
    if node.most is None and node.least:
        for _ in range(node.least - 1):
            _add(node.part, steps)
        _add_at_least_once(node, steps)
        return
    for _ in range(node.least):
        _add(node.part, steps)
    if node.most is None:
        _add_any_times(node, steps)
        return
    splits = []
    for _ in range(node.most - node.least):
        splits.append(_add_split(steps))
        _add(node.part, steps)
    for split, at in splits:
        _aim(split, at + 1, len(steps), is_greedy=node.is_greedy)


def _add_at_least_once(node: Repetition, steps: list[Step]) -> None:
    start = len(steps)
    _add(node.part, steps)
    split, at = _add_split(steps)
    _aim(split, start, at + 1, is_greedy=node.is_greedy)


def _add_any_times(node: Repetition, steps: list[Step]) -> None:
    """The part any number of times. One that may be empty comes at least once, or not at all, as in Go."""
    split, at = _add_split(steps)
    if _may_be_empty(node.part):
        _add_at_least_once(node, steps)
    else:
        _add(node.part, steps)
        steps.append(Split(at, at))
    _aim(split, at + 1, len(steps), is_greedy=node.is_greedy)


def _may_be_empty(node: PatternNode) -> bool:
    match node:
        case CharacterSet():
            return False
        case Sequence():
            return all(map(_may_be_empty, node.parts))
        case Alternatives():
            return any(map(_may_be_empty, node.parts))
        case Repetition():
            return not node.least or _may_be_empty(node.part)
        case _:
            return True


def _add_split(steps: list[Step]) -> tuple[Split, int]:
    split = Split(0, 0)
    steps.append(split)
    return split, len(steps) - 1


def _aim(split: Split, inside: int, after: int, *, is_greedy: bool) -> None:
    split.first, split.second = (inside, after) if is_greedy else (after, inside)
