"""Reports for a terminal: the verdict first, the next command last, tables as wide as the terminal.

Names of nodes are shortened by the beginning and the end that they share. Where a column does not fit, a line names it.
Names and reasons may have ends of lines; what follows is indented, so that it does not look like a line of the report.
"""

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from kubesched.errors import indent_further_lines
from kubesched.pages.formats.fitting import cell_text, fitting, fold
from kubesched.pages.formats.model import Align, Cell, Column, Level, Page, Paragraph, Table, as_cell
from kubesched.pages.formats.short_names import ShortNames

if TYPE_CHECKING:
    from rich.console import Console

_STYLES: Final = {
    Level.PLAIN: "",
    Level.HEADING: "bold",
    Level.GOOD: "green",
    Level.WARNING: "yellow",
    Level.BAD: "red",
    Level.DETAIL: "dim",
}


def print_page(page: Page, console: "Console", *, wide: bool = False) -> None:
    """Print a page.

    Args:
        console: without markup, because names and reasons may hold brackets.
        wide: whether to print what only `-o wide` has, and every column.
    """
    names = ShortNames(page)
    console.print(
        indent_further_lines(names.shorten(page.verdict.text)), style=f"bold {_STYLES[page.verdict.level]}".strip()
    )
    for part in (*page.parts, *(page.appendix if wide else ())):
        if part.is_wide and not wide:
            continue
        if isinstance(part, Table):
            _print_table(part, names, console, wide=wide)
        else:
            _print_paragraph(part, names, console)
    for limit in (*names.note(), *page.closing):
        console.print(indent_further_lines(limit), style="dim")
    if page.next_command:
        console.print(f"\nNext: {page.next_command}", style="bold", soft_wrap=True)  # to be copied as it is


def _print_paragraph(paragraph: Paragraph, names: ShortNames, console: "Console") -> None:
    from rich.padding import Padding

    style = _STYLES[paragraph.level]
    if paragraph.is_code:
        console.print(paragraph.text, style=style, soft_wrap=True)
        console.print()
        return
    text = indent_further_lines(names.shorten(paragraph.text))
    if paragraph.is_indented:
        console.print(Padding(text, (0, 0, 0, 4)), style=style)
        return
    if paragraph.level is Level.HEADING:
        console.print()
    console.print(text, style=style)


def _print_table(table: Table, names: ShortNames, console: "Console", *, wide: bool) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    if not table.rows:
        return
    if table.title:
        console.print(f"\n{indent_further_lines(names.shorten(table.title))}", style="bold")
    kept = [i for i, column in enumerate(table.columns) if wide or not column.is_wide]
    cells = [[_short(as_cell(row[i]), names) for i in kept] for row in table.rows]
    columns = [table.columns[i] for i in kept]
    if not wide:
        columns, cells = _joined(columns, cells)
    headings = [column.heading for column in columns]
    notes = [*map(names.shorten, table.notes_elsewhere if wide else table.notes), *names.note()]
    n_shown, has_bars, widths = fitting(columns, cells, console.width, wide=wide)
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
        texts = [cell_text(cell, has_bars=has_bars, ascii_only=console.options.ascii_only) for cell in row[:n_shown]]
        if widths:
            texts = [fold(text, width) for text, width in zip(texts, widths, strict=True)]
        styled = zip(texts, row, strict=False)
        rich.add_row(*(Text(console.render_str(text).plain, style=_STYLES[cell.level]) for text, cell in styled))
    console.print(rich)
    for note in notes:
        console.print(indent_further_lines(note), style="dim")


def _joined(columns: list[Column], cells: list[list[Cell]]) -> tuple[list[Column], list[list[Cell]]]:
    """The columns and cells with those that are joined behind the ones before them."""
    for i in range(len(columns) - 1, 0, -1):
        if columns[i].is_joined:
            heading = f"{columns[i - 1].heading}: {columns[i].heading}"
            columns[i - 1 : i + 1] = [msgspec.structs.replace(columns[i - 1], heading=heading)]
            for row in cells:
                text = ": ".join(one.text for one in row[i - 1 : i + 1] if one.text)
                row[i - 1 : i + 1] = [msgspec.structs.replace(row[i - 1], text=text)]
    return columns, cells


def _short(cell: Cell, names: ShortNames) -> Cell:
    return msgspec.structs.replace(cell, text=names.shorten(cell.text))
