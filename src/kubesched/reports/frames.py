"""Results as pandas DataFrames, for who analyses them further."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kubesched.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


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
