"""Reads a CSV file with a heading: rows whose cells say where they are if they are not what is expected."""

import csv
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kubesched.documents import did_you_mean, quoted
from kubesched.errors import InputError

_ABSENT: Final = ("", "nan", "NaN", "None")


class CsvColumns(NamedTuple):
    """The columns of a format.

    Attributes:
        what: what a row is about, such as `openb pods`.
        needed, others: names of columns.
    """

    what: str
    needed: tuple[str, ...]
    others: tuple[str, ...] = ()

    def are_meant(self, heading: Sequence[str]) -> bool:
        """Whether a file with this heading has the format, perhaps with a mistake: it has most of the columns."""
        n_found = sum(name in self.needed for name in heading)
        return 2 * n_found > len(self.needed)


class CsvRow(NamedTuple):
    """One row.

    Attributes:
        where: file and line.
        cells: the text of each column; empty where the file has none.
    """

    where: str
    cells: dict[str, str]

    def text(self, column: str) -> str:
        """The text of a cell; empty for none."""
        return self.cells.get(column, "")

    def name(self, column: str) -> str:
        """A text that may not be empty."""
        if text := self.text(column):
            return text
        raise self.fault(column, "a name")

    def amount(self, column: str) -> int:
        """A whole number, 0 or more; 0 for an empty cell."""
        value = self._number(column, "a whole number, 0 or more")
        if value is None:
            return 0
        if not value.is_integer():
            raise self.fault(column, "a whole number, 0 or more")
        return int(value)

    def seconds(self, column: str) -> float | None:
        """A time or a duration, 0 or more; None for an empty cell."""
        return self._number(column, "a number of seconds, 0 or more")

    def _number(self, column: str, expected: str) -> float | None:
        text = self.text(column)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise self.fault(column, expected)
        return value

    def fault(self, column: str, expected: str) -> InputError:
        """What is wrong with a cell."""
        return InputError(f"{self.where}: {column}: found {quoted(self.text(column)[:60])}; expected {expected}")


def read_heading(text: str) -> list[str]:
    """The names of the columns in the first line; empty for an empty text."""
    first = text.lstrip().partition("\n")[0]
    return [name.strip() for name in next(csv.reader([first]), [])]


def read_rows(text: str, where: str, columns: CsvColumns) -> Iterator[CsvRow]:
    """The rows of a file.

    Raises:
        InputError: a column is missing or not known, or a row has another number of cells.
    """
    lines = csv.reader(text.splitlines())
    heading = [name.strip() for name in next(lines, [])]
    if heading[:1] == [""]:
        heading[0] = "index"  # what pandas writes in front
    _check(heading, where, columns)
    for cells in lines:
        if not cells:
            continue
        place = f"{where}: line {lines.line_num}"
        if len(cells) != len(heading):
            raise InputError(f"{place}: found {len(cells)} cells; expected {len(heading)}, as in the heading")
        named = {name: cell.strip() for name, cell in zip(heading, cells, strict=True)}
        yield CsvRow(place, {name: "" if cell in _ABSENT else cell for name, cell in named.items()})


def _check(heading: Sequence[str], where: str, columns: CsvColumns) -> None:
    known = (*columns.needed, *columns.others)
    for name in columns.needed:
        if name not in heading:
            raise InputError(f"{where}: no column {name}; {columns.what} have {', '.join(columns.needed)}")
    for name in heading:
        if name not in known and name != "index":
            advice = did_you_mean(name, known) or f"expected {', '.join(known)}"
            raise InputError(f"{where}: column {quoted(name)} is not known; {advice}")
        if heading.count(name) > 1:
            raise InputError(f"{where}: column {quoted(name)} is there twice; expected each column once")


class SeenNames:
    """Finds names that come twice.

    Args:
        what: what has the names.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._where: dict[str, str] = {}

    def add(self, name: str, where: str) -> None:
        """Note a name.

        Raises:
            InputError: it is there already.
        """
        if name in self._where:
            first = self._where[name]
            raise InputError(f"{where}: {self._what} {name} is there twice, first in {first}; expected each name once")
        self._where[name] = where
