"""Reports as Markdown, for merge requests and tickets."""

import re
from collections.abc import Iterator
from typing import Final

from kubesched.documents import escape_controls
from kubesched.pages.formats.model import Align, Level, Page, Paragraph, Table, as_cell

_BLOCK: Final = re.compile(r"^(?:(\d{1,9})(?=[.)](?:\s|$))|[-+=](?=[-+=\s]|$)|>|#(?=[#\s]|$))", re.MULTILINE)
"""What begins a block at the start of a line: a list, a rule, a quotation, a heading."""
_INLINE: Final = re.compile(r"[\\`*|~]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])|\](?=[(\[:])|&(?=#?\w+;)")
"""What has a meaning within a line: an underscore within a word, a bracket alone and a > have none."""


def as_markdown(page: Page) -> str:
    """The whole page; the verdict is in bold."""
    blocks = [f"**{_line(page.verdict.text)}**"]
    for part in (*page.parts, *page.appendix):
        blocks += _table(part) if isinstance(part, Table) else _paragraph(part)
    blocks += [f"*{_line(limit)}*" for limit in page.limits]
    if page.next_command:
        blocks.append(_code(page.next_command, "shell"))
    return "\n\n".join(blocks) + "\n"


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
    yield from map(_line, table.notes_elsewhere)


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
