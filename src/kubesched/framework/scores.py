"""Scores of the feasible nodes: one integer per node and plugin, 0 to 100 before they are weighted."""

import numpy as np

from kubesched.engine import IntVector
from kubesched.framework.status import Code, PluginFault, Status
from kubesched.state import Nodes

__all__ = ["Scores", "check_range", "default_normalize"]


class Scores:
    """Weighted scores of the feasible nodes.

    Attributes:
        nodes: the table of feasible nodes.
        by_plugin: plugin -> (nodes,) int64, or one int that all nodes share; plugins that skipped are absent.
        varying: (nodes,) int64, the sum of those that differ between nodes.
        shared: the sum of the others.
    """

    __slots__ = ("by_plugin", "nodes", "shared", "varying")

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.by_plugin: dict[str, IntVector | int] = {}
        self.varying: IntVector = np.zeros(0, dtype=np.int64)
        self.shared = 0

    @property
    def total(self) -> IntVector:
        """(nodes,) int64: the sum of all plugins' scores."""
        return self.varying + self.shared

    def of(self, plugin: str) -> IntVector:
        """One plugin's weighted scores, spelled out."""
        score = self.by_plugin[plugin]
        return np.full(len(self.nodes), score, dtype=np.int64) if isinstance(score, int) else score

    def at(self, position: int) -> dict[str, int]:
        """Every plugin's weighted score of one node."""
        return {
            name: score if isinstance(score, int) else int(score[position]) for name, score in self.by_plugin.items()
        }


def default_normalize(scores: IntVector, *, reverse: bool = False) -> IntVector:
    """Scale scores so that the highest becomes 100.

    Args:
        scores: (nodes,) int64, not negative.
        reverse: turn them round, the highest becoming 0.
    Rule: kube-scheduler v1.36 DefaultNormalizeScore: 100 * score / max, rounded down; with max 0 nothing changes, or
        everything becomes 100 when reversed.

    Example:
        assert default_normalize(np.array([1, 2, 4])).tolist() == [25, 50, 100]
    """
    top = int(scores.max(initial=0))
    if top <= 0:
        return np.full_like(scores, 100) if reverse else scores
    scaled = scores * 100 // top
    return 100 - scaled if reverse else scaled


def check_range(plugin: str, scores: IntVector) -> None:
    """Refuse what no score may be.

    Raises:
        PluginFault: a score is not between 0 and 100.
    """
    if len(scores) and (scores.min() < 0 or scores.max() > 100):
        wrong = int(scores[(scores < 0) | (scores > 100)][0])
        text = (
            f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid score {wrong}, '
            "it should in the range of [0, 100] after normalizing"
        )
        raise PluginFault(Status(Code.ERROR, (text,), plugin))
