"""What answers have in common: they show themselves as their report, and hand out their figures as DataFrames.

Their pages stand above them, in `pages`. The package `kubesched` says here where these are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kubesched.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class Formats(Protocol):
    """What makes the text and the HTML of an answer: the module `kubesched.pages.formats`."""

    def text_of(self, answer: object) -> str:
        """The report on an answer as text."""

    def html_of(self, answer: object) -> str:
        """The report on an answer as a piece of HTML."""


class Shown:
    """Base of answers that have a report."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The report as text, as wide as the terminal."""
        return _formats().text_of(self)

    def _repr_html_(self) -> str:
        """The report as a piece of HTML, which Jupyter shows."""
        return _formats().html_of(self)


def show_with(formats: Callable[[], Formats]) -> None:
    """Set what makes the reports of answers; it is called for each report, so that nothing is imported before."""
    global _formats
    _formats = formats


def _formats() -> Formats:
    raise NotImplementedError("the package kubesched sets what makes reports")


def data_frame(columns: Mapping[str, Sequence[Any]], index: str = "") -> "pd.DataFrame":
    """A DataFrame of columns of equal length, in their order.

    Args:
        index: the column that becomes the index; empty for the numbers of the rows.
    Raises:
        InputError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise InputError("frames need pandas, which is not installed: pip install 'kubesched[frames]'") from None
    frame = pd.DataFrame(dict(columns))
    return frame.set_index(index) if index else frame
