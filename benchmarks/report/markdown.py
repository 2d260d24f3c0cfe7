"""Tables in Markdown, line by line, that also read well as plain text."""

from collections.abc import Iterable, Sequence

Columns = Sequence[tuple[str, int]]
"""Title and width of each column; text is left-justified where the width is negative."""


def header(columns: Columns) -> list[str]:
    """The titles and the line under them."""
    rule = ["-" * -width if width < 0 else "-" * (width - 1) + ":" for _, width in columns]
    return [table_line(columns, [title for title, _ in columns]), table_line(columns, rule)]


def table_line(columns: Columns, cells: Iterable[str]) -> str:
    """One row."""
    padded = [
        cell.ljust(-width) if width < 0 else cell.rjust(width) for cell, (_, width) in zip(cells, columns, strict=True)
    ]
    return f"| {' | '.join(padded)} |"
