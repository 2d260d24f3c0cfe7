"""Scores of the feasible nodes: what one plugin gives, 0 to 100, and the weighted sum of all."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector, Leaders
from kubesched.framework.column_cache import ColumnCache, KeptColumn, PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.fault_texts import fault_text
from kubesched.framework.hook_answers import as_scores
from kubesched.framework.lifting import lifted_score
from kubesched.framework.status import HOOK_FAULTS, Code, FaultText, PluginFault, Status
from kubesched.state import Nodes, Rows

Normalize = TypeVar("Normalize", bound=Callable[..., IntVector])


class Scores(msgspec.Struct, eq=False):
    """Weighted scores of the feasible nodes.

    Attributes:
        nodes: the table of feasible nodes.
        by_plugin: plugin -> (nodes,) int64, or one int that all nodes share; plugins that skipped are absent.
        varying: (nodes,) int64, the sum of those that differ between nodes.
        shared: the sum of the others.
        leaders: the highest of `varying`, which is changed with them; None where they are not known.
    """

    nodes: Nodes
    by_plugin: dict[str, IntVector | int]
    varying: IntVector
    shared: int
    leaders: Leaders | None = None

    @property
    def total(self) -> IntVector:
        """(nodes,) int64: the sum of all plugins' scores."""
        return self.varying + self.shared

    def add(self, name: str, scores: IntVector) -> None:
        """Add the weighted scores of one more that scores, such as an extender; (nodes,) int64."""
        known = self.by_plugin.get(name)
        self.by_plugin[name] = scores if known is None else known + scores
        self.varying = self.varying + scores

    def select(self, positions: Rows) -> "Scores":
        """The scores of some of the nodes; as they are now, whatever is added to these."""
        by_plugin = {name: one if isinstance(one, int) else one[positions] for name, one in self.by_plugin.items()}
        return Scores(self.nodes.select(positions), by_plugin, self.varying[positions], self.shared)

    def of(self, plugin: str) -> IntVector:
        """One plugin's weighted scores, spelled out."""
        score = self.by_plugin[plugin]
        return np.full(len(self.nodes), score, dtype=np.int64) if isinstance(score, int) else score

    def at(self, position: int) -> dict[str, int]:
        """Every plugin's weighted score of one node."""
        return {
            name: score if isinstance(score, int) else score.item(position) for name, score in self.by_plugin.items()
        }


def score_rule(
    rule: PluginRule, cache: ColumnCache, state: CycleState, pod: Pod, feasible: Nodes, *, is_whole: bool
) -> IntVector | int:
    """One plugin's normalised scores of the feasible nodes; one int where all nodes are known to have the same.

    Args:
        is_whole: whether the table is the whole snapshot, or much of it, so that kept columns serve.
    Raises:
        PluginFault: the plugin failed, or a score is not between 0 and 100.
    """
    plugin, what = rule.plugin, "Score plugins"
    column: KeptColumn | None = None
    try:
        if is_whole and rule.is_kept:
            column = cache.scores(rule, state, pod)
            if column.constant is not None and feasible.n:
                if column.normalized is None:
                    what = "Normalize on Score plugins"
                    column.normalized = _normalized(rule, state, pod, column.constant)
                return column.normalized
            scores = feasible.take(column.shown)
        elif rule.is_lifted:
            scores = lifted_score(plugin, state, pod, feasible)
        else:
            scores = as_scores(plugin, plugin.score_nodes(state, pod, feasible), feasible.n)
        if rule.has_normalize:
            what = "Normalize on Score plugins"
            scores = as_scores(plugin, plugin.normalize_score(state, pod, scores), feasible.n)
    except PluginFault:
        raise
    except HOOK_FAULTS as error:
        text = fault_text(error)
        said = FaultText(f'running {what}: plugin "{rule.name}" failed with: {text}', text.place)
        raise PluginFault(Status(Code.ERROR, (said,), rule.name)) from error
    if rule.has_normalize or column is None or not column.in_range:
        _check_range(rule.name, scores)
    return scores


def _normalized(rule: PluginRule, state: CycleState, pod: Pod, constant: int) -> int:
    """What all nodes get when all have the same score."""
    one = np.array([constant], dtype=np.int64)
    if rule.has_normalize:
        one = as_scores(rule.plugin, rule.plugin.normalize_score(state, pod, one), 1)
    _check_range(rule.name, one)
    return int(one[0])


def _check_range(plugin: str, scores: IntVector) -> None:
    if len(scores) and (scores.min() < 0 or scores.max() > 100):
        wrong = int(scores[(scores < 0) | (scores > 100)][0])
        text = (
            f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid score {wrong}, '
            "it should in the range of [0, 100] after normalizing"
        )
        raise PluginFault(Status(Code.ERROR, (text,), plugin))


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


def keeps_equal(normalize: Normalize) -> Normalize:
    """Mark a normalize_score that gives equal scores one result, whatever the pod and however many nodes there are.

    Where a kept column has one score for all nodes, it gets this score alone, and its answer is kept with the column.
    """
    cast("Any", normalize).keeps_equal = True
    return normalize
