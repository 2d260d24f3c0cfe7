"""Configurations of versions before v1, and Policies: pure functions that make v1 documents of them."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.legacy.dialects.kube_scheduler import for_kube_scheduler as for_kube_scheduler
    from kubesched.legacy.dialects.versions import convert_older as convert_older, is_older as is_older
