"""The names of nodes, and their scores, as values that do not change with the cluster."""

from functools import cached_property

import msgspec
import numpy as np

from kubesched.engine import IntVector
from kubesched.framework import Scores


class NodeNames(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The names of some nodes, in the snapshot's order."""

    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def name(self, position: int) -> str:
        """The name at a position."""
        return self.names[position]

    def position_of(self, name: str) -> int | None:
        """Where a name is; None where it is not one of them."""
        return self._positions.get(name)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}


class NodeScores(msgspec.Struct, frozen=True, eq=False):
    """Weighted scores of the feasible nodes.

    Attributes:
        nodes: the feasible nodes.
        by_plugin: plugin -> (nodes,) int64, or one int that all nodes share; plugins that skipped are absent.
        total: (nodes,) int64: the sum of all plugins' scores.
    """

    nodes: NodeNames
    by_plugin: dict[str, IntVector | int]
    total: IntVector

    def of(self, plugin: str) -> IntVector:
        """One plugin's weighted scores, spelled out."""
        score = self.by_plugin[plugin]
        return np.full(len(self.nodes), score, dtype=np.int64) if isinstance(score, int) else score

    def at(self, position: int) -> dict[str, int]:
        """Every plugin's weighted score of one node."""
        return {
            name: score if isinstance(score, int) else int(score[position]) for name, score in self.by_plugin.items()
        }


def kept(scores: Scores) -> NodeScores:
    """Scores as values: the table of nodes that they belong to changes with the cluster."""
    by_plugin = {name: score if isinstance(score, int) else score.copy() for name, score in scores.by_plugin.items()}
    return NodeScores(NodeNames(tuple(scores.nodes.names)), by_plugin, scores.total)
