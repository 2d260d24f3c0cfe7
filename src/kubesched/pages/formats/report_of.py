"""The report on an answer: as text in a Python prompt, as HTML in a notebook."""

from functools import singledispatch
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from kubesched.documents import escape_controls
from kubesched.pages.formats.html import as_fragment
from kubesched.pages.formats.model import Page
from kubesched.pages.formats.text import print_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@singledispatch
def page_of(result: object) -> Page:
    """The report on a result. The module that makes the pages of a type registers its function here.

    Raises:
        TypeError: no report describes such a thing.

    Example:
        print(page_of(Simulator(load_snapshot("cluster.json")).run()).verdict.text)
    """
    raise TypeError(f"{type(result).__name__} objects have no report")


@singledispatch
def figure_of(result: object) -> "Figure":
    """The figure of a result, registered as with `page_of`.

    Raises:
        TypeError: no figure shows such a thing.
    """
    raise TypeError(f"{type(result).__name__} objects have no figure")


def text_of(answer: object) -> str:
    """The report on an answer as text, as wide as the terminal."""
    return as_text(page_of(answer))


def html_of(answer: object) -> str:
    """The report on an answer as a piece of HTML."""
    return as_fragment(page_of(answer))


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
