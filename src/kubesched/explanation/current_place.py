"""Where a pod that has its node is: its rank there, and what a new decision would make of it."""

import enum
from typing import NamedTuple

import numpy as np

from kubesched.api import on_node
from kubesched.controllers import hangs_because, is_unreachable, way_to_end
from kubesched.documents import count
from kubesched.explanation.answers_beside_filters import turned_down_words
from kubesched.explanation.choice import Choice, differences, points_words, ranked
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.held_devices import named_obstacles
from kubesched.explanation.obstacles import obstacle_texts


class Outlook(enum.Enum):
    """What a new decision would make of a pod that has its node."""

    UNKNOWN = "unknown"
    AS_GOOD = "as good"
    """It would take the node again, or one that is equally good."""
    OTHERWISE = "otherwise"
    """It would prefer another node, or not be made."""
    LOST = "lost"
    """It would not come back to the node: it does not fit there, or the attempt fails."""


class CurrentPlace(NamedTuple):
    """Where a pod runs, in one sentence, and what a new decision would make of it."""

    text: str
    outlook: Outlook


def current_place(evaluation: Evaluation, chosen: Choice | None) -> CurrentPlace:
    """Where the pod runs, its rank there, and where a new decision would take it and why."""
    has_started = evaluation.pod.status.phase != "Pending"
    place = "runs on" if has_started else "has not started yet on"
    here = f"Pod {evaluation.pod.key} {place} {evaluation.runs_on}"
    if why := _never_ends(evaluation):
        way = way_to_end(evaluation.runs_on)
        return CurrentPlace(f"{here} and does not end: {why}. Fix: {way}.", Outlook.LOST)
    if evaluation.undecided:
        return CurrentPlace(
            f"{here}; kubesched cannot tell whether it fits there now: {evaluation.undecided}.", Outlook.UNKNOWN
        )
    scores = evaluation.scores
    position = None if scores is None else scores.nodes.position_of(evaluation.runs_on)
    elsewhere = "fits nowhere else" if chosen is None else f"would go to {chosen.best.node}"
    if scores is None or position is None or chosen is None:
        return CurrentPlace(
            f"{here}, where it does not fit now: {_why_not(evaluation)}. A new pod {elsewhere}.", Outlook.LOST
        )
    if evaluation.turned_down is not None:
        return CurrentPlace(f"{here}; a new decision fails: {turned_down_words(evaluation.turned_down)}.", Outlook.LOST)
    if evaluation.gate is not None:
        return CurrentPlace(f"{here}; a new pod would be {evaluation.held_back_words}.", Outlook.OTHERWISE)
    if not evaluation.compares:
        return CurrentPlace(
            f"{here}, which is one of {len(scores.nodes)} nodes that fit; no plugin scores.", Outlook.AS_GOOD
        )
    mine = ranked(scores, position)
    rank = 1 + int(np.count_nonzero(scores.total > mine.total))
    place = f"{here}, rank {rank} of {len(scores.nodes)} nodes that fit, with {count(mine.total, 'point')}"
    if mine.node == chosen.best.node:
        return CurrentPlace(f"{place}; a new decision would take it again.", Outlook.AS_GOOD)
    if mine.total == chosen.best.total:
        return CurrentPlace(
            f"{place}; a new decision would take {chosen.best.node}, which has as many points and comes first in the "
            "snapshot.",
            Outlook.AS_GOOD,
        )
    return CurrentPlace(
        f"{place}; a new decision would take {chosen.best.node} with {chosen.best.total}: "
        f"{points_words(differences(chosen.best, mine))}.",
        Outlook.OTHERWISE,
    )


def _never_ends(evaluation: Evaluation) -> str:
    """Why a pod that is being deleted stays, and no new one comes; empty if it ends, or one comes."""
    position = evaluation.nodes.position_of(evaluation.runs_on)
    if not evaluation.pod.is_terminating or position is None or not is_unreachable(evaluation.nodes.node(position)):
        return ""
    return hangs_because(on_node(evaluation.pod, evaluation.runs_on), evaluation.snapshot.objects.get)


def _why_not(evaluation: Evaluation) -> str:
    position = evaluation.nodes.position_of(evaluation.runs_on)
    if position is None:
        return "the snapshot does not have this node"
    return "; ".join(obstacle_texts(named_obstacles(evaluation, position))) or "no plugin rejects it alone"
