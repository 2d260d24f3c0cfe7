"""What nodes offer and what their pods hold at one moment, and the change from one moment to another."""

from typing import NamedTuple, Self

import numpy as np

from kubesched.engine import IntMatrix, IntVector
from kubesched.session.device_use import DeviceMoment
from kubesched.state import NodeColumns


class FillChange(NamedTuple):
    """What differs between two moments: a few rows, where whole tables would be large to keep or to send.

    Attributes:
        rows: (changed,) of the nodes that hold something else.
        requested: (resources, changed) what their pods hold then.
        n_pods: (changed,) how many pods they have then.
    """

    rows: IntVector
    requested: IntMatrix
    n_pods: IntVector


class Fill:
    """What the nodes offer and hold at one moment; arrays now, names when they are read.

    Attributes:
        devices: those of ResourceSlices.
    """

    __slots__ = ("_allocatable", "_allowed_pods", "_n_pods", "_requested", "_resources", "_row_of", "devices")

    def __init__(self, columns: NodeColumns, devices: DeviceMoment | None = None) -> None:
        self.devices = devices or DeviceMoment()
        self._resources = list(columns.resources.values)
        self._row_of = dict(columns.row_of)
        self._allocatable = columns.allocatable.copy()
        self._requested = columns.requested.copy()
        self._allowed_pods = columns.allowed_pods.copy()
        self._n_pods = columns.n_pods.copy()

    @property
    def node_names(self) -> list[str]:
        """The nodes, in the snapshot's order."""
        return list(self._row_of)

    def allocatable(self, node: str) -> dict[str, int]:
        """What a node offers."""
        row = self._row_of[node]
        return {**self._by_name(self._allocatable, row), "pods": int(self._allowed_pods[row])}

    def held(self, node: str) -> dict[str, int]:
        """What the pods on a node hold."""
        row = self._row_of[node]
        return {**self._by_name(self._requested, row), "pods": int(self._n_pods[row])}

    def change_to(self, later: "Fill") -> FillChange | None:
        """What other pods on the same nodes change; None if some resource is new, or not used any more."""
        if self._resources != later._resources or self._requested.shape != later._requested.shape:
            return None
        differs = (self._requested != later._requested).any(axis=0) | (self._n_pods != later._n_pods)
        rows = np.flatnonzero(differs)
        return FillChange(rows, later._requested[:, rows], later._n_pods[rows])

    def changed_by(self, change: FillChange) -> Self:
        """How full the nodes are after a change."""
        later = object.__new__(type(self))
        for name in Fill.__slots__:
            setattr(later, name, getattr(self, name))
        later._requested, later._n_pods = self._requested.copy(), self._n_pods.copy()
        later._requested[:, change.rows] = change.requested
        later._n_pods[change.rows] = change.n_pods
        return later

    def _by_name(self, matrix: IntMatrix, row: int) -> dict[str, int]:
        amounts = matrix[:, row].tolist()
        return {name: amount for name, amount in zip(self._resources, amounts, strict=False) if name and amount}
