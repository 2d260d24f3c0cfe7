"""Decides where pods go: the scheduling cycle, the binding cycle, and the scheduler that runs both over a queue."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.scheduler.aside import Aside
    from kubesched.scheduler.assembly import MakeFramework, build_frameworks, no_profile, start_plugins, stop_plugins
    from kubesched.scheduler.binding_cycle import BindingCycle
    from kubesched.scheduler.evictions import Eviction
    from kubesched.scheduler.extenders import EXTENDER, ExtenderAnswer, Extenders, PodExtenders
    from kubesched.scheduler.initial_cluster import load_cluster
    from kubesched.scheduler.placed_pod import PlacedPod
    from kubesched.scheduler.scheduler import Attempt, Scheduler
    from kubesched.scheduler.scheduling_cycle import SchedulingCycle
    from kubesched.scheduler.selection import TieBreak, default_sample, nodes_to_find, select_best
    from kubesched.scheduler.suspension import (
        PermitRequest,
        Request,
        Together,
        WaitRequest,
        begun,
        drive,
        perform,
        straight,
        wait,
    )
    from kubesched.scheduler.unconfirmed import UNCONFIRMED_SECONDS, Unconfirmed
    from kubesched.scheduler.waits import Waits, Wake

__all__ = [
    "EXTENDER",
    "UNCONFIRMED_SECONDS",
    "Aside",
    "Attempt",
    "BindingCycle",
    "Eviction",
    "ExtenderAnswer",
    "Extenders",
    "MakeFramework",
    "PermitRequest",
    "PlacedPod",
    "PodExtenders",
    "Request",
    "Scheduler",
    "SchedulingCycle",
    "TieBreak",
    "Together",
    "Unconfirmed",
    "WaitRequest",
    "Waits",
    "Wake",
    "begun",
    "build_frameworks",
    "default_sample",
    "drive",
    "load_cluster",
    "no_profile",
    "nodes_to_find",
    "perform",
    "select_best",
    "start_plugins",
    "stop_plugins",
    "straight",
    "wait",
]
