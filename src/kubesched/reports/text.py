"""Reports for a terminal: the verdict first, the next command last, tables as wide as the terminal.

Where a table is too wide, headings are broken into lines, then bars go, then texts and lists of nodes are folded into
narrow columns, then columns go from the right, and a line says which. Names of nodes are shortened by the beginning and
the end that they share.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from kubesched.reports.page import Align, Cell, Column, Level, Page, Paragraph, Table, as_cell

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_page", "shared_ends"]

_STYLES: Final = {
    Level.PLAIN: "",
    Level.HEADING: "bold",
    Level.GOOD: "green",
    Level.WARNING: "yellow",
    Level.BAD: "red",
    Level.DETAIL: "dim",
}
_BAR: Final = 10
_GAP: Final = 3
_LONGEST: Final = (48, 24, 16)  # longer texts are folded before a column goes, in narrow terminals earlier
_NARROWEST: Final = 12  # where a column would go otherwise
_FEWEST: Final = 2
_HEADING: Final = 14  # as long as a broken heading should be
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])\s?|[A-Z]?[^A-Z\s]+\s?|\s+")
_WORTH_IT: Final = (
    9  # characters; `kind-` and `ip-10-0-` stay, because names without them are not recognised; neither are numbers
)


def print_page(page: Page, console: "Console", *, wide: bool = False) -> None:
    """Print a page.

    Args:
        console: without markup, because names and reasons may hold brackets.
        wide: whether to print what only `-o wide` has, and every column.
    """
    console.print(page.verdict.text, style=f"bold {_STYLES[page.verdict.level]}".strip())
    parts = [part for part in page.parts if wide or not part.is_wide]
    shortening = _Shortening([part for part in parts if isinstance(part, Table)], page.tables)
    for part in parts:
        if isinstance(part, Table):
            _print_table(part, shortening, console, wide=wide)
        else:
            _print_paragraph(part, console)
    for limit in page.limits:
        console.print(limit, style="dim")
    if page.next_command:
        console.print(f"\nNext: {page.next_command}", style="bold", soft_wrap=True)  # to be copied as it is


def _print_paragraph(paragraph: Paragraph, console: "Console") -> None:
    from rich.padding import Padding

    style = _STYLES[paragraph.level]
    if paragraph.is_code:
        console.print(paragraph.text, style=style, soft_wrap=True)
        console.print()
        return
    if paragraph.is_indented:
        console.print(Padding(paragraph.text, (0, 0, 0, 4)), style=style)
        return
    if paragraph.level is Level.HEADING:
        console.print()
    console.print(paragraph.text, style=style)


def _print_table(table: Table, shortening: "_Shortening", console: "Console", *, wide: bool) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    if not table.rows:
        return
    if table.title:
        console.print(f"\n{table.title}", style="bold")
    kept = [i for i, column in enumerate(table.columns) if wide or not column.is_wide]
    cells = [[as_cell(row[i]) for i in kept] for row in table.rows]
    columns = [table.columns[i] for i in kept]
    notes = list(table.notes) + shortening.apply(columns, cells)
    headings = [column.heading for column in columns]
    n_shown, has_bars, widths = (len(columns), True, None) if wide else _fitting(columns, cells, console.width)
    if n_shown < len(columns):
        hidden = ", ".join(headings[n_shown:])
        notes.append(f"Hidden because the terminal is too narrow: {hidden} (-o wide shows them).")
    rich = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1))
    for i, column in enumerate(columns[:n_shown]):
        justify: Literal["left", "right"] = "right" if column.align is Align.NUMBER else "left"
        rich.add_column(column.heading, justify=justify, overflow="fold", width=widths[i] if widths else None)
    for i, row in enumerate(cells):
        if table.n_totals and i == len(cells) - table.n_totals:
            rich.add_section()
        texts = (_text(cell, has_bars=has_bars, ascii_only=console.options.ascii_only) for cell in row[:n_shown])
        styled = zip(texts, row, strict=False)
        rich.add_row(*(Text(console.render_str(text).plain, style=_STYLES[cell.level]) for text, cell in styled))
    console.print(rich)
    for note in notes:
        console.print(note, style="dim")


def _fitting(
    columns: list[Column], cells: Sequence[Sequence[Cell]], width: int
) -> tuple[int, bool, Sequence[int] | None]:
    """How many columns fit, and whether with bars; if needed, headings are broken, in place.

    Returns: also the width of each column, where it is less than `rich` would choose.
    """
    if _total(columns, cells, has_bars=True) <= width:
        return len(columns), True, None
    columns[:] = [msgspec.structs.replace(column, heading=_broken(column.heading)) for column in columns]
    for has_bars, longest in ((True, _LONGEST[0]), *((False, longest) for longest in _LONGEST)):
        if _total(columns, cells, has_bars=has_bars, longest=longest) <= width:
            return len(columns), has_bars, None
    whole = [_width(i, column, cells, has_bars=False, longest=width) for i, column in enumerate(columns)]
    least = [_least(i, column, cells, whole[i]) for i, column in enumerate(columns)]
    n = len(columns)
    while n > _FEWEST and sum(least[:n]) - _GAP > width:
        n -= 1
    return n, False, _spread(least[:n], whole[:n], width - 2 + _GAP)


def _least(i: int, column: Column, cells: Sequence[Sequence[Cell]], whole: int) -> int:
    """The least width of a column: texts are folded, and lists of nodes broken between their names."""
    if column.align is Align.NUMBER:
        return whole
    words = (len(word) for row in cells for word in row[i].text.split()) if column.align is Align.NODE else ()
    return min(whole, max(_NARROWEST, *words, 0) + _GAP)


def _spread(least: Sequence[int], whole: Sequence[int], room: int) -> list[int]:
    """The widths, without the gap, of columns that share some room: those that lack most get what is left."""
    widths = list(least)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    while sum(widths) < room:
        lacking = [wanted - width for wanted, width in zip(whole, widths, strict=True)]
        if max(lacking) <= 0:
            break
        widths[lacking.index(max(lacking))] += 1
    return [width - _GAP for width in widths]


def _total(
    columns: Sequence[Column], cells: Sequence[Sequence[Cell]], *, has_bars: bool, longest: int = _LONGEST[0]
) -> int:
    """The width of a table whose texts are folded after so many characters."""
    widths = (_width(i, column, cells, has_bars=has_bars, longest=longest) for i, column in enumerate(columns))
    return sum(widths) - _GAP


def _width(i: int, column: Column, cells: Sequence[Sequence[Cell]], *, has_bars: bool, longest: int) -> int:
    texts = (_text(row[i], has_bars=has_bars, ascii_only=True) for row in cells)
    lines = [*column.heading.splitlines(), *(line for text in texts for line in text.splitlines())]
    most = longest if column.align is Align.TEXT else _LONGEST[0]
    return min(max(map(len, lines), default=0), most) + _GAP


def _broken(heading: str) -> str:
    """The heading in lines of few characters, broken between words and in names of plugins before capitals."""
    lines = [""]
    for word in _WORDS.findall(heading):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > _HEADING:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.strip() for line in lines)


def _text(cell: Cell, *, has_bars: bool, ascii_only: bool) -> str:
    if cell.bar is None or not has_bars:
        return cell.text
    return f"{_bar(*cell.bar, ascii_only=ascii_only)} {cell.text}"


def _bar(before: float, after: float, *, ascii_only: bool) -> str:
    """What both have in full blocks, the difference in grey ones."""
    full, new, rest = "#+." if ascii_only else "█▒·"
    low, high = sorted(min(_BAR, max(0, round(share * _BAR))) for share in (before, after))
    return full * low + new * (high - low) + rest * (_BAR - high)


class _Shortening:
    """Shortens the names of nodes in all tables of a page by what they share, and says so once.

    Args:
        shown: the tables that are printed.
        tables: those that show more nodes, if the printed ones have only one.
    """

    def __init__(self, shown: Iterable[Table], tables: Iterable[Table]) -> None:
        names = _nodes_in(shown)
        if len(names) < _FEWEST:
            names |= _nodes_in(tables)
        start, self._end = shared_ends(names)
        is_number = any(name.removeprefix(start).removesuffix(self._end).isdecimal() for name in names)
        self._start = start if len(start) >= _WORTH_IT and not is_number else ""
        self._has_said = not self._start and not self._end

    def apply(self, columns: Sequence[Column], cells: Sequence[list[Cell]]) -> list[str]:
        """Shorten names in place. Returns: a line that says so, in the first table that has names."""
        places = [i for i, column in enumerate(columns) if column.align is Align.NODE]
        for row in cells:
            for i in places:
                names, rest = _names(row[i].text)
                text = ", ".join(name.removeprefix(self._start).removesuffix(self._end) for name in names) + rest
                row[i] = Cell(text, row[i].value, row[i].level, row[i].bar)
        if self._has_said or not places:
            return []
        self._has_said = True
        start, end = self._start, self._end
        shown = " and ".join(f"'{part}'" for part in (start and f"{start}*", end and f"*{end}") if part)
        return [f"Node names are shortened by {shown}."]


def _nodes_in(tables: Iterable[Table]) -> set[str]:
    names: set[str] = set()
    for table in tables:
        rows = table.rows[: len(table.rows) - table.n_totals]
        for i in (i for i, column in enumerate(table.columns) if column.align is Align.NODE):
            names.update(name for row in rows for name in _names(as_cell(row[i]).text)[0])
    return names


def _names(text: str) -> tuple[list[str], str]:
    """The names of a list such as `n1, n2 and 3 more`, and its end; names of nodes have neither commas nor blanks."""
    listed, more, n_more = text.partition(" and ")
    return listed.split(", "), more + n_more


def shared_ends(names: Iterable[str]) -> tuple[str, str]:
    """The beginning up to a dash and the end from the first dot on that at least two different names all share.

    Example:
        assert shared_ends(["gke-a-1.internal", "gke-a-2.internal"]) == ("gke-a-", ".internal")
    """
    known = {name for name in names if name}
    if len(known) < _FEWEST:
        return "", ""
    domains = {name.partition(".")[1] + name.partition(".")[2] for name in known}
    end = domains.pop() if len(domains) == 1 else ""
    hosts = [name.removesuffix(end) for name in known]
    first, last = min(hosts), max(hosts)
    n_shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    start = first[:n_shared].rpartition("-")[0]
    return (f"{start}-" if start else ""), end
