"""Results that show themselves as their report: as text in a Python prompt, as HTML in a notebook."""

from functools import singledispatch
from io import StringIO
from shutil import get_terminal_size

from kubesched.documents import escape_controls
from kubesched.reports.html import as_fragment
from kubesched.reports.page import Page
from kubesched.reports.text import print_page


@singledispatch
def page_of(result: object) -> Page:
    """The report on a result. The module that makes the pages of a type registers its function here.

    Raises:
        TypeError: no report describes such a thing.

    Example:
        print(page_of(Simulator(load_snapshot("cluster.json")).run()).verdict.text)
    """
    raise TypeError(f"{type(result).__name__} objects have no report")


class Shown:
    """Base of results that have a report."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The report as text, as wide as the terminal."""
        return as_text(page_of(self))

    def _repr_html_(self) -> str:
        """The report as a piece of HTML, which Jupyter shows."""
        return as_fragment(page_of(self))


def as_text(page: Page, width: int | None = None) -> str:
    """A page as text without colours.

    Args:
        width: in characters; None for the width of the terminal.
    """
    from rich.console import Console

    text = StringIO()
    columns = width or get_terminal_size((120, 24)).columns
    print_page(page, Console(file=text, width=columns, markup=False, emoji=False, highlight=False, color_system=None))
    return "\n".join(line.rstrip() for line in escape_controls(text.getvalue()).rstrip().split("\n"))
