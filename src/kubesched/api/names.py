"""Syntax of label keys, label values and resource names, and which resource names a scheduler keeps.

Rule: k8s.io/apimachinery v0.36 validation (qualified names, label values); kube-scheduler v1.36 IsScalarResourceName.
"""

import re
from functools import lru_cache

__all__ = ["is_extended_resource", "is_label_value", "is_qualified_name", "is_scalar_resource"]

_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def is_label_value(text: str) -> bool:
    """Whether a label may have this value: at most 63 of `[A-Za-z0-9_.-]`, alphanumeric at both ends, or empty."""
    return len(text) <= 63 and _LABEL_VALUE.fullmatch(text) is not None


@lru_cache(maxsize=8192)
def is_qualified_name(text: str) -> bool:
    """Whether a label key or resource name is well formed: `name` or `dns.subdomain/name`."""
    prefix, slash, name = text.partition("/")
    if not slash:
        prefix, name = "", text
    elif len(prefix) > 253 or _DNS_SUBDOMAIN.fullmatch(prefix) is None:
        return False
    return len(name) <= 63 and _LABEL_NAME.fullmatch(name) is not None


@lru_cache(maxsize=8192)
def is_extended_resource(name: str) -> bool:
    """Whether a resource is one that a device plugin or an administrator added, such as `example.com/gpu`."""
    return (
        "/" in name
        and "kubernetes.io/" not in name
        and not name.startswith("requests.")
        and is_qualified_name(f"requests.{name}")
    )


@lru_cache(maxsize=8192)
def is_scalar_resource(name: str) -> bool:
    """Whether a scheduler keeps a resource besides cpu, memory, ephemeral-storage and pods."""
    return (
        name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name or is_extended_resource(name)
    )
