"""Runs the scheduler on a virtual clock and an in-memory cluster."""

from kubesched.simulator.cluster import MemoryCluster
from kubesched.simulator.creation import refused_pods
from kubesched.simulator.devices import listed_devices
from kubesched.simulator.diagnosis import without_post_filter
from kubesched.simulator.documents import placed_line, placement_line, report_document
from kubesched.simulator.evict_budgets import Allowance, Budgets
from kubesched.simulator.fill_tables import fill_level, fill_table, fill_words, nodes_table
from kubesched.simulator.kubelets import UNSEEN
from kubesched.simulator.node_groups import NodeGroup
from kubesched.simulator.ordered_creation import awaited
from kubesched.simulator.page import report_page, summary_of, victims_table
from kubesched.simulator.place import Placed, PreemptionOutcome, not_seen, pending_in_order, place, place_all
from kubesched.simulator.report import (
    Fill,
    NodeFill,
    Placement,
    PodState,
    Report,
    Victim,
    node_fills,
    pending_counts,
    waiting_words,
    workload_text,
)
from kubesched.simulator.simulator import Progress, Simulator
from kubesched.simulator.trials import Mark, Trials

__all__ = [
    "UNSEEN",
    "Allowance",
    "Budgets",
    "Fill",
    "Mark",
    "MemoryCluster",
    "NodeFill",
    "NodeGroup",
    "Placed",
    "Placement",
    "PodState",
    "PreemptionOutcome",
    "Progress",
    "Report",
    "Simulator",
    "Trials",
    "Victim",
    "awaited",
    "fill_level",
    "fill_table",
    "fill_words",
    "listed_devices",
    "node_fills",
    "nodes_table",
    "not_seen",
    "pending_counts",
    "pending_in_order",
    "place",
    "place_all",
    "placed_line",
    "placement_line",
    "refused_pods",
    "report_document",
    "report_page",
    "summary_of",
    "victims_table",
    "waiting_words",
    "without_post_filter",
    "workload_text",
]
