"""Says why: what every plugin thinks of every node for a pod, as values, JSON and text."""

from kubesched.explanation.advice import advice
from kubesched.explanation.choice import Choice, Ranked, choice
from kubesched.explanation.document import N_NEAREST, as_document
from kubesched.explanation.explainer import Explainer, explain, find_pod, unplaced
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.explanation.lines import as_line
from kubesched.explanation.nearest import Shortage, nearest, shortages
from kubesched.explanation.node_names import common_domain
from kubesched.explanation.obstacles import Obstacle, obstacles
from kubesched.explanation.text import ExplanationText, new_table, print_overview

__all__ = [
    "N_NEAREST",
    "Choice",
    "Explainer",
    "Explanation",
    "ExplanationText",
    "Obstacle",
    "PluginVerdicts",
    "Preemption",
    "Ranked",
    "Shortage",
    "advice",
    "as_document",
    "as_line",
    "choice",
    "common_domain",
    "explain",
    "find_pod",
    "nearest",
    "new_table",
    "obstacles",
    "print_overview",
    "shortages",
    "unplaced",
]
