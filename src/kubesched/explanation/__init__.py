"""Explains decisions: the verdict of every plugin on every node for a pod, as values, JSON and text."""

from kubesched.explanation.advice import advice
from kubesched.explanation.choice import Choice, Ranked, choice
from kubesched.explanation.document import N_NEAREST, as_document
from kubesched.explanation.evaluate import evaluate
from kubesched.explanation.explainer import Explainer, explain, find_pod, unplaced
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.explanation.fix import Change, Edit, Fix
from kubesched.explanation.fixes import MAX_FIXES, fixes
from kubesched.explanation.gang import Gang, find_group, gangs_of
from kubesched.explanation.group import GroupFit, place_group
from kubesched.explanation.group_page import group_page
from kubesched.explanation.labels import unselected
from kubesched.explanation.lines import as_line
from kubesched.explanation.names import no_such_pod
from kubesched.explanation.nearest import nearest, shortages
from kubesched.explanation.node_page import node_page
from kubesched.explanation.obstacle_rows import ObstacleRow, obstacle_rows
from kubesched.explanation.obstacles import NO_REASON, Obstacle, obstacles
from kubesched.explanation.outcome import Outcome, State, diagnosis, fits_outcome, outcome
from kubesched.explanation.page import explanation_page
from kubesched.explanation.pod_answer import PodAnswer, Told, answer_of
from kubesched.explanation.pods_page import Rows, overview_page
from kubesched.explanation.preemption_words import eviction_sentence
from kubesched.explanation.unscheduled import Ended

__all__ = [
    "MAX_FIXES",
    "NO_REASON",
    "N_NEAREST",
    "Change",
    "Choice",
    "Edit",
    "Ended",
    "Explainer",
    "Explanation",
    "Fix",
    "Gang",
    "GroupFit",
    "Obstacle",
    "ObstacleRow",
    "Outcome",
    "PluginVerdicts",
    "PodAnswer",
    "Preemption",
    "Ranked",
    "Rows",
    "State",
    "Told",
    "advice",
    "answer_of",
    "as_document",
    "as_line",
    "choice",
    "diagnosis",
    "evaluate",
    "eviction_sentence",
    "explain",
    "explanation_page",
    "find_group",
    "find_pod",
    "fits_outcome",
    "fixes",
    "gangs_of",
    "group_page",
    "nearest",
    "no_such_pod",
    "node_page",
    "obstacle_rows",
    "obstacles",
    "outcome",
    "overview_page",
    "place_group",
    "shortages",
    "unplaced",
    "unselected",
]
