"""Runs plugins: the Plugin contract, statuses, cycle state, kept columns, and the framework of a profile."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
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
    from kubesched.framework.clock import Clock, VirtualClock
    from kubesched.framework.column_cache import CACHE_BYTES, ColumnCache, Stamped
    from kubesched.framework.cycle_state import CycleState
    from kubesched.framework.decision import Decision, NodeScore, Outcome
    from kubesched.framework.definition_faults import keeping_definition_faults
    from kubesched.framework.diagnosis import NO_NODES, Diagnosis, fit_error
    from kubesched.framework.events_to_register import EventRegistration, HintFunction, QueueingHint
    from kubesched.framework.fault_texts import answer_text, fault_place, fault_text, in_one_line, located_line
    from kubesched.framework.framework import Framework, PreFiltered
    from kubesched.framework.hook_answers import Hook, checked, data_notes, fault, rejection_details
    from kubesched.framework.hooks import HOOKS, DependsOn
    from kubesched.framework.limited_log import LimitedLog
    from kubesched.framework.metric_checks import buckets_of, check_label_values, increase_of, metric_name, number_of
    from kubesched.framework.moved_pods import MovedPods
    from kubesched.framework.node_search import NodeSearch, find_feasible
    from kubesched.framework.nominated import NominatedPods
    from kubesched.framework.plugin import Handle, Plugin
    from kubesched.framework.plugin_client import ApiRequest, PluginClient
    from kubesched.framework.plugin_events import PluginEvents, logged_plugin_events, plugin_event
    from kubesched.framework.plugin_metrics import (
        SECONDS,
        MetricShapes,
        PluginCounter,
        PluginGauge,
        PluginHistogram,
        PluginMetrics,
    )
    from kubesched.framework.preemption_plan import strike_nodes
    from kubesched.framework.profile import Profile
    from kubesched.framework.queued_pod import PodQueue, QueuedPodInfo
    from kubesched.framework.reads import kinds_read
    from kubesched.framework.reservations import Reservations
    from kubesched.framework.scores import Scores, default_normalize, keeps_equal
    from kubesched.framework.services import CalledExtenders, Logger, ObjectName, ReadObjects, Services, WaitFor
    from kubesched.framework.status import (
        HOOK_FAULTS,
        Code,
        PluginFault,
        PostFilterAnswer,
        PostFiltered,
        PostFilterResult,
        PreFilterResult,
        Status,
        VictimsOf,
        Wait,
    )
    from kubesched.framework.verdicts import Codes, FilterResult, PodChanges, Rejections, RowStatuses, Verdicts
    from kubesched.framework.waiting_pod import WaitingPod

__all__ = [
    "CACHE_BYTES",
    "HOOKS",
    "HOOK_FAULTS",
    "NO_NODES",
    "SECONDS",
    "Action",
    "ActionDone",
    "ApiRequest",
    "Bind",
    "CallExtender",
    "CalledExtenders",
    "Clock",
    "Code",
    "Codes",
    "ColumnCache",
    "CycleState",
    "Decision",
    "DeletePod",
    "DependsOn",
    "Diagnosis",
    "EventRegistration",
    "FilterResult",
    "Framework",
    "Handle",
    "HintFunction",
    "Hook",
    "LimitedLog",
    "Logger",
    "MetricShapes",
    "MovedPods",
    "NodeScore",
    "NodeSearch",
    "NominatedPods",
    "ObjectName",
    "Outcome",
    "PatchPodStatus",
    "Plugin",
    "PluginClient",
    "PluginCounter",
    "PluginEvents",
    "PluginFault",
    "PluginGauge",
    "PluginHistogram",
    "PluginMetrics",
    "PodChanges",
    "PodQueue",
    "PostFilterAnswer",
    "PostFilterResult",
    "PostFiltered",
    "PreFilterResult",
    "PreFiltered",
    "Profile",
    "QueuedPodInfo",
    "QueueingHint",
    "ReadObjects",
    "RecordEvent",
    "Rejections",
    "Reservations",
    "RowStatuses",
    "Scores",
    "Services",
    "Stamped",
    "Status",
    "Verdicts",
    "VictimsOf",
    "VirtualClock",
    "Wait",
    "WaitFor",
    "WaitingPod",
    "WriteObject",
    "answer_text",
    "buckets_of",
    "check_label_values",
    "checked",
    "data_notes",
    "default_normalize",
    "fault",
    "fault_place",
    "fault_text",
    "find_feasible",
    "fit_error",
    "in_one_line",
    "increase_of",
    "keeping_definition_faults",
    "keeps_equal",
    "kinds_read",
    "located_line",
    "logged_plugin_events",
    "metric_name",
    "number_of",
    "plugin_event",
    "rejection_details",
    "strike_nodes",
]
