"""One column per label key: each node's value as a small integer, so that a selector is judged by array comparison."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import Requirement, as_int64
from kubesched.engine import BoolVector, Interner, IntVector, grown

Codes = npt.NDArray[np.int32]
_FEW: Final = 4  # values that are compared one by one


class LabelColumn:
    """The values of one label key over all rows.

    Attributes:
        key: the label key.
        codes: int32 per row; 0 where the node lacks the key, else the value's number.
        values: numbers to values; number 0 means "absent". A value that no row has any more has no number.
        n_labelled: how many rows have the key.
    """

    __slots__ = ("_n_rows", "_numeric", "_numeric_generation", "codes", "key", "n_labelled", "values")

    def __init__(self, key: str, capacity: int) -> None:
        self.key = key
        self.codes: Codes = np.zeros(capacity, dtype=np.int32)
        self.values: Interner[str | None] = Interner((None,))
        self._n_rows: IntVector = np.zeros(8, dtype=np.int64)  # that have each value, by its number; 0 for number 0
        self.n_labelled = 0
        self._numeric_generation = -1
        self._numeric: tuple[npt.NDArray[np.int64], BoolVector] | None = None

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.codes = grown(self.codes, capacity)

    def fill(self, values: Iterable[str | None]) -> None:
        """Note the values of the first nodes, row by row, in a new column."""
        number = self.values.number
        codes = [0 if value is None else number(value) for value in values]
        self.codes[: len(codes)] = codes
        counts = np.bincount(codes, minlength=len(self._n_rows)).astype(np.int64)
        counts[0] = 0
        self._n_rows = counts
        self.n_labelled = int(counts.sum())

    def set(self, row: int, value: str | None) -> None:
        """Note a node's value; None where it lacks the key."""
        before, number = int(self.codes[row]), 0 if value is None else self.values.number(value)
        if number == before:
            return
        self.codes[row] = number
        self.n_labelled += (number > 0) - (before > 0)
        if number:
            self._add(number)
        if before:
            self._subtract(before)

    def _add(self, number: int) -> None:
        if number >= len(self._n_rows):
            self._n_rows = grown(self._n_rows, 2 * number)
        self._n_rows[number] += 1

    def _subtract(self, number: int) -> None:
        self._n_rows[number] -= 1
        if not self._n_rows[number]:
            self.values.give_back(number)
            if len(self._n_rows) > max(8, 4 * len(self.values)):
                self._n_rows = self._n_rows[: 2 * len(self.values)].copy()

    @property
    def is_used(self) -> BoolVector:
        """(values,) bool: which values some row has; false for number 0."""
        return self._n_rows[: len(self.values)] > 0

    def code(self, value: str) -> int:
        """The number of a value; -1, which no row has, for one that no node has."""
        number = self.values.find(value)
        return -1 if number is None else number

    def satisfied_by(self, requirement: Requirement, codes: Codes) -> BoolVector:
        """Which of these rows satisfy a requirement on this key.

        Args:
            codes: (rows,) int32, this column's codes of the rows asked about.
        """
        operator = requirement.operator
        satisfied: BoolVector
        if operator == "Exists":
            satisfied = codes > 0
        elif operator == "DoesNotExist":
            satisfied = codes == 0
        elif operator in ("In", "NotIn"):
            is_listed = self.is_one_of(requirement.values, codes)
            satisfied = is_listed if operator == "In" else ~is_listed
        else:
            numbers, is_number = self._numbers()
            matching = numbers > requirement.bound if operator == "Gt" else numbers < requirement.bound
            satisfied = (matching & is_number)[codes]
        return satisfied

    def is_one_of(self, values: frozenset[str], codes: Codes) -> BoolVector:
        """Which of these rows have one of some values."""
        if len(values) > _FEW:
            return self._is_listed(values)[codes]
        matching: BoolVector | None = None
        for value in values:
            same: BoolVector = codes == self.code(value)
            matching = same if matching is None else matching | same
        return np.zeros(len(codes), dtype=np.bool_) if matching is None else matching

    def _is_listed(self, values: frozenset[str]) -> BoolVector:
        """(values,) bool: which values are in a long list."""
        is_listed = np.zeros(len(self.values), dtype=np.bool_)
        known = [number for value in values if (number := self.values.find(value)) is not None]
        is_listed[known] = True
        return is_listed

    def _numbers(self) -> tuple[npt.NDArray[np.int64], BoolVector]:
        """Each distinct value as int64, and whether it is one."""
        known = self._numeric
        if known is None or self._numeric_generation != self.values.log.generation:
            self._numeric_generation = self.values.log.generation
            parsed = [None if value is None else as_int64(value) for value in self.values.values]
            numbers = np.array([number or 0 for number in parsed], dtype=np.int64)
            known = self._numeric = (numbers, np.array([number is not None for number in parsed]))
        return known


class LabelColumns(dict[str, LabelColumn]):
    """The columns of the labels of some rows by key: of keys that somebody asked for and some row has.

    A pod may ask for any number of keys that no row has: those share one empty column.
    """

    __slots__ = ("_absent", "_capacity", "_n_with_key")

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self._capacity = capacity
        self._n_with_key: Counter[str] = Counter()  # rows by key
        self._absent = LabelColumn("", capacity)

    def column(self, key: str, labels: Callable[[], Iterable[Mapping[str, str]]]) -> LabelColumn:
        """The column of a key, made when first asked for.

        Args:
            labels: those of all rows, in order.
        """
        column = self.get(key)
        if column is None:
            if key not in self._n_with_key:
                return self._absent
            column = self[key] = LabelColumn(key, self._capacity)
            column.fill([of_row.get(key) for of_row in labels()])
        return column

    def set(self, row: int, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        """Note the labels of a row. The column of a key goes with the last row that has it."""
        if old == new:
            return
        for key, column in self.items():
            column.set(row, new.get(key))
        for key in new:  # quicker than Counter.update, which looks first at what it is given
            self._n_with_key[key] += 1
        for key in old:
            self._n_with_key[key] -= 1
            if not self._n_with_key[key]:
                del self._n_with_key[key]
                self.pop(key, None)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self._capacity = capacity
        for column in (*self.values(), self._absent):
            column.grow(capacity)

    def check(self, labels: Iterable[Mapping[str, str]]) -> None:
        """Assert that the counts are those of all rows."""
        assert self._n_with_key == Counter(key for of_row in labels for key in of_row)
        assert self.keys() <= self._n_with_key.keys()
        assert not self._absent.codes.any()
        assert all(len(column.codes) == self._capacity for column in (*self.values(), self._absent))
