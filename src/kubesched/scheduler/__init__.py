"""Decides where pods go: the scheduling cycle, the binding cycle, and the scheduler that runs both over a queue."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.scheduler.aside import Aside as Aside
    from kubesched.scheduler.assembly import (
        build_frameworks as build_frameworks,
        no_profile as no_profile,
        start_plugins as start_plugins,
        stop_plugins as stop_plugins,
    )
    from kubesched.scheduler.binding_cycle import (
        BindingCycle as BindingCycle,
        run_binding_cycle as run_binding_cycle,
        run_pre_bind as run_pre_bind,
    )
    from kubesched.scheduler.evictions import Eviction as Eviction
    from kubesched.scheduler.extenders import (
        EXTENDER as EXTENDER,
        ExtenderAnswer as ExtenderAnswer,
        Extenders as Extenders,
        PodExtenders as PodExtenders,
    )
    from kubesched.scheduler.initial_cluster import load_cluster as load_cluster
    from kubesched.scheduler.placed_pod import PlacedPod as PlacedPod
    from kubesched.scheduler.scheduler import Attempt as Attempt, Scheduler as Scheduler
    from kubesched.scheduler.scheduling_cycle import SchedulingCycle as SchedulingCycle
    from kubesched.scheduler.selection import (
        TieBreak as TieBreak,
        default_sample as default_sample,
        nodes_to_find as nodes_to_find,
        select_best as select_best,
    )
    from kubesched.scheduler.suspension import (
        PermitRequest as PermitRequest,
        Request as Request,
        Together as Together,
        WaitRequest as WaitRequest,
        begun as begun,
        drive as drive,
        perform as perform,
        straight as straight,
        wait as wait,
    )
    from kubesched.scheduler.unconfirmed import UNCONFIRMED_SECONDS as UNCONFIRMED_SECONDS, Unconfirmed as Unconfirmed
    from kubesched.scheduler.waits import Waits as Waits, Wake as Wake
