"""What the scheduler knows of the cluster: ClusterState, its columns, snapshots, and the tables that rules work on."""

from kubesched.state.cluster_events import StateChange, is_scaled_down
from kubesched.state.cluster_state import ClusterState, assigned
from kubesched.state.columns import CPU, EPHEMERAL_STORAGE, MEMORY, NodeColumns
from kubesched.state.groups import PodGroup, PodGroups
from kubesched.state.labels import LabelColumn
from kubesched.state.nodes import NodeInfo, Nodes, Rows, WhatIfNodes
from kubesched.state.objects import ObjectStore
from kubesched.state.pod_info import Identity, NodeChoice, Part, Parts, PodInfo, Port, host_ports
from kubesched.state.requests import DEFAULT_CPU_REQUEST, DEFAULT_MEMORY_REQUEST, PodRequests
from kubesched.state.snapshot import Snapshot
from kubesched.state.term_counts import DomainSums, TermCounts
from kubesched.state.terms import AffinityTerms, Term

__all__ = [
    "CPU",
    "DEFAULT_CPU_REQUEST",
    "DEFAULT_MEMORY_REQUEST",
    "EPHEMERAL_STORAGE",
    "MEMORY",
    "AffinityTerms",
    "ClusterState",
    "DomainSums",
    "Identity",
    "LabelColumn",
    "NodeChoice",
    "NodeColumns",
    "NodeInfo",
    "Nodes",
    "ObjectStore",
    "Part",
    "Parts",
    "PodGroup",
    "PodGroups",
    "PodInfo",
    "PodRequests",
    "Port",
    "Rows",
    "Snapshot",
    "StateChange",
    "Term",
    "TermCounts",
    "WhatIfNodes",
    "assigned",
    "host_ports",
    "is_scaled_down",
]
