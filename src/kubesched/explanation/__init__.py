"""Explains decisions: the verdict of every plugin on every node for a pod, as values, JSON and text."""

from kubesched.explanation.advice import advice
from kubesched.explanation.choice import Choice, Ranked, choice
from kubesched.explanation.document import N_NEAREST, as_document
from kubesched.explanation.explainer import Explainer, explain, find_pod, unplaced
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.explanation.lines import as_line
from kubesched.explanation.nearest import nearest, shortages
from kubesched.explanation.obstacles import NO_REASON, Obstacle, obstacles

__all__ = [
    "NO_REASON",
    "N_NEAREST",
    "Choice",
    "Explainer",
    "Explanation",
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
    "nearest",
    "obstacles",
    "shortages",
    "unplaced",
]
