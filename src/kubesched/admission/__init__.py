"""Completes new objects as an API server and its controllers do: checks, defaults, priorities, workloads' pods."""

from kubesched.admission.absent_pods import WithoutPods
from kubesched.admission.admission import Admission
from kubesched.admission.applied import changed_in
from kubesched.admission.autoscalers import Autoscalers, Scaled
from kubesched.admission.checks import ObjectChecker, decode_checked
from kubesched.admission.cluster_outline import Key, key_of
from kubesched.admission.controllers import Controllers, Find, controllers_of, ordinal_of
from kubesched.admission.daemon_nodes import may_run_daemon, node_of_daemon
from kubesched.admission.generated_names import is_copy, is_from_manifest, is_new_and_bound
from kubesched.admission.kubelets import (
    awaited_claims,
    has_not_started,
    no_room,
    node_refusal,
    rejected_by,
    why_it_hangs,
)
from kubesched.admission.manifest_types import RollingUpdate, UpdateStrategy
from kubesched.admission.priorities import BUILT_IN_CLASSES, PriorityClasses
from kubesched.admission.refusals import Refusals, refusal_message
from kubesched.admission.replicas import (
    Replacement,
    claims_of,
    fresh_claim,
    fresh_pod,
    replacement_of,
)
from kubesched.admission.resource_checks import byte_notes, huge_page_faults, known_resources, quantity_faults
from kubesched.admission.stored import as_stored
from kubesched.admission.successors import (
    RE_CREATING_KINDS,
    Successor,
    is_bound_to_node,
    job_of,
    successor_of,
    waits_for_end,
    with_failures,
)

__all__ = [
    "BUILT_IN_CLASSES",
    "RE_CREATING_KINDS",
    "Admission",
    "Autoscalers",
    "Controllers",
    "Find",
    "Key",
    "ObjectChecker",
    "PriorityClasses",
    "Refusals",
    "Replacement",
    "RollingUpdate",
    "Scaled",
    "Successor",
    "UpdateStrategy",
    "WithoutPods",
    "as_stored",
    "awaited_claims",
    "byte_notes",
    "changed_in",
    "claims_of",
    "controllers_of",
    "decode_checked",
    "fresh_claim",
    "fresh_pod",
    "has_not_started",
    "huge_page_faults",
    "is_bound_to_node",
    "is_copy",
    "is_from_manifest",
    "is_new_and_bound",
    "job_of",
    "key_of",
    "known_resources",
    "may_run_daemon",
    "no_room",
    "node_of_daemon",
    "node_refusal",
    "ordinal_of",
    "quantity_faults",
    "refusal_message",
    "rejected_by",
    "replacement_of",
    "successor_of",
    "waits_for_end",
    "why_it_hangs",
    "with_failures",
]
