"""The in-tree plugins, one file each; their table is `in_tree.py`."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.plugins.args import (
        CPU_AND_MEMORY as CPU_AND_MEMORY,
        PodTopologySpreadArgs as PodTopologySpreadArgs,
        ResourceSpec as ResourceSpec,
        UtilizationShapePoint as UtilizationShapePoint,
        shape_errors as shape_errors,
        weighed as weighed,
    )
    from kubesched.plugins.broken_line import broken_linear as broken_linear
    from kubesched.plugins.default_binder import DefaultBinder as DefaultBinder
    from kubesched.plugins.default_preemption import DefaultPreemption as DefaultPreemption
    from kubesched.plugins.dynamic_resources import (
        ALL as ALL,
        SPECIAL_CLAIM as SPECIAL_CLAIM,
        Chosen as Chosen,
        ClaimPlan as ClaimPlan,
        ConstraintAsk as ConstraintAsk,
        DeviceAsk as DeviceAsk,
        DeviceObstacle as DeviceObstacle,
        DynamicResources as DynamicResources,
        NamedAsk as NamedAsk,
        Nearness as Nearness,
        PodDemand as PodDemand,
        RequestDevices as RequestDevices,
        Shortage as Shortage,
        alternatives_of as alternatives_of,
        broken_pools_for as broken_pools_for,
        claim_ask as claim_ask,
        claim_name as claim_name,
        consumed_by as consumed_by,
        demand_of as demand_of,
        devices_for as devices_for,
        node_selector_of as node_selector_of,
        reasons_together as reasons_together,
        refusal_of as refusal_of,
        used_devices as used_devices,
    )
    from kubesched.plugins.image_locality import ImageLocality as ImageLocality
    from kubesched.plugins.in_tree import IN_TREE_PLUGINS as IN_TREE_PLUGINS, in_tree_plugins as in_tree_plugins
    from kubesched.plugins.inter_pod_affinity import InterPodAffinity as InterPodAffinity
    from kubesched.plugins.label_providers import foreign_provider as foreign_provider, local_keys as local_keys
    from kubesched.plugins.node_affinity import NodeAffinity as NodeAffinity
    from kubesched.plugins.node_declared_features import (
        NodeDeclaredFeatures as NodeDeclaredFeatures,
        needed_features as needed_features,
    )
    from kubesched.plugins.node_name import NodeName as NodeName
    from kubesched.plugins.node_ports import NodePorts as NodePorts, WantedPorts as WantedPorts
    from kubesched.plugins.node_resources_balanced_allocation import (
        NodeResourcesBalancedAllocation as NodeResourcesBalancedAllocation,
    )
    from kubesched.plugins.node_resources_fit import (
        NodeResourcesFit as NodeResourcesFit,
        missing_resources as missing_resources,
    )
    from kubesched.plugins.node_selection import (
        RequiredNodeAffinity as RequiredNodeAffinity,
        required_node_affinity as required_node_affinity,
    )
    from kubesched.plugins.node_unschedulable import NodeUnschedulable as NodeUnschedulable
    from kubesched.plugins.node_volume_limits import NodeVolumeLimits as NodeVolumeLimits
    from kubesched.plugins.pod_terms import meets_every_namespace as meets_every_namespace
    from kubesched.plugins.pod_topology_spread import PodTopologySpread as PodTopologySpread
    from kubesched.plugins.priority_sort import PrioritySort as PrioritySort
    from kubesched.plugins.rules_of_versions import (
        RuleOfVersion as RuleOfVersion,
        gate_is_off as gate_is_off,
        rules_of_versions as rules_of_versions,
    )
    from kubesched.plugins.scheduling_gates import SchedulingGates as SchedulingGates
    from kubesched.plugins.shared_hints import (
        by_claim as by_claim,
        by_volume as by_volume,
        is_placed as is_placed,
        nothing as nothing,
        queue_if as queue_if,
        registration as registration,
    )
    from kubesched.plugins.spread_constraints import (
        SCHEDULE_ANYWAY as SCHEDULE_ANYWAY,
        DefaultConstraints as DefaultConstraints,
        constraints_of as constraints_of,
        own_constraint as own_constraint,
    )
    from kubesched.plugins.taint_toleration import TaintToleration as TaintToleration
    from kubesched.plugins.tolerations import (
        has_untolerated_taint as has_untolerated_taint,
        near_miss as near_miss,
        taint_words as taint_words,
        untolerated_taints as untolerated_taints,
    )
    from kubesched.plugins.volume_binding import VolumeBinding as VolumeBinding
    from kubesched.plugins.volume_provisioning import (
        allowed_nodes as allowed_nodes,
        makes_volumes as makes_volumes,
        publishes_capacity as publishes_capacity,
    )
    from kubesched.plugins.volume_restrictions import (
        VolumeRestrictions as VolumeRestrictions,
        has_no_disk as has_no_disk,
    )
    from kubesched.plugins.volume_zone import (
        VolumeZone as VolumeZone,
        meets_demand as meets_demand,
        volume_demands as volume_demands,
    )
    from kubesched.plugins.volumes_at_hand import (
        Flaw as Flaw,
        VolumeAtHand as VolumeAtHand,
        at_hand_words as at_hand_words,
        volumes_at_hand as volumes_at_hand,
    )
