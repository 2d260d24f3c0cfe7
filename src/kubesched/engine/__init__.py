"""Data structures without Kubernetes types: growing columns, interned values, change logs, counts, bulk decoding."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.engine.bulk import collect_young as collect_young, paused_gc as paused_gc
    from kubesched.engine.equal_rows import equal_rows as equal_rows
    from kubesched.engine.exact import (
        as_fractions as as_fractions,
        floor_divide as floor_divide,
        round_half_away as round_half_away,
        weighted_sum as weighted_sum,
    )
    from kubesched.engine.growing_columns import (
        BoolVector as BoolVector,
        ChangeLog as ChangeLog,
        FloatVector as FloatVector,
        IntMatrix as IntMatrix,
        IntVector as IntVector,
        RowAllocator as RowAllocator,
        are_within as are_within,
        grown as grown,
        runs as runs,
    )
    from kubesched.engine.interning import Interner as Interner
    from kubesched.engine.leaders import Leaders as Leaders, first_leaders as first_leaders
