"""Builds the answer to prioritize from cached texts: a node has eleven possible entries in the list."""

from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.engine import IntVector
from kubesched.state import NodeColumns
from kubesched.wire import host_priority

_N_SCORES: Final = 11


class ScoreTexts:
    """`{"Host":"n1","Score":7}` for each row and score, made when a row is first scored."""

    def __init__(self, columns: NodeColumns) -> None:
        self._columns = columns
        self._names: list[str | None] = []  # whose texts a row has; rows are used again
        self._texts: npt.NDArray[np.object_] = np.empty((0, _N_SCORES), dtype=np.object_)
        self._epoch: object = None

    def entries(self, rows: npt.NDArray[np.intp], scores: IntVector, epoch: object) -> list[bytes]:
        """The entries of some rows.

        Args:
            scores: (rows,) int64 in 0..10.
            epoch: another object whenever a row may belong to another node.
        """
        if self._epoch is not epoch:
            self._refresh()
            self._epoch = epoch
        entries: list[bytes] = self._texts[rows, scores].tolist()
        return entries

    def _refresh(self) -> None:
        """Make the texts of rows that are new or have changed hands."""
        names = self._columns.names
        n_known = len(self._names)
        if n_known < len(names):
            grown = np.empty((len(names), _N_SCORES), dtype=np.object_)
            grown[:n_known] = self._texts
            self._texts = grown
            self._names += [None] * (len(names) - n_known)
        for row, name in enumerate(names):
            if self._names[row] != name:
                self._names[row] = name
                self._texts[row] = [host_priority(name, score) for score in range(_N_SCORES)]
