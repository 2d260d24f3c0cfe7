"""Explains decisions: the verdict of every plugin on every node for a pod, as values, JSON and text."""

from kubesched.explanation.advice import advice
from kubesched.explanation.choice import Choice, Ranked, choice, differences, points_words, ranked
from kubesched.explanation.current_place import Outlook, current_place
from kubesched.explanation.evaluate import evaluate
from kubesched.explanation.explainer import Explainer, explain, unplaced
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.explanation.fix import Change, Edit, Fix
from kubesched.explanation.fixes import MAX_FIXES, fixes
from kubesched.explanation.gang import Gang, find_group, gangs_of
from kubesched.explanation.group import GroupFit, place_group
from kubesched.explanation.hooks import HookAnswer, turned_down_words
from kubesched.explanation.nearest import nearest, not_named, shortages, too_small
from kubesched.explanation.obstacle_rows import ObstacleRow, distinct, obstacle_rows, obstacle_texts
from kubesched.explanation.obstacles import NO_REASON, Obstacle, obstacles, reason_counts, reasons_of
from kubesched.explanation.outcome import Outcome, State, diagnosis, fits_outcome, outcome
from kubesched.explanation.pod_answer import PodAnswer, Told, answer_of
from kubesched.explanation.preemption_words import eviction_sentence, preemption_sentence, preemption_words
from kubesched.explanation.unscheduled import Ended

__all__ = [
    "MAX_FIXES",
    "NO_REASON",
    "Change",
    "Choice",
    "Edit",
    "Ended",
    "Explainer",
    "Explanation",
    "Fix",
    "Gang",
    "GroupFit",
    "HookAnswer",
    "Obstacle",
    "ObstacleRow",
    "Outcome",
    "Outlook",
    "PluginVerdicts",
    "PodAnswer",
    "Preemption",
    "Ranked",
    "State",
    "Told",
    "advice",
    "answer_of",
    "choice",
    "current_place",
    "diagnosis",
    "differences",
    "distinct",
    "evaluate",
    "eviction_sentence",
    "explain",
    "find_group",
    "fits_outcome",
    "fixes",
    "gangs_of",
    "nearest",
    "not_named",
    "obstacle_rows",
    "obstacle_texts",
    "obstacles",
    "outcome",
    "place_group",
    "points_words",
    "preemption_sentence",
    "preemption_words",
    "ranked",
    "reason_counts",
    "reasons_of",
    "shortages",
    "too_small",
    "turned_down_words",
    "unplaced",
]
