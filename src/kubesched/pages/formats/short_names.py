"""Shortens the names of nodes in the text of a page by the beginning and the end that all of them share."""

import re
from collections.abc import Iterable
from typing import Final

from kubesched.naming import shared_ends
from kubesched.pages.formats.model import Align, Page, as_cell

_NAME: Final = re.compile(r"""(?<![\w./='"-])[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?""")
"""A name in a sentence; in a label's value or after a namespace it is not that of a node."""
_NONE: Final = ("", "-")


class ShortNames:
    """The short names of the nodes of a page, whether its tables show all nodes or not."""

    def __init__(self, page: Page) -> None:
        self._names = {*page.node_names, *_in_tables(page)}.difference(_NONE)
        self._start, self._end = shared_ends(self._names)
        self._is_used = self._has_said = False

    def shorten(self, text: str) -> str:
        """The text with the short names of the nodes in it."""
        return _NAME.sub(self._short, text) if self._start or self._end else text

    def _short(self, found: re.Match[str]) -> str:
        if found[0] not in self._names:
            return found[0]
        self._is_used = True
        return found[0].removeprefix(self._start).removesuffix(self._end)

    def note(self) -> list[str]:
        """A line that says how names were shortened, once, if any was."""
        if self._has_said or not self._is_used:
            return []
        self._has_said = True
        start, end = self._start, self._end
        shown = " and ".join(f"'{part}'" for part in (start and f"{start}*", end and f"*{end}") if part)
        return [f"Node names are shortened by {shown}."]


def _in_tables(page: Page) -> Iterable[str]:
    """The names in the columns of nodes of all tables, those for `-o wide` too: they often list every node."""
    for table in page.tables:
        places = [i for i, column in enumerate(table.columns) if column.align is Align.NODE]
        for row in table.rows[: len(table.rows) - table.n_totals]:
            for i in places:
                # lists such as `n1, n2 and 3 more`; names of nodes have neither commas nor blanks
                yield from as_cell(row[i]).text.partition(" and ")[0].split(", ")
