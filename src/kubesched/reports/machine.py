"""Reports for programs: JSON with sorted keys, JSON lines, and CSV; the same input gives the same bytes."""

import csv
import io
import json

from kubesched.reports.page import Page, as_cell

__all__ = ["as_csv", "as_json", "as_jsonl"]


def as_json(page: Page) -> str:
    """One document, indented, with its `schema`."""
    document = {"schema": page.schema, **page.document}
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def as_jsonl(page: Page) -> str:
    """One document a line."""
    return "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in page.lines)


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
        writer.writerow([cell.text if cell.value is None else cell.value for cell in cells])
    return text.getvalue()
