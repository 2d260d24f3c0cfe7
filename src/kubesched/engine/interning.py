"""Small integers for values that repeat: label values, taint lists, resource names."""

from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Interner"]

ValueT = TypeVar("ValueT", bound=Hashable)


class Interner(Generic[ValueT]):
    """Numbers distinct values 0, 1, 2, ... in order of first appearance; numbers are never taken back.

    Attributes:
        values: the values by number.
    """

    __slots__ = ("_numbers", "values")

    def __init__(self, values: tuple[ValueT, ...] = ()) -> None:
        self.values: list[ValueT] = list(values)
        self._numbers: dict[ValueT, int] = {value: number for number, value in enumerate(values)}

    def __len__(self) -> int:
        return len(self.values)

    def number(self, value: ValueT) -> int:
        """The number of a value, a new one at first sight."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def find(self, value: ValueT) -> int | None:
        """The number of a value that has been seen, else None."""
        return self._numbers.get(value)
