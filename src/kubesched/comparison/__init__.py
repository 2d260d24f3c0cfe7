"""Compares what two configurations make of one cluster: figures, chance, moved pods, and the settings to paste."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.comparison.candidates import Candidate, packed
    from kubesched.comparison.comparison import MANY_RUNS, Comparison, Difference, PendingPod, WorkloadSpread, compare
    from kubesched.comparison.conditions import Condition, failures, parse_conditions
    from kubesched.comparison.figures import FIGURES, Figure, Unit
    from kubesched.comparison.measure import Spread
    from kubesched.comparison.moves import Cause, Move
    from kubesched.comparison.prices import read_prices

__all__ = [
    "FIGURES",
    "MANY_RUNS",
    "Candidate",
    "Cause",
    "Comparison",
    "Condition",
    "Difference",
    "Figure",
    "Move",
    "PendingPod",
    "Spread",
    "Unit",
    "WorkloadSpread",
    "compare",
    "failures",
    "packed",
    "parse_conditions",
    "read_prices",
]
