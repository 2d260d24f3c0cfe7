"""Kubernetes objects with the fields that a scheduler reads: structs, quantities, selectors, and change events."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.api.amount_checks import check_amounts as check_amounts
    from kubesched.api.controllers import (
        Workload as Workload,
        owner_of as owner_of,
        workload_of as workload_of,
        workloads as workloads,
    )
    from kubesched.api.edit import edited as edited, on_node as on_node, rewritten as rewritten
    from kubesched.api.events import (
        ActionType as ActionType,
        ClusterEvent as ClusterEvent,
        EventResource as EventResource,
        EventType as EventType,
        WatchEvent as WatchEvent,
        custom_resource as custom_resource,
    )
    from kubesched.api.kinds import (
        AUTOSCALER_STATUS as AUTOSCALER_STATUS,
        KINDS as KINDS,
        WATCHED_KINDS as WATCHED_KINDS,
        Kind as Kind,
        KindUse as KindUse,
        completed as completed,
        decode_object as decode_object,
        has_other_fields as has_other_fields,
        kind_key as kind_key,
        kind_named as kind_named,
        kind_of as kind_of,
        objects_of as objects_of,
        type_of as type_of,
        unread_name as unread_name,
    )
    from kubesched.api.meta import (
        KubeObject as KubeObject,
        ObjectMeta as ObjectMeta,
        OwnerReference as OwnerReference,
        Value as Value,
        compare_versions as compare_versions,
    )
    from kubesched.api.names import (
        is_extended_resource as is_extended_resource,
        is_label_value as is_label_value,
        is_object_key as is_object_key,
        is_qualified_name as is_qualified_name,
        is_scalar_resource as is_scalar_resource,
        label_value_faults as label_value_faults,
        qualified_name_faults as qualified_name_faults,
    )
    from kubesched.api.new_pods import (
        HorizontalPodAutoscaler as HorizontalPodAutoscaler,
        Limit as Limit,
        LimitRange as LimitRange,
        ResourceQuota as ResourceQuota,
        RuntimeClass as RuntimeClass,
        ScaleTarget as ScaleTarget,
        ScopeRequirement as ScopeRequirement,
    )
    from kubesched.api.node import (
        ContainerImage as ContainerImage,
        Node as Node,
        NodeSpec as NodeSpec,
        NodeStatus as NodeStatus,
        Taint as Taint,
        zone_of as zone_of,
    )
    from kubesched.api.node_pools import (
        NodeClaim as NodeClaim,
        NodeClaimSpec as NodeClaimSpec,
        NodePool as NodePool,
    )
    from kubesched.api.patch import Patch as Patch, PatchTarget as PatchTarget
    from kubesched.api.pod import Pod as Pod
    from kubesched.api.pod_fields import (
        Affinity as Affinity,
        AffinityToNodes as AffinityToNodes,
        ClaimSource as ClaimSource,
        Container as Container,
        ContainerPort as ContainerPort,
        ContainerStatus as ContainerStatus,
        DiskSource as DiskSource,
        EphemeralSource as EphemeralSource,
        ImageSource as ImageSource,
        PodAffinity as PodAffinity,
        PodAffinityTerm as PodAffinityTerm,
        PodCondition as PodCondition,
        PodSpec as PodSpec,
        PodStatus as PodStatus,
        Quantities as Quantities,
        Resources as Resources,
        RestartPolicyRule as RestartPolicyRule,
        SchedulingGate as SchedulingGate,
        Toleration as Toleration,
        TopologySpreadConstraint as TopologySpreadConstraint,
        Volume as Volume,
        WeightedPodAffinityTerm as WeightedPodAffinityTerm,
    )
    from kubesched.api.pod_groups import (
        GROUP_KEYS as GROUP_KEYS,
        GROUP_MINIMUMS as GROUP_MINIMUMS,
        GROUP_NAMES as GROUP_NAMES,
        group_name as group_name,
        minimum_on_pod as minimum_on_pod,
    )
    from kubesched.api.pod_requests import (
        BASIC_RESOURCES as BASIC_RESOURCES,
        PodRequests as PodRequests,
        has_same_requests as has_same_requests,
        limits_of as limits_of,
        requests_key as requests_key,
        requests_of as requests_of,
    )
    from kubesched.api.quantity import (
        MAX_INT64 as MAX_INT64,
        NANO as NANO,
        bytes_of as bytes_of,
        cpu_millis as cpu_millis,
        in_words as in_words,
        parse_quantity as parse_quantity,
        whole_units as whole_units,
    )
    from kubesched.api.resource_claims import (
        CapacityRequirements as CapacityRequirements,
        DeviceClass as DeviceClass,
        ResourceClaim as ResourceClaim,
        ResourceClaimTemplate as ResourceClaimTemplate,
        ResourceSlice as ResourceSlice,
    )
    from kubesched.api.selector_faults import as_int64 as as_int64
    from kubesched.api.selector_text import parse_selector_text as parse_selector_text
    from kubesched.api.selectors import (
        LabelSelector as LabelSelector,
        NodeSelector as NodeSelector,
        NodeSelectorTerm as NodeSelectorTerm,
        ParsedNodeTerm as ParsedNodeTerm,
        PreferredSchedulingTerm as PreferredSchedulingTerm,
        Requirement as Requirement,
        Selector as Selector,
        SelectorRequirement as SelectorRequirement,
        parse_node_term as parse_node_term,
        parse_selector as parse_selector,
    )
    from kubesched.api.storage import (
        CLASS_ANNOTATION as CLASS_ANNOTATION,
        CSIDriver as CSIDriver,
        CSINode as CSINode,
        CSIStorageCapacity as CSIStorageCapacity,
        ObjectReference as ObjectReference,
        PersistentVolume as PersistentVolume,
        PersistentVolumeClaim as PersistentVolumeClaim,
        StorageClass as StorageClass,
        TopologySelectorTerm as TopologySelectorTerm,
        VolumeAttachment as VolumeAttachment,
        VolumeNodeAffinity as VolumeNodeAffinity,
        VolumeSpec as VolumeSpec,
        VolumeStatus as VolumeStatus,
    )
    from kubesched.api.unstructured import Unstructured as Unstructured, plural_of as plural_of
    from kubesched.api.well_known import (
        AVOID_PODS as AVOID_PODS,
        BETA_DEFAULT_CLASS as BETA_DEFAULT_CLASS,
        BETA_REGION as BETA_REGION,
        BETA_ZONE as BETA_ZONE,
        BIND_COMPLETED as BIND_COMPLETED,
        BOUND_BY_CONTROLLER as BOUND_BY_CONTROLLER,
        CAPACITY_LABELS as CAPACITY_LABELS,
        DEFAULT_CLASS as DEFAULT_CLASS,
        DELETION_COST as DELETION_COST,
        DESIRED_REPLICAS as DESIRED_REPLICAS,
        DO_NOT_DISRUPT as DO_NOT_DISRUPT,
        HOSTNAME as HOSTNAME,
        INDEX_FAILURES as INDEX_FAILURES,
        INSTANCE_TYPES as INSTANCE_TYPES,
        KUEUE as KUEUE,
        KUSTOMIZE_GROUP as KUSTOMIZE_GROUP,
        LIMIT_RANGER as LIMIT_RANGER,
        MACHINE_DOMAINS as MACHINE_DOMAINS,
        MIGRATED_PLUGINS as MIGRATED_PLUGINS,
        MIRROR_POD as MIRROR_POD,
        NAMESPACE_SELECTOR as NAMESPACE_SELECTOR,
        NAMESPACE_TOLERATIONS as NAMESPACE_TOLERATIONS,
        POOL_LABELS as POOL_LABELS,
        POOL_WORDS as POOL_WORDS,
        PROVIDER_DOMAINS as PROVIDER_DOMAINS,
        REGION as REGION,
        SAFE_TO_EVICT as SAFE_TO_EVICT,
        SELECTED_NODE as SELECTED_NODE,
        SERVICE_OF_K3S as SERVICE_OF_K3S,
        SILENCED as SILENCED,
        SPOT_LABELS as SPOT_LABELS,
        ZONE as ZONE,
    )
    from kubesched.api.workloads import (
        CoschedulingPodGroup as CoschedulingPodGroup,
        ExitCodesPattern as ExitCodesPattern,
        Job as Job,
        Namespace as Namespace,
        PodDisruptionBudget as PodDisruptionBudget,
        PodFailureRule as PodFailureRule,
        PodGroup as PodGroup,
        PriorityClass as PriorityClass,
        ReplicaSet as ReplicaSet,
        ReplicationController as ReplicationController,
        Service as Service,
        StatefulSet as StatefulSet,
        VolcanoPodGroup as VolcanoPodGroup,
    )
