"""Syntax of object names, label keys, label values and resource names, and the resource names that a scheduler counts.

Rule: k8s.io/apimachinery v0.36 validation (qualified names, label values); kube-scheduler v1.36 IsScalarResourceName.
"""

import re
from functools import lru_cache
from typing import Final

_NAME_FORMAT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORMAT: Final = f"({_NAME_FORMAT})?"
_SUBDOMAIN_FORMAT: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL_VALUE = re.compile(_VALUE_FORMAT)
_LABEL_NAME = re.compile(_NAME_FORMAT)
_DNS_SUBDOMAIN = re.compile(_SUBDOMAIN_FORMAT)

_CHARACTERS: Final = "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_NAME_RULE: Final = (
    f"must consist of {_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_NAME_FORMAT}')"
)
_VALUE_RULE: Final = (
    f"a valid label must be an empty string or consist of {_CHARACTERS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE_FORMAT}')"
)
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_FORMAT}')"
)
_LABEL_FORMAT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(_LABEL_FORMAT)
_LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL_FORMAT}')"
)
_TWO_SLASHES: Final = (
    f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def is_object_key(text: str) -> bool:
    """Whether Kubernetes allows `name` or `namespace/name` for a pod or a node: lowercase RFC 1123 subdomains."""
    names = text.split("/")
    return len(names) <= 2 and all(len(name) <= 253 and _DNS_SUBDOMAIN.fullmatch(name) for name in names)


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


def label_value_faults(text: str) -> list[str]:
    """What keeps a text from being a label's value, in upstream's words."""
    faults = ["must be no more than 63 bytes"] if len(text.encode()) > 63 else []
    return faults if _LABEL_VALUE.fullmatch(text) else [*faults, _VALUE_RULE]


def qualified_name_faults(text: str) -> list[str]:
    """What keeps a text from being a label key or resource name, in upstream's words."""
    *prefixes, name = text.split("/")
    if len(prefixes) > 1:
        return [_TWO_SLASHES]
    faults = [f"prefix part {fault}" for prefix in prefixes for fault in subdomain_faults(prefix)]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        faults.append("name part must be no more than 63 bytes")
    return faults if _LABEL_NAME.fullmatch(name) else [*faults, f"name part {_NAME_RULE}"]


def subdomain_faults(text: str) -> list[str]:
    """What keeps a text from being a DNS subdomain, as names of classes are, in upstream's words."""
    if not text:
        return ["must be non-empty"]
    faults = ["must be no more than 253 bytes"] if len(text.encode()) > 253 else []
    return faults if _DNS_SUBDOMAIN.fullmatch(text) else [*faults, _SUBDOMAIN_RULE]


def label_faults(text: str) -> list[str]:
    """What keeps a text from being a DNS label, as names of requests are, in upstream's words."""
    faults = ["must be no more than 63 characters"] if len(text) > 63 else []
    return faults if _DNS_LABEL.fullmatch(text) else [*faults, _LABEL_RULE]


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
    """Whether a scheduler counts a resource that is not cpu, memory, ephemeral-storage or pods."""
    return (
        name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name or is_extended_resource(name)
    )
