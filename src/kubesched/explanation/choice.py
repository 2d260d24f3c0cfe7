"""Explains the choice of the best node: the runners-up, and the points of each plugin that make the difference."""

import msgspec
import numpy as np

from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.node_scores import NodeScores
from kubesched.framework import Scores

_N_RUNNERS_UP = 3


class Ranked(msgspec.Struct, frozen=True):
    """A feasible node with its scores: plugin -> normalised score x weight."""

    node: str
    total: int
    scores: dict[str, int]


class Choice(msgspec.Struct, frozen=True, rename="camel"):
    """Where the pod goes.

    Attributes:
        best: the node: of equally good ones the first in the snapshot's order.
        runners_up: up to three next best nodes.
        n_best: how many nodes have the highest total.
        next_best: the best of the nodes with a lower total; empty where there is none.
        ahead: by how many points the best node leads it.
        differences: plugin -> by how many of these points, the largest difference first; plugins without one are left
            out.
        plugin: the plugin whose scores speak most for the best node in this comparison; empty where there is none.
        lead: by how many points.
    """

    best: Ranked
    runners_up: tuple[Ranked, ...]
    n_best: int
    next_best: str
    ahead: int
    differences: dict[str, int]
    plugin: str
    lead: int


def choice(evaluation: Evaluation) -> Choice | None:
    """Find the node that the pod goes to and what decided; None where no node was scored, or a plugin failed."""
    scores = evaluation.scores
    if scores is None or evaluation.failure is not None:
        return None
    order = np.argsort(-scores.total, kind="stable").tolist()
    n_best = int(np.count_nonzero(scores.total == scores.total[order[0]]))
    best = ranked(scores, order[0])
    runners_up = tuple(ranked(scores, position) for position in order[1 : 1 + _N_RUNNERS_UP])
    if n_best == len(order):
        return Choice(best, runners_up, n_best, "", 0, {}, "", 0)
    next_best = ranked(scores, order[n_best])
    leads = differences(best, next_best)
    plugin = max(leads, key=lambda name: leads[name])
    return Choice(best, runners_up, n_best, next_best.node, best.total - next_best.total, leads, plugin, leads[plugin])


def ranked(scores: Scores | NodeScores, position: int) -> Ranked:
    """One node of the table of scores."""
    return Ranked(scores.nodes.name(position), int(scores.total[position]), scores.at(position))


def differences(one: Ranked, other: Ranked) -> dict[str, int]:
    """Plugin -> by how many points it prefers one node to another, the largest difference first, without zeros."""
    leads = {name: score - other.scores[name] for name, score in one.scores.items()}
    return {name: lead for name, lead in sorted(leads.items(), key=lambda item: -abs(item[1])) if lead}


def points_words(points: dict[str, int]) -> str:
    """Differences in points: `NodeResourcesFit +40, PodTopologySpread -10`."""
    return ", ".join(f"{name} {lead:+d}" for name, lead in points.items())
