"""What answers have in common: they show themselves as their report, and hand out their figures as DataFrames.

Their pages stand above them, in `pages`. The package `kubesched` says here where these are.
"""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol

from kubesched.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Formats(Protocol):
    """What makes the text and the HTML of an answer: the module `kubesched.pages.formats`."""

    def text_of(self, answer: object) -> str:
        """The report on an answer as text."""

    def html_of(self, answer: object) -> str:
        """The report on an answer as a piece of HTML."""

    def figure_of(self, answer: object) -> "Figure":
        """The figure of an answer that has one."""


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


def figure_of(answer: object) -> "Figure":
    """The figure of an answer.

    Raises:
        InputError: matplotlib is not installed.
    """
    return _formats().figure_of(answer)


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


def parquet_of(frame: "pd.DataFrame") -> bytes:
    """A DataFrame as a Parquet file.

    Raises:
        InputError: pyarrow is not installed.
    """
    file = BytesIO()
    try:
        frame.to_parquet(file, index=False)
    except ImportError as error:
        raise InputError("Parquet needs pyarrow, which is not installed: pip install pyarrow") from error
    return file.getvalue()


def frame_of_pods(rows: Iterable[Any], fields: Sequence[str]) -> "pd.DataFrame":
    """A DataFrame with a row for each of some structs about pods.

    Args:
        rows: their `pod`, `namespace/name`, is the first column; then come `namespace` and `name`.
        fields: the attributes that follow; of an enum the text.
    Raises:
        InputError: pandas is not installed.
    """
    rows = list(rows)
    pods = [row.pod for row in rows]
    columns = {field: [_cell(getattr(row, field)) for row in rows] for field in fields}
    namespaces, names = [pod.rpartition("/")[0] for pod in pods], [pod.rpartition("/")[2] for pod in pods]
    return data_frame({"pod": pods, "namespace": namespaces, "name": names, **columns})


def _cell(value: Any) -> Any:
    return value.value if isinstance(value, enum.Enum) else value
