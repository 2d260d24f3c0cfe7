"""Configurations of versions before v1, and Policies: pure functions that make v1 documents of them."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.legacy.dialects.kube_scheduler import for_kube_scheduler
    from kubesched.legacy.dialects.versions import convert_older, is_older

__all__ = ["convert_older", "for_kube_scheduler", "is_older"]
