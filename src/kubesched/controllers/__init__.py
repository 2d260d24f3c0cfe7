"""What the rest of Kubernetes does to objects: controllers expand, scale, replace and roll out; kubelets; kubectl."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.controllers.absent_pods import WithoutPods, has_pod_template, why_no_pods
    from kubesched.controllers.allowance import Allowance
    from kubesched.controllers.autoscalers import Autoscalers, Scaled, check_bounds, is_scaled_object
    from kubesched.controllers.cordons import CORDON, cordon, is_cordoned, uncordon
    from kubesched.controllers.daemon_nodes import node_of_daemon
    from kubesched.controllers.dependents import WrittenWorkload, awake, expand_workload, replica_count
    from kubesched.controllers.generated_names import (
        generated_name,
        is_copy,
        is_from_manifest,
        is_new_and_bound,
        stable_uid,
    )
    from kubesched.controllers.kept_replicas import Controllers, controllers_of, ordinal_of
    from kubesched.controllers.kubectl_drain import (
        hangs_because,
        has_local_data,
        is_unreachable,
        leaves_because,
        stays_because,
    )
    from kubesched.controllers.kubelet_admission import (
        awaited_claims,
        has_not_started,
        no_room,
        node_refusal,
        rejected_by,
        why_it_hangs,
    )
    from kubesched.controllers.leaving_pods import LeavingPods
    from kubesched.controllers.manifest_types import (
        GROUPS,
        ControllerManifest,
        ControllerSpec,
        CronJobManifest,
        ManifestPodSpec,
        NamedManifest,
        PodManifest,
        RollingUpdate,
        UpdateStrategy,
        WorkloadManifest,
        WorkloadSpec,
        api_version_of,
        left_out,
    )
    from kubesched.controllers.new_nodes import new_nodes, node_of, note_on_model
    from kubesched.controllers.ordered_creation import OrderedCreation
    from kubesched.controllers.replacements import replacement_of
    from kubesched.controllers.rollout_steps import RolloutPlan, RolloutView, plan_rollout
    from kubesched.controllers.scaling import further_pods, pods_to_add, pods_to_remove
    from kubesched.controllers.successors import (
        RE_CREATING_KINDS,
        Successor,
        is_bound_to_node,
        job_of,
        successor_of,
        with_failures,
    )
    from kubesched.controllers.volume_controllers import VolumeControllers

__all__ = [
    "CORDON",
    "GROUPS",
    "RE_CREATING_KINDS",
    "Allowance",
    "Autoscalers",
    "ControllerManifest",
    "ControllerSpec",
    "Controllers",
    "CronJobManifest",
    "LeavingPods",
    "ManifestPodSpec",
    "NamedManifest",
    "OrderedCreation",
    "PodManifest",
    "RollingUpdate",
    "RolloutPlan",
    "RolloutView",
    "Scaled",
    "Successor",
    "UpdateStrategy",
    "VolumeControllers",
    "WithoutPods",
    "WorkloadManifest",
    "WorkloadSpec",
    "WrittenWorkload",
    "api_version_of",
    "awaited_claims",
    "awake",
    "check_bounds",
    "controllers_of",
    "cordon",
    "expand_workload",
    "further_pods",
    "generated_name",
    "hangs_because",
    "has_local_data",
    "has_not_started",
    "has_pod_template",
    "is_bound_to_node",
    "is_copy",
    "is_cordoned",
    "is_from_manifest",
    "is_new_and_bound",
    "is_scaled_object",
    "is_unreachable",
    "job_of",
    "leaves_because",
    "left_out",
    "new_nodes",
    "no_room",
    "node_of",
    "node_of_daemon",
    "node_refusal",
    "note_on_model",
    "ordinal_of",
    "plan_rollout",
    "pods_to_add",
    "pods_to_remove",
    "rejected_by",
    "replacement_of",
    "replica_count",
    "stable_uid",
    "stays_because",
    "successor_of",
    "uncordon",
    "why_it_hangs",
    "why_no_pods",
    "with_failures",
]
