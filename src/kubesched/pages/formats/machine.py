"""Reports for programs: JSON with sorted keys, JSON lines, and CSV; the same input gives the same bytes."""

import csv
import io
import json
import re
from typing import Any, Final

from kubesched.documents import escape_controls, escape_in_json
from kubesched.pages.formats.model import Page, as_cell, version_fields

_FORMULA: Final = re.compile(r"[=@\t\n\uff0b\uff0d\uff1d\uff20]|[+-](?!$|\d+(\.\d+)?(e[+-]?\d+)?%?$)", re.IGNORECASE)
"""The beginning of a text, not of a number, that spreadsheets take for a formula; some also take full-width signs."""


def as_json(page: Page) -> str:
    """One document, indented, with its `schema` and the version that decided."""
    document = {"schema": page.schema, **version_fields(page.versions), **page.document}
    return json_text(document)


def as_jsonl(page: Page) -> str:
    """One document a line, with the version that decided."""
    decided = version_fields(page.versions)
    return "".join(json_line({**decided, **line}) for line in page.lines)


def json_text(document: Any) -> str:
    """A document in indented lines."""
    return escape_in_json(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True)) + "\n"


def json_line(document: Any) -> str:
    """A document in one line."""
    return escape_in_json(json.dumps(document, ensure_ascii=False, sort_keys=True)) + "\n"


def as_csv(page: Page) -> str:
    """The main table under the keys of its columns, without sums; numbers as they are."""
    table = page.main_table
    if table is None:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    for row in table.rows[: len(table.rows) - table.n_totals]:
        cells = [as_cell(entry) for entry in row]
        writer.writerow([_not_a_formula(cell.text) if cell.value is None else cell.value for cell in cells])
    return text.getvalue()


def _not_a_formula(text: str) -> str:
    """Text that a spreadsheet shows as it is: one that begins like a formula gets an apostrophe."""
    apostrophe = "'" if _FORMULA.match(text) else ""
    return f"{apostrophe}{escape_controls(text)}"
