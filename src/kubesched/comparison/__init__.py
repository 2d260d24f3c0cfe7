"""Compares what two configurations make of one cluster: figures, chance, moved pods, and the settings to paste."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.comparison.candidates import (
        Candidate as Candidate,
        ReadCandidate as ReadCandidate,
        packed as packed,
    )
    from kubesched.comparison.comparison import MANY_RUNS as MANY_RUNS, compare as compare
    from kubesched.comparison.comparison_result import (
        Comparison as Comparison,
        FigureDifference as FigureDifference,
        PendingPod as PendingPod,
        WorkloadSpread as WorkloadSpread,
    )
    from kubesched.comparison.conditions import (
        Condition as Condition,
        failures as failures,
        parse_conditions as parse_conditions,
    )
    from kubesched.comparison.figures import FIGURES as FIGURES, Figure as Figure, Unit as Unit, figure as figure
    from kubesched.comparison.measure import Measured as Measured, Ruler as Ruler, Spread as Spread
    from kubesched.comparison.moves import MoveCause as MoveCause, PodMove as PodMove
    from kubesched.comparison.placed_again import (
        PodChoice as PodChoice,
        parse_pod_choice as parse_pod_choice,
        placed_again as placed_again,
    )
    from kubesched.comparison.pool_use import PoolChange as PoolChange
    from kubesched.comparison.prices import read_prices as read_prices
    from kubesched.comparison.runs import SeededRuns as SeededRuns
    from kubesched.comparison.settings import settings as settings
    from kubesched.comparison.upgrade import (
        MessageChange as MessageChange,
        NodeVerdict as NodeVerdict,
        Upgrade as Upgrade,
        VerdictChange as VerdictChange,
        VersionDifference as VersionDifference,
    )
