"""Completes new objects as an API server does, or refuses them: checks, defaults, priorities, limits, quotas."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.admission.added_parts import AddedParts as AddedParts, added_parts as added_parts
    from kubesched.admission.admission import Admission as Admission
    from kubesched.admission.applied import as_stored as as_stored, changed_in as changed_in
    from kubesched.admission.checks import ObjectChecker as ObjectChecker, decode_checked as decode_checked
    from kubesched.admission.cluster_outline import Key as Key, key_of as key_of
    from kubesched.admission.device_claim_checks import admin_access_faults as admin_access_faults
    from kubesched.admission.given_parts import with_given_parts as with_given_parts
    from kubesched.admission.idle_constraints import idle_constraints as idle_constraints
    from kubesched.admission.priorities import BUILT_IN_CLASSES as BUILT_IN_CLASSES, PriorityClasses as PriorityClasses
    from kubesched.admission.refusals import Refusals as Refusals, refusal_message as refusal_message
    from kubesched.admission.refused_replicas import (
        RefusedReplicas as RefusedReplicas,
        refused_replicas as refused_replicas,
    )
    from kubesched.admission.resource_checks import (
        byte_notes as byte_notes,
        huge_page_faults as huge_page_faults,
        known_resources as known_resources,
        quantity_faults as quantity_faults,
    )
