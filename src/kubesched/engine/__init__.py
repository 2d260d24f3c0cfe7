"""Data structures without Kubernetes types: growing columns, interned values, change logs, counts, bulk decoding."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.engine.bulk import paused_gc
    from kubesched.engine.exact import as_fractions, floor_divide, round_half_away, weighted_sum
    from kubesched.engine.growing_columns import (
        BoolVector,
        ChangeLog,
        FloatVector,
        IntMatrix,
        IntVector,
        RowAllocator,
        grown,
        runs,
    )
    from kubesched.engine.interning import Interner

__all__ = [
    "BoolVector",
    "ChangeLog",
    "FloatVector",
    "IntMatrix",
    "IntVector",
    "Interner",
    "RowAllocator",
    "as_fractions",
    "floor_divide",
    "grown",
    "paused_gc",
    "round_half_away",
    "runs",
    "weighted_sum",
]
