"""The state of the cluster: ClusterState, its columns, snapshots, and the tables that rules work on."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.api import PodRequests as PodRequests, limits_of as limits_of, requests_of as requests_of
    from kubesched.state.cluster_snapshot import Snapshot as Snapshot
    from kubesched.state.cluster_state import ClusterState as ClusterState
    from kubesched.state.columns import NodeColumns as NodeColumns
    from kubesched.state.csi_migration import (
        KNOWN_DRIVER_NAMES as KNOWN_DRIVER_NAMES,
        PORTWORX as PORTWORX,
        in_tree_source as in_tree_source,
        translated_affinity as translated_affinity,
    )
    from kubesched.state.devices import (
        DeviceClasses as DeviceClasses,
        DeviceId as DeviceId,
        DevicePool as DevicePool,
        DevicePoolUse as DevicePoolUse,
        Devices as Devices,
        DevicesInUse as DevicesInUse,
        NodeDevices as NodeDevices,
        PoolDevice as PoolDevice,
        ShortCounter as ShortCounter,
        counter_words as counter_words,
        resources_of_class as resources_of_class,
    )
    from kubesched.state.disruption_budgets import Budget as Budget, Budgets as Budgets
    from kubesched.state.facts import ClusterFacts as ClusterFacts
    from kubesched.state.groups import CountedGroup as CountedGroup
    from kubesched.state.image_state import ImageState as ImageState
    from kubesched.state.journal import Fork as Fork
    from kubesched.state.node_terms import NodeTerms as NodeTerms
    from kubesched.state.node_tree import ZONE_LABELS as ZONE_LABELS, zone_key as zone_key
    from kubesched.state.nodes import NodeInfo as NodeInfo, Nodes as Nodes, Rows as Rows, WhatIfNodes as WhatIfNodes
    from kubesched.state.objects import ObjectStore as ObjectStore
    from kubesched.state.pod_info import (
        Identity as Identity,
        NodeChoice as NodeChoice,
        Part as Part,
        Parts as Parts,
        PodInfo as PodInfo,
        Port as Port,
        host_ports as host_ports,
    )
    from kubesched.state.pod_table import Has as Has, PodBatch as PodBatch
    from kubesched.state.pod_volumes import (
        NO_VOLUMES as NO_VOLUMES,
        ClaimUse as ClaimUse,
        Disk as Disk,
        PodVolumes as PodVolumes,
        pod_volumes as pod_volumes,
    )
    from kubesched.state.recount import row_differences as row_differences
    from kubesched.state.resource_axis import CPU as CPU, EPHEMERAL_STORAGE as EPHEMERAL_STORAGE, MEMORY as MEMORY
    from kubesched.state.returned_nodes import ReturnedNodes as ReturnedNodes
    from kubesched.state.selected_pods import Selection as Selection
    from kubesched.state.term_counts import DomainSums as DomainSums
    from kubesched.state.terms import AffinityTerms as AffinityTerms, Term as Term
    from kubesched.state.volumes import (
        NO_CAPACITY as NO_CAPACITY,
        NO_LIMIT as NO_LIMIT,
        AttachedVolumes as AttachedVolumes,
        CSIVolume as CSIVolume,
        FreeVolumes as FreeVolumes,
        KnownVolume as KnownVolume,
        PersistentVolumes as PersistentVolumes,
        Reachable as Reachable,
        VolumeWish as VolumeWish,
        Volumes as Volumes,
        capacity_limit as capacity_limit,
        disks_conflict as disks_conflict,
        driver_limits as driver_limits,
        is_bound as is_bound,
        migrated_plugins as migrated_plugins,
        not_owned as not_owned,
        storage_class_of as storage_class_of,
        storage_request as storage_request,
        where_migrated as where_migrated,
        where_not_migrated as where_not_migrated,
    )
