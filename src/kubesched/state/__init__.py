"""The state of the cluster: ClusterState, its columns, snapshots, and the tables that rules work on."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.api import PodRequests, limits_of, requests_of
    from kubesched.state.cluster_state import ClusterState
    from kubesched.state.columns import NodeColumns
    from kubesched.state.csi_migration import KNOWN_DRIVER_NAMES, in_tree_source
    from kubesched.state.device_classes import DeviceClasses, resources_of_class
    from kubesched.state.disruption_budgets import Budget, Budgets
    from kubesched.state.fork import Fork
    from kubesched.state.groups import CountedGroup
    from kubesched.state.image_state import ImageState
    from kubesched.state.node_tree import ZONE_LABELS, zone_key
    from kubesched.state.nodes import NodeInfo, Nodes, Rows, WhatIfNodes
    from kubesched.state.objects import ObjectStore
    from kubesched.state.pod_info import Identity, NodeChoice, Part, Parts, PodInfo, Port, host_ports
    from kubesched.state.pod_table import Has, PodBatch
    from kubesched.state.pod_volumes import NO_VOLUMES, ClaimUse, Disk, PodVolumes, pod_volumes
    from kubesched.state.recount import row_differences
    from kubesched.state.resource_axis import CPU, EPHEMERAL_STORAGE, MEMORY
    from kubesched.state.returned_nodes import ReturnedNodes
    from kubesched.state.selected_pods import Selection
    from kubesched.state.snapshot import Snapshot
    from kubesched.state.term_counts import DomainSums
    from kubesched.state.terms import AffinityTerms, Term
    from kubesched.state.volumes import (
        NO_LIMIT,
        AttachedVolumes,
        CSIVolume,
        FreeVolumes,
        KnownVolume,
        PersistentVolumes,
        Reachable,
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
    "EPHEMERAL_STORAGE",
    "KNOWN_DRIVER_NAMES",
    "MEMORY",
    "NO_LIMIT",
    "NO_VOLUMES",
    "ZONE_LABELS",
    "AffinityTerms",
    "AttachedVolumes",
    "Budget",
    "Budgets",
    "CSIVolume",
    "ClaimUse",
    "ClusterState",
    "CountedGroup",
    "DeviceClasses",
    "Disk",
    "DomainSums",
    "Fork",
    "FreeVolumes",
    "Has",
    "Identity",
    "ImageState",
    "KnownVolume",
    "NodeChoice",
    "NodeColumns",
    "NodeInfo",
    "Nodes",
    "ObjectStore",
    "Part",
    "Parts",
    "PersistentVolumes",
    "PodBatch",
    "PodInfo",
    "PodRequests",
    "PodVolumes",
    "Port",
    "Reachable",
    "ReturnedNodes",
    "Rows",
    "Selection",
    "Snapshot",
    "Term",
    "VolumeWish",
    "Volumes",
    "WhatIfNodes",
    "capacity_limit",
    "disks_conflict",
    "driver_limits",
    "host_ports",
    "in_tree_source",
    "is_bound",
    "is_controlled_by",
    "limits_of",
    "migrated_plugins",
    "not_owned",
    "pod_volumes",
    "requests_of",
    "resources_of_class",
    "row_differences",
    "storage_class_of",
    "storage_request",
    "zone_key",
]
