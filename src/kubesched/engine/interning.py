"""Small integers for values that repeat: label values, taint lists, resource names, parts of pods.

A number is given back when its value has no holder left, and the lowest free number is given out next, so that there
are never more numbers than there once were values at the same time. What is kept by number, such as a judgement of
every taint list, is brought up to date by the log, as kept columns are by the log of changed rows.
"""

from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

from kubesched.engine.growing_columns import ChangeLog

ValueT = TypeVar("ValueT", bound=Hashable)


class Interner(Generic[ValueT]):
    """Numbers distinct values 0, 1, 2, ...; those of the constructor keep theirs forever.

    Either the owner counts who has a value, by `hold` and `release`, or it knows that and calls `number` and
    `give_back`.

    Attributes:
        values: the values by number; None for a free number. Never ends with a free one.
        log: the numbers that came to mean something else.
    """

    __slots__ = ("_free", "_holders", "_n_fixed", "_numbers", "log", "values")

    def __init__(self, values: tuple[ValueT, ...] = ()) -> None:
        self.values: list[ValueT | None] = list(values)
        self.log = ChangeLog()
        self._numbers: dict[ValueT, int] = {value: number for number, value in enumerate(values)}
        self._holders: list[int] = [0] * len(values)
        self._free: list[int] = []  # a heap; at most half of it are numbers that are not free
        self._n_fixed = len(values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_values(self) -> int:
        """How many values have a number."""
        return len(self._numbers)

    def number(self, value: ValueT) -> int:
        """The number of a value, the lowest free one at first sight."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = self._take(value)
            self.log.record(number)
        return number

    def find(self, value: ValueT) -> int | None:
        """The number of a value that has one, else None."""
        return self._numbers.get(value)

    def value(self, number: int) -> ValueT:
        """The value of a number that is not free."""
        value = self.values[number]
        assert value is not None, "the number is free"
        return value

    def hold(self, value: ValueT) -> int:
        """Count one more that has a value. Returns: its number."""
        number = self._numbers.get(value)
        if number is None:
            number = self.number(value)
        self._holders[number] += 1
        return number

    def hold_again(self, number: int) -> int:
        """Count one more that has the value of a number that is held. Returns: the number."""
        self._holders[number] += 1
        return number

    def release(self, number: int) -> bool:
        """Count one less that has the value of a number. Returns: whether it was the last, and the number is free."""
        self._holders[number] -= 1
        if self._holders[number] or number < self._n_fixed:
            return False
        self.give_back(number)
        return True

    def give_back(self, number: int) -> None:
        """Take the number from its value."""
        values = self.values
        del self._numbers[self.value(number)]
        values[number] = None
        self.log.record(number)
        heappush(self._free, number)
        while len(values) > self._n_fixed and values[-1] is None:
            values.pop()
            self._holders.pop()
        if len(self._free) > 2 * (len(values) - len(self._numbers)):
            self._free = [number for number in set(self._free) if number < len(values) and values[number] is None]
            heapify(self._free)

    def _take(self, value: ValueT) -> int:
        values, free = self.values, self._free
        while free:
            number = heappop(free)
            if number < len(values) and values[number] is None:
                values[number] = value
                return number
        values.append(value)
        self._holders.append(0)
        return len(values) - 1
