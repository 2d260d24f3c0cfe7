"""A cluster in memory and a scheduler for it, on a virtual clock; what every offline question is a function of."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.session.attempt import Attempt, Preempt, attempt, rejections_of
    from kubesched.session.cluster import MemoryCluster
    from kubesched.session.creation import refused_pods
    from kubesched.session.devices import listed_devices
    from kubesched.session.diagnosis import without_post_filter
    from kubesched.session.kubelets import UNSEEN
    from kubesched.session.node_groups import NodeGroup
    from kubesched.session.pending_counts import PendingCounts
    from kubesched.session.place import Placed, PreemptionOutcome, not_seen, pending_in_order, place, place_all
    from kubesched.session.queue_run import Progress
    from kubesched.session.report import (
        Fill,
        NodeFill,
        Placement,
        PodState,
        Report,
        Victim,
        node_fills,
        pending_counts,
        shown_owner,
        waiting_words,
        workload_text,
    )
    from kubesched.session.session import Session
    from kubesched.session.simulator import Simulator

__all__ = [
    "UNSEEN",
    "Attempt",
    "Fill",
    "MemoryCluster",
    "NodeFill",
    "NodeGroup",
    "PendingCounts",
    "Placed",
    "Placement",
    "PodState",
    "Preempt",
    "PreemptionOutcome",
    "Progress",
    "Report",
    "Session",
    "Simulator",
    "Victim",
    "attempt",
    "listed_devices",
    "node_fills",
    "not_seen",
    "pending_counts",
    "pending_in_order",
    "place",
    "place_all",
    "refused_pods",
    "rejections_of",
    "shown_owner",
    "waiting_words",
    "without_post_filter",
    "workload_text",
]
