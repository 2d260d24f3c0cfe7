"""Reports as one HTML file that needs no network: the whole page, tables to sort and filter, heat maps of nodes."""

from collections.abc import Generator, Iterator, Sequence
from html import escape
from itertools import chain
from textwrap import shorten
from typing import Final

from kubesched.documents import escape_controls
from kubesched.pages.formats.html_assets import FRAGMENT_STYLE, SCRIPT, STYLE
from kubesched.pages.formats.model import (
    Align,
    Cell,
    Column,
    Level,
    Page,
    Paragraph,
    Part,
    Row,
    Table,
    as_cell,
    grouped,
)
from kubesched.pages.formats.plots import plot_lines

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_TO_FILTER: Final = 8  # rows from which on a table has a filter
_MAX_ROWS: Final = 50  # of a table in a fragment
_BUDGET: Final = 2_000_000  # bytes of the rows of one table; a longer one ends there, and a line says so
_PAGE_BUDGET: Final = 4_900_000  # bytes of all parts together
_VERDICT: Final = "h"  # the id of the first heading
_TITLE: Final = 100  # characters of the verdict that browsers show as the title


def as_html(page: Page) -> str:
    """The whole page, with everything that `-o wide` has."""
    title = f"{shorten(page.verdict.text, _TITLE, placeholder=' ...')} - kubesched"
    body = [f'<h1 id="{_VERDICT}"{_class(page.verdict.level)}>{_text(page.verdict.text)}</h1>']
    left, heading = _PAGE_BUDGET, _VERDICT
    for number, part in enumerate((*page.parts, *page.appendix)):
        if _is_heading(part):
            heading = f"{_VERDICT}{number}"
        lines = _table(part, heading, left) if isinstance(part, Table) else _paragraph(part, heading)
        for line in lines:
            left -= _size(line)
            body.append(line)
        if not number:
            body += _plots(page)
    body += [f'<p class="detail">{_text(sentence)}</p>' for sentence in page.closing]
    if page.next_command:
        body.append(f"<p>Next: <code>{_text(page.next_command)}</code></p>")
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>"
    )
    return "\n".join([head, *body, "</main>", f"<script>{SCRIPT}</script>", "</body>", "</html>", ""])


def as_fragment(page: Page) -> str:
    """The page for a notebook, without what only `-o wide` has: no script, and its style concerns nothing else."""
    body = [f'<div class="kubesched"><style>{FRAGMENT_STYLE}</style>']
    body.append(f"<p{_class(page.verdict.level)}><strong>{_text(page.verdict.text)}</strong></p>")
    for part in page.parts:
        if not part.is_wide:
            body += _short_table(part) if isinstance(part, Table) else _paragraph(part)
    body += _plots(page)
    body += [f'<p class="detail">{_text(sentence)}</p>' for sentence in page.closing]
    return "\n".join([*body, "</div>"])


def _plots(page: Page) -> Iterator[str]:
    return chain.from_iterable(map(plot_lines, page.plots))


def _short_table(table: Table) -> Iterator[str]:
    """The first rows, and the columns that a terminal has."""
    if not table.rows:
        return
    kept = [i for i, column in enumerate(table.columns) if not column.is_wide]
    columns = [table.columns[i] for i in kept]
    n_rows = len(table.rows) - table.n_totals
    if table.title:
        yield f"<p><strong>{_text(table.title)}</strong></p>"
    yield "<table><thead><tr>"
    yield "".join(f'<th scope="col"{_class(_of(column))}>{_text(column.heading)}</th>' for column in columns)
    yield "</tr></thead><tbody>"
    for row in (*table.rows[: min(n_rows, _MAX_ROWS)], *table.rows[n_rows:]):
        yield _row(columns, [row[i] for i in kept])
    yield "</tbody></table>"
    if n_rows > _MAX_ROWS:
        yield f'<p class="detail">The first {_MAX_ROWS} of {n_rows:,} rows are shown.</p>'
    yield from _notes(table)


def _is_heading(part: Part) -> bool:
    """Whether a part begins with a heading, which names the tables without a title that follow."""
    return bool(part.title and part.rows) if isinstance(part, Table) else part.level is Level.HEADING


def _paragraph(paragraph: Paragraph, heading: str = "") -> Iterator[str]:
    """A paragraph; a heading gets the id."""
    if paragraph.level is Level.HEADING:
        name = f' id="{heading}"' if heading else ""
        yield f"<h2{name}>{_text(paragraph.text)}</h2>"
    elif paragraph.is_code:
        yield f'<pre tabindex="0">{_text(paragraph.text)}</pre>'
    else:
        indented = "indented" if paragraph.is_indented else ""
        yield f"<p{_class(paragraph.level, indented)}>{_text(paragraph.text)}</p>"


# --- tables ---


