"""Decides where pods go: the scheduling cycle, the binding cycle, and the scheduler that drives both over a queue."""

from kubesched.scheduler.assembly import build_frameworks
from kubesched.scheduler.plugin_life import start_plugins, stop_plugins
from kubesched.scheduler.scheduler import BindingCycle, Scheduler
from kubesched.scheduler.scheduling_cycle import NO_NODES, SchedulingCycle, find_feasible
from kubesched.scheduler.selection import TieBreak, default_sample, nodes_to_find, select_best
from kubesched.scheduler.suspension import PermitRequest, WaitRequest
from kubesched.scheduler.waiting_pods import WaitingPod

__all__ = [
    "NO_NODES",
    "BindingCycle",
    "PermitRequest",
    "Scheduler",
    "SchedulingCycle",
    "TieBreak",
    "WaitRequest",
    "WaitingPod",
    "build_frameworks",
    "default_sample",
    "find_feasible",
    "nodes_to_find",
    "select_best",
    "start_plugins",
    "stop_plugins",
]
