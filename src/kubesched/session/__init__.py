"""A cluster in memory and a scheduler for it, on a virtual clock; what every offline question is a function of."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.session.agenda import Agenda as Agenda
    from kubesched.session.attempt import (
        Attempt as Attempt,
        Preempt as Preempt,
        attempt as attempt,
        best_of as best_of,
        rejections_of as rejections_of,
    )
    from kubesched.session.claim_refusals import why_never_written as why_never_written
    from kubesched.session.creation import refused_pods as refused_pods
    from kubesched.session.device_use import (
        DeviceCatalog as DeviceCatalog,
        DeviceCounts as DeviceCounts,
        DeviceFill as DeviceFill,
        DeviceMoment as DeviceMoment,
        DeviceState as DeviceState,
        DeviceUse as DeviceUse,
        device_fills as device_fills,
    )
    from kubesched.session.fill import Fill as Fill, FillChange as FillChange
    from kubesched.session.gang_fit import GangFit as GangFit
    from kubesched.session.kubelets import UNSEEN as UNSEEN
    from kubesched.session.memory_cluster import MemoryCluster as MemoryCluster
    from kubesched.session.node_groups import NodeGroup as NodeGroup, group_nodes as group_nodes
    from kubesched.session.pending_counts import PendingCounts as PendingCounts
    from kubesched.session.pending_diagnosis import (
        without_names as without_names,
        without_post_filter as without_post_filter,
    )
    from kubesched.session.place import (
        Placed as Placed,
        PreemptionOutcome as PreemptionOutcome,
        not_seen as not_seen,
        pending_in_order as pending_in_order,
        place as place,
        place_all as place_all,
    )
    from kubesched.session.queue_run import Progress as Progress
    from kubesched.session.report import (
        NodeFill as NodeFill,
        Placement as Placement,
        PodState as PodState,
        Report as Report,
        Victim as Victim,
        fills_frame as fills_frame,
        node_fills as node_fills,
        pending_counts as pending_counts,
        placements_frame as placements_frame,
        shown_owner as shown_owner,
        waiting_words as waiting_words,
        workload_text as workload_text,
    )
    from kubesched.session.session import Session as Session
    from kubesched.session.simulator import Simulator as Simulator
    from kubesched.session.unserved_pods import Unserved as Unserved, unserved_pods as unserved_pods
