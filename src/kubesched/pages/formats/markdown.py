"""Reports as Markdown, for merge requests and tickets."""

import re
from collections.abc import Iterator
from html import escape
from itertools import chain
from typing import Final

import msgspec

from kubesched.documents import escape_controls
from kubesched.pages.formats.model import Align, Level, Page, Paragraph, Table, as_cell

_BLOCK: Final = re.compile(r"^(?:(\d{1,9})(?=[.)](?:\s|$))|[-+=](?=[-+=\s]|$)|>|#(?=[#\s]|$))", re.MULTILINE)
"""What begins a block at the start of a line: a list, a rule, a quotation, a heading."""
_MAX_NOTES: Final = 2  # below a table that is shown
_INLINE: Final = re.compile(r"[\\`*|~]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])|\](?=[(\[:])|&(?=#?\w+;)")
"""What has a meaning within a line: an underscore within a word, a bracket alone and a > have none."""


def as_markdown(page: Page) -> str:
    """The whole page; the verdict is in bold. What a reader decides without is folded, after the rest."""
    blocks, folded, titles = [f"**{_line(page.verdict.text)}**"], list[str](), list[str]()
    for part in chain.from_iterable(map(_in_two, (*page.parts, *page.appendix))):
        shown = list(_table(part) if isinstance(part, Table) else _paragraph(part))
        (folded if part.is_folded else blocks).extend(shown)
        if shown and part.is_folded and (title := _title(part)):
            titles.append(title)
        if isinstance(part, Table) and shown:
            notes = [*map(_line, part.notes_elsewhere)]
            (folded if part.is_folded or len(notes) > _MAX_NOTES else blocks).extend(notes)
    if folded:
        summary = escape("; ".join(titles) or "Notes", quote=False)
        blocks += [f"<details>\n<summary>{escape_controls(summary)}</summary>", *folded, "</details>"]
    if page.closing:
        blocks.append(f"*{_line(' '.join(page.closing))}*")
    if page.next_command:
        blocks.append(_code(page.next_command, "shell"))
    return "\n\n".join(blocks) + "\n"


def _in_two(part: Table | Paragraph) -> Iterator[Table | Paragraph]:
    """A table without the rows that are folded, and the folded table with all of them; other parts as they are."""
    if not isinstance(part, Table) or not part.folded_rows:
        yield part
        return
    rows = [row for i, row in enumerate(part.rows) if i not in part.folded_rows]
    yield msgspec.structs.replace(part, rows=rows, notes=())
    yield msgspec.structs.replace(part, title=f"{part.title}: all", is_folded=True)


def _title(part: Table | Paragraph) -> str:
    if isinstance(part, Table):
        return part.title
    return part.text if part.level is Level.HEADING else ""


def _paragraph(paragraph: Paragraph) -> Iterator[str]:
    if paragraph.is_wide:
        return
    if paragraph.is_code:
        yield _code(paragraph.text, paragraph.language)
        return
    lines = [_plain(line) for line in paragraph.text.splitlines()]
    if paragraph.level is Level.HEADING:
        yield f"### {' '.join(lines)}"
    else:
        yield "\n".join(f"> {line}" if paragraph.is_indented else line for line in lines)


def _table(table: Table) -> Iterator[str]:
    if not table.rows or table.is_wide:
        return
    if table.title:
        yield f"### {_line(table.title)}"
    shown = [i for i, column in enumerate(table.columns) if not column.is_wide]
    columns = [table.columns[i] for i in shown]
    lines = [_row(_plain(column.heading) for column in columns)]
    lines.append(_row("--:" if column.align is Align.NUMBER else ":--" for column in columns))
    lines += [_row(_plain(as_cell(row[i]).text).replace("\n", "<br>") for i in shown) for row in table.rows]
    yield "\n".join(lines)


def _row(entries: Iterator[str]) -> str:
    return f"| {' | '.join(entries)} |"


def _code(text: str, language: str) -> str:
    """A block of code that ends with a longer fence than any in its text."""
    fence = "`" * (1 + max(2, *map(len, re.findall("`+", text)), 0))
    return f"{fence}{language}\n{escape_controls(text)}\n{fence}"


def _line(text: str) -> str:
    """Text in one line that Markdown shows as it is."""
    return " ".join(_plain(text).split("\n"))


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    escaped = _INLINE.sub(r"\\\g<0>", escape_controls(text))
    return _BLOCK.sub(lambda begun: f"{begun[1] or ''}\\{'' if begun[1] else begun[0]}", escaped.lstrip())
