"""The formats of a report, and what they leave out of a page."""

import enum
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubesched.pages.formats.model import Page


class Format(enum.StrEnum):
    """A format by its name for `-o`. `print_page` prints the first two; the function `as_NAME` makes each other one."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"
    JUNIT = "junit"

    def written(self, page: "Page") -> str:
        """A page in a format that does not depend on the console."""
        text: str = getattr(import_module("kubesched.pages.formats"), f"as_{self}")(page)  # loads no other format
        return text


ROWS_ALONE: Final = frozenset((Format.CSV, Format.JSONL))
"""Formats without what plugins failed with."""
WITHOUT_SENTENCES: Final = ROWS_ALONE | {Format.JUNIT}
"""Formats without notes, and without what a change makes of a cluster."""
PATCH: Final = "patch"
RUNBOOK: Final = "runbook"
SCRIPTS: Final = frozenset((PATCH, RUNBOOK))
"""Formats of some commands that print the end of a page to paste, `as_script`."""
