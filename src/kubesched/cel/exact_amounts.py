"""Quantities in expressions: exact, compared by value.

Rule: Kubernetes v1.36 CEL library "quantity", on resource.Quantity; amounts are whole billionths.
"""

import re
from typing import Final

from kubesched.api import NANO, parse_quantity
from kubesched.errors import CelRuntimeError, QuantityError

_WRONG_FORM: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_WRONG_SUFFIX: Final = "unable to parse quantity's suffix"
_NUMBER: Final = re.compile(r"[+-]?[0-9]*\.?[0-9]*", re.ASCII)
_SUFFIX: Final = re.compile(r"[eEinumkKMGTP]*[-+]?[0-9]*", re.ASCII)
_NO_DIGITS: Final = re.compile(r"[+-]?\.?(?:[KMGTPE]i|[numkMGTPE])?|[+-]\.?[eE][+-]?[0-9]+", re.ASCII)


class Quantity:
    """An amount.

    Attributes:
        nano: in billionths.
        text: as written.
    """

    __slots__ = ("nano", "text")

    def __init__(self, nano: int, text: str = "") -> None:
        self.nano = nano
        self.text = text or _decimal(nano)

    @classmethod
    def parse(cls, text: str) -> "Quantity":
        """Read a quantity. A sign, a dot or a suffix without digits is 0, as upstream has it.

        Raises:
            CelRuntimeError: with upstream's text.
        """
        try:
            return cls(parse_quantity(text), text)
        except QuantityError:
            if text and _NO_DIGITS.fullmatch(text):
                return cls(0, text)
            raise CelRuntimeError(_problem(text)) from None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Quantity({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nano == other.nano

    def __lt__(self, other: "Quantity") -> bool:
        return self.nano < other.nano

    def __le__(self, other: "Quantity") -> bool:
        return self.nano <= other.nano

    def __hash__(self) -> int:
        return hash(self.nano)

    def compare(self, other: "Quantity") -> int:
        """Below, equal or above: -1, 0 or 1."""
        return (self.nano > other.nano) - (self.nano < other.nano)

    @property
    def is_integer(self) -> bool:
        """Whether it is a whole number that fits 64 bits."""
        return self.nano % NANO == 0 and -(2**63) <= self.nano // NANO < 2**63

    def as_integer(self) -> int:
        """The whole number that it is.

        Raises:
            CelRuntimeError: it is none.
        """
        if not self.is_integer:
            raise CelRuntimeError("cannot convert value to integer")
        return self.nano // NANO

    def as_float(self) -> float:
        """The nearest double."""
        try:
            return self.nano / NANO
        except OverflowError:
            return float("inf") if self.nano > 0 else float("-inf")


def _problem(text: str) -> str:
    """Upstream's text for what is not a quantity."""
    number = _NUMBER.match(text)
    suffix = text[number.end() :] if number else text
    has_form = suffix != text and _SUFFIX.fullmatch(suffix)
    return _WRONG_SUFFIX if has_form else _WRONG_FORM


def _decimal(nano: int) -> str:
    """An amount in digits."""
    whole, rest = divmod(abs(nano), NANO)
    sign = "-" if nano < 0 else ""
    return f"{sign}{whole}" if not rest else f"{sign}{whole}.{rest:09d}".rstrip("0")
