"""Compares what two configurations make of one cluster: figures, chance, moved pods, and the settings to paste."""

from kubesched.comparison.candidates import Candidate, packed
from kubesched.comparison.comparison import Comparison, Difference, PendingPod, compare
from kubesched.comparison.conditions import Condition, failures, parse_conditions
from kubesched.comparison.figures import FIGURES, Figure, Unit
from kubesched.comparison.moves import Cause, Move
from kubesched.comparison.page import comparison_page
from kubesched.comparison.prices import read_prices

__all__ = [
    "FIGURES",
    "Candidate",
    "Cause",
    "Comparison",
    "Condition",
    "Difference",
    "Figure",
    "Move",
    "PendingPod",
    "Unit",
    "compare",
    "comparison_page",
    "failures",
    "packed",
    "parse_conditions",
    "read_prices",
]
