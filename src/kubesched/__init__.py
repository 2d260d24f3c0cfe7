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

with lazy_exports(__name__, "__version__"):
    from kubesched.api import (
        ActionType as ActionType,
        ClusterEvent as ClusterEvent,
        EventResource as EventResource,
        KubeObject as KubeObject,
        LabelSelector as LabelSelector,
        Node as Node,
        PersistentVolume as PersistentVolume,
        PersistentVolumeClaim as PersistentVolumeClaim,
        Pod as Pod,
        Taint as Taint,
        Toleration as Toleration,
        bytes_of as bytes_of,
        cpu_millis as cpu_millis,
        parse_quantity as parse_quantity,
        parse_selector as parse_selector,
        whole_units as whole_units,
    )
    from kubesched.comparison import (
        Candidate as Candidate,
        Comparison as Comparison,
        compare as compare,
        packed as packed,
    )
    from kubesched.config import (
        FieldError as FieldError,
        KubeSchedulerConfiguration as KubeSchedulerConfiguration,
        PluginArgs as PluginArgs,
        child as child,
    )
    from kubesched.engine import BoolVector as BoolVector, IntVector as IntVector
    from kubesched.errors import (
        ClusterError as ClusterError,
        ConfigError as ConfigError,
        ExtenderError as ExtenderError,
        InputError as InputError,
        KubeschedError as KubeschedError,
        ObjectError as ObjectError,
        PluginDefinitionError as PluginDefinitionError,
        PluginError as PluginError,
        QuantityError as QuantityError,
        SelectorError as SelectorError,
        StateError as StateError,
        WorkerError as WorkerError,
    )
    from kubesched.explanation import Explainer as Explainer, Explanation as Explanation, Fix as Fix, explain as explain
    from kubesched.extender import ExtenderOptions as ExtenderOptions
    from kubesched.extender_client import ExtenderCaller as ExtenderCaller
    from kubesched.framework import (
        ActionDone as ActionDone,
        Bind as Bind,
        Code as Code,
        CycleState as CycleState,
        DeletePod as DeletePod,
        DependsOn as DependsOn,
        Diagnosis as Diagnosis,
        EventRegistration as EventRegistration,
        Handle as Handle,
        PatchPodStatus as PatchPodStatus,
        Plugin as Plugin,
        PluginClient as PluginClient,
        PluginCounter as PluginCounter,
        PluginGauge as PluginGauge,
        PluginHistogram as PluginHistogram,
        PluginMetrics as PluginMetrics,
        PodChanges as PodChanges,
        PostFilterResult as PostFilterResult,
        PreFilterResult as PreFilterResult,
        QueuedPodInfo as QueuedPodInfo,
        QueueingHint as QueueingHint,
        RecordEvent as RecordEvent,
        Reservations as Reservations,
        Status as Status,
        Verdicts as Verdicts,
        Wait as Wait,
        WaitFor as WaitFor,
        WaitingPod as WaitingPod,
        WriteObject as WriteObject,
        default_normalize as default_normalize,
    )
    from kubesched.live import EndpointOptions as EndpointOptions, SchedulerOptions as SchedulerOptions
    from kubesched.planning import (
        ClusterCheck as ClusterCheck,
        DeviceList as DeviceList,
        Drain as Drain,
        DrainedPod as DrainedPod,
        Drainer as Drainer,
        Fate as Fate,
        Fit as Fit,
        check as check,
        devices as devices,
        drain as drain,
        fit as fit,
        simulate as simulate,
    )
    from kubesched.programs import run_scheduler as run_scheduler, serve_extender as serve_extender
    from kubesched.release import Release as Release
    from kubesched.replay import (
        PodRun as PodRun,
        Replay as Replay,
        ReplayComparison as ReplayComparison,
        compare_replays as compare_replays,
        replay as replay,
    )
    from kubesched.scheduler import TieBreak as TieBreak
    from kubesched.serving import ServerOptions as ServerOptions, TlsFiles as TlsFiles
    from kubesched.session import Placement as Placement, PodState as PodState, Report as Report, Simulator as Simulator
    from kubesched.setup import Setup as Setup, load_configuration as load_configuration, set_up as set_up
    from kubesched.snapshot import (
        ClusterObjects as ClusterObjects,
        load_snapshot as load_snapshot,
        read_pod as read_pod,
        write_snapshot as write_snapshot,
    )
    from kubesched.state import (
        CPU as CPU,
        EPHEMERAL_STORAGE as EPHEMERAL_STORAGE,
        MEMORY as MEMORY,
        NodeInfo as NodeInfo,
        Nodes as Nodes,
        PodInfo as PodInfo,
        Snapshot as Snapshot,
    )
    from kubesched.sweeps import Sweep as Sweep, SweepRow as SweepRow, sweep as sweep
    from kubesched.traces import (
        Arrival as Arrival,
        NodeChange as NodeChange,
        Trace as Trace,
        read_trace as read_trace,
    )


__version__: Final = VERSION

_PAGES: Final = {
    "simulations": ("report_page", "report_figure"),
    "explanations": ("explanation_page",),
    "plans": ("fit_page", "drain_page", "check_page", "shapes_page"),
    "comparisons": ("comparison_page",),
    "replays": ("replay_page", "compared_replays_page"),
    "sweeps": ("sweep_page",),
}
"""The functions that make the report or the figure of an answer, by package of pages; loading one registers it."""


def _formats() -> Formats:
    """What makes reports, with the page of every answer."""
    for package, pages in _PAGES.items():
        door = import_module(f"{__name__}.pages.{package}")
        for page in pages:
            getattr(door, page)
    return cast("Formats", import_module(f"{__name__}.pages.formats"))


show_with(_formats)
