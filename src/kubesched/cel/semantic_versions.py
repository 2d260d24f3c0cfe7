"""Versions in expressions.

Rule: Kubernetes v1.36 CEL library "semver": versions of semver.org, 2.0.0. Build metadata does not count when versions
are compared.
"""

import re
from typing import Final

from kubesched.errors import CelRuntimeError

_PARTS: Final = ("Major", "Minor", "Patch")
_DIGITS: Final = re.compile(r"[0-9]+", re.ASCII)
_LETTERS: Final = re.compile(r"[0-9A-Za-z-]+", re.ASCII)
_MAX_UINT64: Final = 2**64 - 1

_Order = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]


class Semver:
    """A version.

    Attributes:
        order: what versions are compared by.
        text: as written.
    """

    __slots__ = ("order", "text")

    def __init__(self, order: _Order, text: str) -> None:
        self.order = order
        self.text = text

    @classmethod
    def parse(cls, text: str, *, normalize: bool = False) -> "Semver":
        """Read a version.

        Args:
            normalize: accept a `v` before it, fewer than three numbers, and zeros before one.
        Raises:
            CelRuntimeError: with upstream's text.
        """
        return cls(_order(_normalized(text) if normalize else text), text)

    @property
    def major(self) -> int:
        """The first number."""
        return self.order[0]

    @property
    def minor(self) -> int:
        """The second number."""
        return self.order[1]

    @property
    def patch(self) -> int:
        """The third number."""
        return self.order[2]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Semver({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.order == other.order

    def __lt__(self, other: "Semver") -> bool:
        return self.order < other.order

    def __le__(self, other: "Semver") -> bool:
        return self.order <= other.order

    def __hash__(self) -> int:
        return hash(self.order)

    def compare(self, other: "Semver") -> int:
        """Below, equal or above: -1, 0 or 1."""
        return (self.order > other.order) - (self.order < other.order)


def _order(text: str) -> _Order:
    """What a version is compared by."""
    if not text:
        raise CelRuntimeError("Version string empty")
    numbers = text.split(".", 2)
    if len(numbers) != 3:
        raise CelRuntimeError("No Major.Minor.Patch elements found")
    major, minor = (_number(numbers[i], _PARTS[i]) for i in range(2))
    rest, plus, build = numbers[2].partition("+")
    third, dash, pre = rest.partition("-")
    patch = _number(third, _PARTS[2])
    released = tuple(_identifier(part) for part in pre.split(".")) if dash else ()
    if plus:
        _check_build(build)
    return major, minor, patch, not released, released


def _number(text: str, part: str) -> int:
    if not _DIGITS.fullmatch(text) and text:
        raise CelRuntimeError(f'Invalid character(s) found in {part.lower()} number "{text}"')
    if len(text) > 1 and text.startswith("0"):
        raise CelRuntimeError(f'{part} number must not contain leading zeroes "{text}"')
    return _uint64(text)


def _uint64(text: str) -> int:
    if not text:
        raise CelRuntimeError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX_UINT64:
        raise CelRuntimeError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _identifier(text: str) -> tuple[int, int, str]:
    """One part of a prerelease, in an order that has numbers before words."""
    if not text:
        raise CelRuntimeError("Prerelease is empty")
    if _DIGITS.fullmatch(text):
        if len(text) > 1 and text.startswith("0"):
            raise CelRuntimeError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return 0, _uint64(text), ""
    if not _LETTERS.fullmatch(text):
        raise CelRuntimeError(f'Invalid character(s) found in prerelease "{text}"')
    return 1, 0, text


def _check_build(text: str) -> None:
    for part in text.split("."):
        if not part:
            raise CelRuntimeError("Build meta data is empty")
        if not _LETTERS.fullmatch(part):
            raise CelRuntimeError(f'Invalid character(s) found in build meta data "{part}"')


def _normalized(text: str) -> str:
    """A version without `v`, with three numbers, and without zeros before them."""
    numbers = text.removeprefix("v").split(".", 2)
    for i, number in enumerate(numbers):
        shortened = number.lstrip("0")
        numbers[i] = shortened if shortened and shortened[0].isdigit() else (f"0{shortened}" if number else "")
    if len(numbers) < 3:
        if "+" in numbers[-1] or "-" in numbers[-1]:
            raise CelRuntimeError("short version cannot contain PreRelease/Build meta data")
        numbers += ["0"] * (3 - len(numbers))
    return ".".join(numbers)
