"""What runs plugins: the Plugin contract, statuses, cycle state, kept columns, and the framework of a profile."""

from kubesched.framework.actions import (
    Action,
    ActionDone,
    Bind,
    CallExtender,
    DeletePod,
    PatchPodStatus,
    RecordEvent,
    WriteObject,
)
from kubesched.framework.column_cache import CACHE_BYTES, ColumnCache
from kubesched.framework.cycle_state import BindingNotes, CycleState
from kubesched.framework.diagnosis import Diagnosis, fit_error
from kubesched.framework.events_to_register import EventRegistration, HintFunction, QueueingHint
from kubesched.framework.handle import Clock, Handle, Logger
from kubesched.framework.plugin import HOOKS, DependsOn, Plugin, PostFilterResult, default_normalize
from kubesched.framework.status import Code, PreFilterResult, Status, Wait
from kubesched.framework.verdicts import FilterResult, PodChanges, Rejections, Verdicts

__all__ = [
    "CACHE_BYTES",
    "HOOKS",
    "Action",
    "ActionDone",
    "Bind",
    "BindingNotes",
    "CallExtender",
    "Clock",
    "Code",
    "ColumnCache",
    "CycleState",
    "DeletePod",
    "DependsOn",
    "Diagnosis",
    "EventRegistration",
    "FilterResult",
    "Handle",
    "HintFunction",
    "Logger",
    "PatchPodStatus",
    "Plugin",
    "PodChanges",
    "PostFilterResult",
    "PreFilterResult",
    "QueueingHint",
    "RecordEvent",
    "Rejections",
    "Status",
    "Verdicts",
    "Wait",
    "WriteObject",
    "default_normalize",
    "fit_error",
]
