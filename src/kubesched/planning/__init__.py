"""Questions about what would happen: changes to a cluster, simulated."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.planning.asked import Asked as Asked, PodsLike as PodsLike, asked_of as asked_of
    from kubesched.planning.changed_cluster import Changed as Changed, WhatIf as WhatIf, premise as premise
    from kubesched.planning.changes import (
        cordoned as cordoned,
        scaled as scaled,
        uncordoned as uncordoned,
        with_nodes_like as with_nodes_like,
        without_nodes as without_nodes,
    )
    from kubesched.planning.cluster_check import ClusterCheck as ClusterCheck, check as check
    from kubesched.planning.device_list import (
        DeviceList as DeviceList,
        PluginDevices as PluginDevices,
        devices as devices,
    )
    from kubesched.planning.difference import (
        Difference as Difference,
        Simulated as Simulated,
        compared as compared,
        new_pods as new_pods,
        simulated as simulated,
    )
    from kubesched.planning.drain_result import (
        BudgetUse as BudgetUse,
        Drain as Drain,
        DrainedPod as DrainedPod,
        Fate as Fate,
        NodesCost as NodesCost,
    )
    from kubesched.planning.drainer import Drainer as Drainer, drain as drain
    from kubesched.planning.fit_question import FitQuestion as FitQuestion
    from kubesched.planning.fit_result import Fit as Fit, WorkloadFit as WorkloadFit
    from kubesched.planning.gangs_that_fit import gangs_of_run as gangs_of_run
    from kubesched.planning.kept_pods import Kept as Kept
    from kubesched.planning.node_costs import with_cost as with_cost
    from kubesched.planning.pending import PendingPods as PendingPods
    from kubesched.planning.placed import has_place as has_place
    from kubesched.planning.pods_that_fit import fit as fit, fit_asked as fit_asked
    from kubesched.planning.rollout import Rollout as Rollout
    from kubesched.planning.settling import cluster_after_run as cluster_after_run
    from kubesched.planning.shape_rows import read_shapes as read_shapes
    from kubesched.planning.shapes_that_fit import (
        PodsLeft as PodsLeft,
        ShapeUse as ShapeUse,
        ShapeVerdict as ShapeVerdict,
        ShapesThatFit as ShapesThatFit,
        shapes_that_fit as shapes_that_fit,
    )
    from kubesched.planning.whole_run import simulate as simulate
