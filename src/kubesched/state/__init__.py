"""What the scheduler knows of the cluster: ClusterState, its columns, snapshots, and the tables that rules work on."""

from kubesched.state.cluster_events import StateChange, is_scaled_down
from kubesched.state.cluster_state import ClusterState, assigned
from kubesched.state.columns import NodeColumns
from kubesched.state.csi_migration import in_tree_source
from kubesched.state.disruption_budgets import Budget, DisruptionBudgets
from kubesched.state.groups import PodGroup, PodGroups
from kubesched.state.image_state import ImageState
from kubesched.state.labels import LabelColumn
from kubesched.state.nodes import NodeInfo, Nodes, Rows, WhatIfNodes
from kubesched.state.objects import ObjectStore
from kubesched.state.pod_info import Identity, NodeChoice, Part, Parts, PodInfo, Port, host_ports
from kubesched.state.pod_table import Has, PodBatch
from kubesched.state.pod_volumes import NO_VOLUMES, ClaimUse, Disk, PodVolumes, pod_volumes
from kubesched.state.requests import DEFAULT_CPU_REQUEST, DEFAULT_MEMORY_REQUEST, PodRequests
from kubesched.state.resource_axis import CPU, EPHEMERAL_STORAGE, MEMORY
from kubesched.state.snapshot import Snapshot
from kubesched.state.term_counts import DomainSums, TermCounts
from kubesched.state.terms import AffinityTerms, Term
from kubesched.state.volumes import (
    NO_LIMIT,
    AttachedVolumes,
    CSIVolume,
    FreeVolumes,
    KnownVolume,
    PersistentVolumes,
    Volumes,
    VolumeWish,
    capacity_limit,
    disks_conflict,
    driver_limits,
    is_bound,
    is_controlled_by,
    migrated_plugins,
    not_owned,
    storage_class_of,
    storage_request,
)

__all__ = [
    "CPU",
    "DEFAULT_CPU_REQUEST",
    "DEFAULT_MEMORY_REQUEST",
    "EPHEMERAL_STORAGE",
    "MEMORY",
    "NO_LIMIT",
    "NO_VOLUMES",
    "AffinityTerms",
    "AttachedVolumes",
    "Budget",
    "CSIVolume",
    "ClaimUse",
    "ClusterState",
    "Disk",
    "DisruptionBudgets",
    "DomainSums",
    "FreeVolumes",
    "Has",
    "Identity",
    "ImageState",
    "KnownVolume",
    "LabelColumn",
    "NodeChoice",
    "NodeColumns",
    "NodeInfo",
    "Nodes",
    "ObjectStore",
    "Part",
    "Parts",
    "PersistentVolumes",
    "PodBatch",
    "PodGroup",
    "PodGroups",
    "PodInfo",
    "PodRequests",
    "PodVolumes",
    "Port",
    "Rows",
    "Snapshot",
    "StateChange",
    "Term",
    "TermCounts",
    "VolumeWish",
    "Volumes",
    "WhatIfNodes",
    "assigned",
    "capacity_limit",
    "disks_conflict",
    "driver_limits",
    "host_ports",
    "in_tree_source",
    "is_bound",
    "is_controlled_by",
    "is_scaled_down",
    "migrated_plugins",
    "not_owned",
    "pod_volumes",
    "storage_class_of",
    "storage_request",
]
