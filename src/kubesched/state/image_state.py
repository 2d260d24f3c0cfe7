"""The nodes that have an image, by row."""

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]


class ImageState:
    """One image name.

    Attributes:
        size: what the first node reported.
        rows: of the nodes that have it; changed by `add` and `discard`.
    """

    __slots__ = ("_row_vector", "rows", "size")

    def __init__(self, size: int, row: int) -> None:
        self.size = size
        self.rows = {row}
        self._row_vector: Rows | None = None

    def add(self, row: int) -> None:
        """A node has the image."""
        self.rows.add(row)
        self._row_vector = None

    def discard(self, row: int) -> None:
        """A node no longer has the image."""
        self.rows.discard(row)
        self._row_vector = None

    @property
    def row_vector(self) -> Rows:
        """The rows as an array, in no order."""
        if self._row_vector is None:
            self._row_vector = np.fromiter(self.rows, dtype=np.intp, count=len(self.rows))
        return self._row_vector
