"""Questions about what would happen: changes to a cluster, simulated."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.planning.asked import Asked, PodsLike, asked_of
    from kubesched.planning.changes import (
        cordoned,
        scaled,
        uncordoned,
        with_nodes_like,
        without_nodes,
    )
    from kubesched.planning.difference import Difference, new_pods, simulated
    from kubesched.planning.drain_result import BudgetUse, Drain, DrainedPod, Fate
    from kubesched.planning.drainer import Drainer, drain
    from kubesched.planning.fit import Fit, WorkloadFit, fit, fit_asked
    from kubesched.planning.pending import PendingPods
    from kubesched.planning.placed import has_place
    from kubesched.planning.rollout import Rollout
    from kubesched.planning.what_if import Changed, WhatIf

__all__ = [
    "Asked",
    "BudgetUse",
    "Changed",
    "Difference",
    "Drain",
    "DrainedPod",
    "Drainer",
    "Fate",
    "Fit",
    "PendingPods",
    "PodsLike",
    "Rollout",
    "WhatIf",
    "WorkloadFit",
    "asked_of",
    "cordoned",
    "drain",
    "fit",
    "fit_asked",
    "has_place",
    "new_pods",
    "scaled",
    "simulated",
    "uncordoned",
    "with_nodes_like",
    "without_nodes",
]
