"""Judges a configuration as a reviewer does: every fault and every risk at once, each with its line."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.review.check import check_configuration, ignored_document
    from kubesched.review.checked import Checked
    from kubesched.review.extender_advice import ignorable_bind_before, sampling_advice, scored_as_idle
    from kubesched.review.process import shared_leases

__all__ = [
    "Checked",
    "check_configuration",
    "ignorable_bind_before",
    "ignored_document",
    "sampling_advice",
    "scored_as_idle",
    "shared_leases",
]
