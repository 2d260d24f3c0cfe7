"""Explains the choice of the best node: the runners-up, and the plugin that made the difference."""

import msgspec
import numpy as np

from kubesched.explanation.explanation import Explanation
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
        plugin: whose scores speak most for the best node, compared with the best of the others with a lower total;
            empty where there is none.
        lead: by how many points.
    """

    best: Ranked
    runners_up: tuple[Ranked, ...]
    n_best: int
    plugin: str
    lead: int


def choice(explanation: Explanation) -> Choice | None:
    """Find the node that the pod goes to and what decided; None where no node was scored, or a plugin failed.

    Example:
        assert choice(explain(load_snapshot("cluster.json"), "shop/web-7")).best.node == "n1"
    """
    scores = explanation.scores
    if scores is None or explanation.failure is not None:
        return None
    order = np.argsort(-scores.total, kind="stable").tolist()
    n_best = int(np.count_nonzero(scores.total == scores.total[order[0]]))
    best = _ranked(scores, order[0])
    runners_up = tuple(_ranked(scores, position) for position in order[1 : 1 + _N_RUNNERS_UP])
    plugin, lead = "", 0
    if n_best < len(order):
        next_best = _ranked(scores, order[n_best])
        leads = {name: score - next_best.scores[name] for name, score in best.scores.items()}
        plugin = max(leads, key=lambda name: leads[name])
        lead = leads[plugin]
    return Choice(best, runners_up, n_best, plugin, lead)


def _ranked(scores: Scores, position: int) -> Ranked:
    return Ranked(scores.nodes.name(position), int(scores.total[position]), scores.at(position))
