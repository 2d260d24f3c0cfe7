"""kube-scheduler's decisions in Python: simulate them, explain them, and write plugins that take part in them.

Example:
    from kubesched import Simulator, explain, load_snapshot

    snapshot = load_snapshot("cluster.json")
    for placement in Simulator(snapshot).run().placements:
        print(placement.pod, placement.node or placement.message)
    print(explain(snapshot, "shop/web-7").message)

Every public name is imported from here. It is loaded when it is first used, so that importing kubesched is quick.
"""

from importlib import import_module
from typing import Final, cast

from kubesched.lazy_exports import lazy_exports
from kubesched.shown import Formats, show_with
from kubesched.version import VERSION

with lazy_exports(__name__):
    from kubesched.api import (
        ActionType,
        ClusterEvent,
        EventResource,
        KubeObject,
        LabelSelector,
        Node,
        PersistentVolume,
        PersistentVolumeClaim,
        Pod,
        Taint,
        Toleration,
        bytes_of,
        cpu_millis,
        parse_quantity,
        parse_selector,
        whole_units,
    )
    from kubesched.comparison import Candidate, Comparison, compare, packed
    from kubesched.config import FieldError, KubeSchedulerConfiguration, PluginArgs, child
    from kubesched.engine import BoolVector, IntVector
    from kubesched.errors import (
        ClusterError,
        ConfigError,
        ExtenderError,
        InputError,
        KubeschedError,
        ObjectError,
        PluginDefinitionError,
        PluginError,
        QuantityError,
        SelectorError,
        StateError,
    )
    from kubesched.explanation import Explainer, Explanation, Fix, explain
    from kubesched.extender import ExtenderOptions
    from kubesched.extender_client import ExtenderCaller
    from kubesched.framework import (
        ActionDone,
        Bind,
        Code,
        CycleState,
        DeletePod,
        DependsOn,
        Diagnosis,
        EventRegistration,
        Handle,
        PatchPodStatus,
        Plugin,
        PluginClient,
        PluginCounter,
        PluginGauge,
        PluginHistogram,
        PluginMetrics,
        PodChanges,
        PostFilterResult,
        PreFilterResult,
        QueuedPodInfo,
        QueueingHint,
        RecordEvent,
        Reservations,
        Status,
        Verdicts,
        Wait,
        WaitFor,
        WaitingPod,
        WriteObject,
        default_normalize,
    )
    from kubesched.live import EndpointOptions, SchedulerOptions
    from kubesched.planning import Drain, DrainedPod, Drainer, Fate, Fit, drain, fit
    from kubesched.programs import run_scheduler, serve_extender
    from kubesched.scheduler import TieBreak
    from kubesched.serving import ServerOptions, TlsFiles
    from kubesched.session import Placement, PodState, Report, Simulator
    from kubesched.setup import Setup, load_configuration, set_up
    from kubesched.snapshot import ClusterObjects, load_snapshot, read_pod, write_snapshot
    from kubesched.state import CPU, EPHEMERAL_STORAGE, MEMORY, NodeInfo, Nodes, PodInfo, Snapshot

__all__ = [
    "CPU",
    "EPHEMERAL_STORAGE",
    "MEMORY",
    "ActionDone",
    "ActionType",
    "Bind",
    "BoolVector",
    "Candidate",
    "ClusterError",
    "ClusterEvent",
    "ClusterObjects",
    "Code",
    "Comparison",
    "ConfigError",
    "CycleState",
    "DeletePod",
    "DependsOn",
    "Diagnosis",
    "Drain",
    "DrainedPod",
    "Drainer",
    "EndpointOptions",
    "EventRegistration",
    "EventResource",
    "Explainer",
    "Explanation",
    "ExtenderCaller",
    "ExtenderError",
    "ExtenderOptions",
    "Fate",
    "FieldError",
    "Fit",
    "Fix",
    "Handle",
    "InputError",
    "IntVector",
    "KubeObject",
    "KubeSchedulerConfiguration",
    "KubeschedError",
    "LabelSelector",
    "Node",
    "NodeInfo",
    "Nodes",
    "ObjectError",
    "PatchPodStatus",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Placement",
    "Plugin",
    "PluginArgs",
    "PluginClient",
    "PluginCounter",
    "PluginDefinitionError",
    "PluginError",
    "PluginGauge",
    "PluginHistogram",
    "PluginMetrics",
    "Pod",
    "PodChanges",
    "PodInfo",
    "PodState",
    "PostFilterResult",
    "PreFilterResult",
    "QuantityError",
    "QueuedPodInfo",
    "QueueingHint",
    "RecordEvent",
    "Report",
    "Reservations",
    "SchedulerOptions",
    "SelectorError",
    "ServerOptions",
    "Setup",
    "Simulator",
    "Snapshot",
    "StateError",
    "Status",
    "Taint",
    "TieBreak",
    "TlsFiles",
    "Toleration",
    "Verdicts",
    "Wait",
    "WaitFor",
    "WaitingPod",
    "WriteObject",
    "__version__",
    "bytes_of",
    "child",
    "compare",
    "cpu_millis",
    "default_normalize",
    "drain",
    "explain",
    "fit",
    "load_configuration",
    "load_snapshot",
    "packed",
    "parse_quantity",
    "parse_selector",
    "read_pod",
    "run_scheduler",
    "serve_extender",
    "set_up",
    "whole_units",
    "write_snapshot",
]

__version__: Final = VERSION

_PAGES: Final = {
    "simulations": ("report_page",),
    "explanations": ("explanation_page",),
    "plans": ("fit_page", "drain_page"),
    "comparisons": ("comparison_page",),
}
"""The functions that make the report of an answer, by package of pages; loading one registers it."""


def _formats() -> Formats:
    """What makes reports, with the page of every answer."""
    for package, pages in _PAGES.items():
        door = import_module(f"{__name__}.pages.{package}")
        for page in pages:
            getattr(door, page)
    return cast("Formats", import_module(f"{__name__}.pages.formats"))


show_with(_formats)
