"""Configurations of versions before v1, and Policies: pure functions that make v1 documents of them."""

from kubesched.config.dialects.conversion import Conversion, Document, Notice, PolicySources
from kubesched.config.dialects.kube_scheduler import for_kube_scheduler
from kubesched.config.dialects.versions import convert_older, is_older

__all__ = [
    "Conversion",
    "Document",
    "Notice",
    "PolicySources",
    "convert_older",
    "for_kube_scheduler",
    "is_older",
]
