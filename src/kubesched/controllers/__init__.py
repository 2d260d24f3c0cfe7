"""What the rest of Kubernetes does to objects: controllers expand, scale, replace and roll out; kubelets; kubectl."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.controllers.absent_pods import (
        WithoutPods as WithoutPods,
        has_pod_template as has_pod_template,
        why_no_pods as why_no_pods,
    )
    from kubesched.controllers.allowance import Allowance as Allowance
    from kubesched.controllers.autoscalers import (
        Autoscalers as Autoscalers,
        Scaled as Scaled,
        check_bounds as check_bounds,
        is_scaled_object as is_scaled_object,
    )
    from kubesched.controllers.claim_controller import (
        attached as attached,
        fresh_device_claims as fresh_device_claims,
        left_claims as left_claims,
    )
    from kubesched.controllers.cordons import (
        CORDON as CORDON,
        cordon as cordon,
        is_cordoned as is_cordoned,
        uncordon as uncordon,
    )
    from kubesched.controllers.daemon_nodes import (
        is_of_daemons as is_of_daemons,
        may_run_daemon as may_run_daemon,
        node_of_daemon as node_of_daemon,
    )
    from kubesched.controllers.dependents import (
        WrittenWorkload as WrittenWorkload,
        awake as awake,
        expand_workload as expand_workload,
        replica_count as replica_count,
    )
    from kubesched.controllers.detached_volumes import detached as detached
    from kubesched.controllers.generated_names import (
        generated_name as generated_name,
        is_copy as is_copy,
        is_from_manifest as is_from_manifest,
        is_made_here as is_made_here,
        is_new_and_bound as is_new_and_bound,
        stable_uid as stable_uid,
    )
    from kubesched.controllers.kept_replicas import (
        Controllers as Controllers,
        controllers_of as controllers_of,
        ordinal_of as ordinal_of,
    )
    from kubesched.controllers.kubectl_drain import (
        UNREACHABLE as UNREACHABLE,
        hangs_because as hangs_because,
        has_local_data as has_local_data,
        is_unreachable as is_unreachable,
        keeps_off_evictions as keeps_off_evictions,
        leaves_because as leaves_because,
        stays_because as stays_because,
        way_to_end as way_to_end,
        zones_out as zones_out,
    )
    from kubesched.controllers.kubelet_admission import (
        awaited_claims as awaited_claims,
        has_not_started as has_not_started,
        no_room as no_room,
        node_refusal as node_refusal,
        rejected_by as rejected_by,
        why_it_hangs as why_it_hangs,
    )
    from kubesched.controllers.leaving_pods import LeavingPods as LeavingPods
    from kubesched.controllers.machine_prices import (
        CAPACITY_TYPES as CAPACITY_TYPES,
        HOURS_A_MONTH as HOURS_A_MONTH,
        Prices as Prices,
        capacity_type as capacity_type,
        capacity_type_of as capacity_type_of,
        price_of as price_of,
        priced_as as priced_as,
    )
    from kubesched.controllers.manifest_types import (
        GROUPS as GROUPS,
        ControllerManifest as ControllerManifest,
        CronJobManifest as CronJobManifest,
        ManifestPodSpec as ManifestPodSpec,
        NamedManifest as NamedManifest,
        PodManifest as PodManifest,
        WorkloadManifest as WorkloadManifest,
        WorkloadSpec as WorkloadSpec,
        api_version_of as api_version_of,
        left_out as left_out,
    )
    from kubesched.controllers.model_devices import incomplete_pools as incomplete_pools
    from kubesched.controllers.new_nodes import (
        like_on_node as like_on_node,
        new_names as new_names,
        new_nodes as new_nodes,
        node_of as node_of,
        node_with as node_with,
        note_on_model as note_on_model,
        on_new_node as on_new_node,
        unpinned as unpinned,
    )
    from kubesched.controllers.node_shape import (
        OF_PLACES as OF_PLACES,
        MachineType as MachineType,
        NodeShape as NodeShape,
        NodeShapes as NodeShapes,
        ZonesOfNodes as ZonesOfNodes,
        machine_name as machine_name,
    )
    from kubesched.controllers.node_shapes import node_shapes as node_shapes
    from kubesched.controllers.ordered_creation import OrderedCreation as OrderedCreation
    from kubesched.controllers.replacements import (
        fresh_pod as fresh_pod,
        further_copy as further_copy,
        replacement_of as replacement_of,
    )
    from kubesched.controllers.rollout_steps import (
        RolloutPlan as RolloutPlan,
        RolloutView as RolloutView,
        plan_rollout as plan_rollout,
        rollout_bounds as rollout_bounds,
    )
    from kubesched.controllers.scaling import (
        further_pods as further_pods,
        pods_to_add as pods_to_add,
        pods_to_remove as pods_to_remove,
        with_free_names as with_free_names,
    )
    from kubesched.controllers.site_labels import (
        SITE_WORDS as SITE_WORDS,
        is_site as is_site,
        label_words as label_words,
        off_site as off_site,
    )
    from kubesched.controllers.successors import (
        RE_CREATING_KINDS as RE_CREATING_KINDS,
        Successor as Successor,
        is_bound_to_node as is_bound_to_node,
        job_of as job_of,
        successor_of as successor_of,
        with_failures as with_failures,
    )
    from kubesched.controllers.volume_controllers import VolumeControllers as VolumeControllers
