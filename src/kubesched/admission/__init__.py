"""Completes new objects as an API server does, or refuses them: checks, defaults, priorities, limits, quotas."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.admission.admission import Admission
    from kubesched.admission.applied import changed_in
    from kubesched.admission.checks import ObjectChecker, decode_checked
    from kubesched.admission.cluster_outline import Key, key_of
    from kubesched.admission.priorities import BUILT_IN_CLASSES, PriorityClasses
    from kubesched.admission.refusals import Refusals, refusal_message
    from kubesched.admission.resource_checks import byte_notes, huge_page_faults, known_resources, quantity_faults
    from kubesched.admission.stored import as_stored

__all__ = [
    "BUILT_IN_CLASSES",
    "Admission",
    "Key",
    "ObjectChecker",
    "PriorityClasses",
    "Refusals",
    "as_stored",
    "byte_notes",
    "changed_in",
    "decode_checked",
    "huge_page_faults",
    "key_of",
    "known_resources",
    "quantity_faults",
    "refusal_message",
]
