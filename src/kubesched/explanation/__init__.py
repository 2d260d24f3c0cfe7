"""Explains decisions: the verdict of every plugin on every node for a pod, as values, JSON and text."""

from kubesched.explanation.advice import advice
from kubesched.explanation.choice import Choice, Ranked, choice
from kubesched.explanation.document import N_NEAREST, as_document
from kubesched.explanation.explainer import Explainer, explain, find_pod, unplaced
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.explanation.fix import Change, Edit, Fix
from kubesched.explanation.fixes import MAX_FIXES, fixes
from kubesched.explanation.lines import as_line
from kubesched.explanation.nearest import nearest, shortages
from kubesched.explanation.obstacles import NO_REASON, Obstacle, obstacles

__all__ = [
    "MAX_FIXES",
    "NO_REASON",
    "N_NEAREST",
    "Change",
    "Choice",
    "Edit",
    "Explainer",
    "Explanation",
    "Fix",
    "Obstacle",
    "PluginVerdicts",
    "Preemption",
    "Ranked",
    "advice",
    "as_document",
    "as_line",
    "choice",
    "explain",
    "find_pod",
    "fixes",
    "nearest",
    "obstacles",
    "shortages",
    "unplaced",
]