def _table(table: Table, heading: str, left: int) -> Iterator[str]:
    """A table.

    Args:
        heading: the id of its title, or without a title of the heading before it.
        left: how many bytes the page has left.
    """
    if not table.rows:
        return
    yield f'<section aria-labelledby="{heading}">'
    if table.group_by:
        heat_maps = list(_heat_maps(table))
        size = sum(map(_size, heat_maps))
        if size <= left:
            left -= size
            yield from heat_maps
        else:
            yield '<p class="warning">The heat map of the nodes is left out, because the page would be too large.</p>'
    title = f'<span id="{heading}">{_text(table.title)}</span>' if table.title else ""
    if table.is_wide:
        yield f"<details><summary>{title or 'More'}</summary>"
    elif title:
        yield f"<h2>{title}</h2>"
    rows, sums = table.rows[: len(table.rows) - table.n_totals], table.rows[len(table.rows) - table.n_totals :]
    if len(rows) >= _TO_FILTER:
        yield '<div class="filter"><label>Filter <input type="search"></label> <output></output></div>'
    yield f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{heading}">'
    yield '<table class="sortable"><thead><tr>'
    yield "".join(
        f'<th scope="col"{_class(_of(column))}><button type="button">{_text(column.heading)}</button></th>'
        for column in table.columns
    )
    yield "</tr></thead><tbody>"
    n_shown = yield from _within_budget(table.columns, rows, min(_BUDGET, left))
    yield "</tbody>"
    if sums:
        yield "<tfoot>"
        yield from (_row(table.columns, row) for row in sums)
        yield "</tfoot>"
    yield "</table></div>"
    if n_shown < len(rows):
        yield f'<p class="warning">The first {n_shown:,} of {len(rows):,} rows are shown. -o csv and json have all.</p>'
    yield from _notes(table)
    if table.is_wide:
        yield "</details>"
    yield "</section>"


def _notes(table: Table) -> Iterator[str]:
    return (f'<p class="detail">{_text(note)}</p>' for note in table.notes_elsewhere)


def _within_budget(columns: Sequence[Column], rows: Sequence[Row], left: int) -> Generator[str, None, int]:
    """Rows as HTML until they are too long. Returns: how many."""
    for n, row in enumerate(rows):
        line = _row(columns, row)
        left -= _size(line)
        if left < 0:
            return n
        yield line
    return len(rows)


def _size(line: str) -> int:
    """The bytes of a line in the file."""
    return len(line.encode()) + 1


def _row(columns: Sequence[Column], row: Row) -> str:
    cells = (as_cell(entry) for entry in row)
    return f"<tr>{''.join(_entry(column, cell) for column, cell in zip(columns, cells, strict=True))}"


def _entry(column: Column, cell: Cell) -> str:
    bar = "" if cell.bar is None else _bar(*cell.bar)
    value = "" if cell.value is None else f" data-v={cell.value}"
    if column.align is Align.NODE and ", " in cell.text:  # a list, which is folded between its names
        names = ", ".join(f"<span class=w>{_text(name)}</span>" for name in cell.text.split(", "))
        return f"<td{_class(cell.level)}{value}>{names}"
    return f"<td{_class(cell.level, _of(column) or ('w' if bar else ''))}{value}>{bar}{_text(cell.text)}"


def _of(column: Column) -> str:
    return {Align.NUMBER: "n", Align.NODE: "w"}.get(column.align, "")


def _bar(before: float, after: float) -> str:
    low, high = sorted(min(100, max(0, round(100 * share))) for share in (before, after))
    return f"<b style=--l:{low};--h:{high}></b>"


# --- heat maps ---


def _heat_maps(table: Table) -> Iterator[str]:
    """For each column with bars, the nodes of each group as squares, at both moments."""
    keys = [column.key for column in table.columns]
    by = [keys.index(key) for key in table.group_by if key in keys]
    rows = [[as_cell(entry) for entry in row] for row in table.rows[: len(table.rows) - table.n_totals]]
    groups = grouped(rows, lambda row: tuple(row[i].text or "-" for i in by))
    moments = "".join(f'<th scope="col">{_text(moment.upper())}</th>' for moment in table.moments)
    heads = "".join(f'<th scope="col">{_text(table.columns[i].heading)}</th>' for i in by)
    for i, column in enumerate(table.columns):
        if column.is_wide or not any(row[i].bar for row in rows):
            continue
        yield f"<h3>{_text(column.heading)}: one square is one row of the table; darker is fuller</h3>"
        yield (
            f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(column.heading)} by group"><table>'
            f'<thead><tr>{heads}<th scope="col" class="n">COUNT</th>{moments}</tr></thead><tbody>'
        )
        for names, members in sorted(groups.items()):
            shares = [cell.bar for member in members if (cell := member[i]).bar is not None]
            if shares:
                first, *others = (_text(name) for name in names)
                yield f'<tr><th scope="row">{first}</th>{"".join(f"<td>{name}" for name in others)}'
                yield f"<td class=n>{len(members)}{_squares(members, i, 0)}{_squares(members, i, 1)}"
        yield "</tbody></table></div>"
    if rows:
        yield '<p class="detail">Orange: 90% or more.</p>'


def _squares(members: Sequence[Sequence[Cell]], i: int, moment: int) -> str:
    """A square for each member, and what they have on average, in words."""
    shares = [bar[moment] for member in members if (bar := member[i].bar) is not None]
    said = f"{sum(shares) / len(shares):.0%} on average, {max(shares):.0%} at most"
    squares = "".join(_square(member, i, moment) for member in members)
    return f"<td>{said}<div class=heat aria-hidden=true>{squares}</div>"


def _square(member: Sequence[Cell], i: int, moment: int) -> str:
    cell = member[i]
    if cell.bar is None:
        return "<i class=x></i>"
    level = min(10, max(0, int(10 * cell.bar[moment])))
    title = f' title="{_text(member[0].text)}: {_text(cell.text)}"' if moment else ""
    return f"<i class=h{level}{title}></i>"


# --- text ---


def _class(level: Level | str, *others: str) -> str:
    level_name = level.value if isinstance(level, Level) else level
    names = " ".join(name for name in (level_name, *others) if name)
    return f' class="{names}"' if names else ""


def _text(text: str) -> str:
    """Text without a meaning in HTML; control characters are escapes, as in a terminal."""
    return escape(escape_controls(text))
