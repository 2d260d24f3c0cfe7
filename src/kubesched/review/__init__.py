"""Judges a configuration as a reviewer does: every fault and every risk at once, each with its line."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.review.checked import Checked as Checked
    from kubesched.review.configuration_check import (
        check_configuration as check_configuration,
        ignored_document as ignored_document,
    )
    from kubesched.review.extender_advice import (
        ignorable_bind_before as ignorable_bind_before,
        sampling_advice as sampling_advice,
        scored_as_idle as scored_as_idle,
    )
    from kubesched.review.process import shared_leases as shared_leases
    from kubesched.review.reviewed import review_of as review_of
    from kubesched.review.scoring import scoring_advice as scoring_advice
