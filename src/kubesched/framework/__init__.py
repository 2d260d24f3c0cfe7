"""Runs plugins: the Plugin contract, statuses, cycle state, kept columns, and the framework of a profile."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.framework.actions import (
        Action as Action,
        ActionDone as ActionDone,
        Bind as Bind,
        CallExtender as CallExtender,
        CreateObject as CreateObject,
        DeleteObject as DeleteObject,
        DeletePod as DeletePod,
        PatchPodStatus as PatchPodStatus,
        ReadObject as ReadObject,
        RecordEvent as RecordEvent,
        WriteObject as WriteObject,
    )
    from kubesched.framework.clock import Clock as Clock, VirtualClock as VirtualClock
    from kubesched.framework.column_cache import (
        CACHE_BYTES as CACHE_BYTES,
        ColumnCache as ColumnCache,
        EqualScore as EqualScore,
        Stamped as Stamped,
    )
    from kubesched.framework.cycle_state import CycleState as CycleState
    from kubesched.framework.decision import (
        Decision as Decision,
        NodeScore as NodeScore,
        Outcome as Outcome,
        pods_to_evict as pods_to_evict,
    )
    from kubesched.framework.definition_faults import keeping_definition_faults as keeping_definition_faults
    from kubesched.framework.diagnosis import NO_NODES as NO_NODES, Diagnosis as Diagnosis, fit_error as fit_error
    from kubesched.framework.events_to_register import (
        EventRegistration as EventRegistration,
        HintFunction as HintFunction,
        QueueingHint as QueueingHint,
    )
    from kubesched.framework.fault_texts import (
        answer_text as answer_text,
        fault_place as fault_place,
        fault_text as fault_text,
        in_one_line as in_one_line,
        located_line as located_line,
    )
    from kubesched.framework.framework import Framework as Framework, PreFiltered as PreFiltered
    from kubesched.framework.hook_answers import (
        Hook as Hook,
        alike_rejections as alike_rejections,
        checked as checked,
        data_notes as data_notes,
        fault as fault,
        rejection_details as rejection_details,
    )
    from kubesched.framework.hooks import HOOKS as HOOKS, DependsOn as DependsOn
    from kubesched.framework.limited_log import LimitedLog as LimitedLog
    from kubesched.framework.metric_checks import (
        buckets_of as buckets_of,
        check_label_values as check_label_values,
        increase_of as increase_of,
        metric_name as metric_name,
        number_of as number_of,
    )
    from kubesched.framework.moved_pods import MovedPods as MovedPods
    from kubesched.framework.node_search import NodeSearch as NodeSearch, find_feasible as find_feasible
    from kubesched.framework.nominated import NominatedPods as NominatedPods
    from kubesched.framework.plugin import Handle as Handle, Plugin as Plugin
    from kubesched.framework.plugin_client import ApiRequest as ApiRequest, PluginClient as PluginClient
    from kubesched.framework.plugin_events import (
        PluginEvents as PluginEvents,
        logged_plugin_events as logged_plugin_events,
        plugin_event as plugin_event,
    )
    from kubesched.framework.plugin_metrics import (
        SECONDS as SECONDS,
        MetricShapes as MetricShapes,
        PluginCounter as PluginCounter,
        PluginGauge as PluginGauge,
        PluginHistogram as PluginHistogram,
        PluginMetrics as PluginMetrics,
    )
    from kubesched.framework.preemption_plan import strike_nodes as strike_nodes
    from kubesched.framework.probes import (
        FrameworkStep as FrameworkStep,
        Laps as Laps,
        Probe as Probe,
        Probes as Probes,
    )
    from kubesched.framework.profile import Profile as Profile
    from kubesched.framework.queued_pod import PodQueue as PodQueue, QueuedPodInfo as QueuedPodInfo
    from kubesched.framework.reads import kinds_read as kinds_read
    from kubesched.framework.reservations import Reservations as Reservations
    from kubesched.framework.scores import (
        Scores as Scores,
        default_normalize as default_normalize,
        keeps_equal as keeps_equal,
    )
    from kubesched.framework.services import (
        CalledExtenders as CalledExtenders,
        Logger as Logger,
        ObjectName as ObjectName,
        ReadObjects as ReadObjects,
        Services as Services,
        WaitFor as WaitFor,
    )
    from kubesched.framework.status import (
        HOOK_FAULTS as HOOK_FAULTS,
        Code as Code,
        PluginFault as PluginFault,
        PostFilterAnswer as PostFilterAnswer,
        PostFilterResult as PostFilterResult,
        PostFiltered as PostFiltered,
        PreFilterResult as PreFilterResult,
        Status as Status,
        VictimsOf as VictimsOf,
        Wait as Wait,
    )
    from kubesched.framework.verdicts import (
        Codes as Codes,
        FilterResult as FilterResult,
        PodChanges as PodChanges,
        Rejections as Rejections,
        RowStatuses as RowStatuses,
        Verdicts as Verdicts,
    )
    from kubesched.framework.waiting_pod import WaitingPod as WaitingPod
    from kubesched.framework.watched_framework import WatchedFramework as WatchedFramework
