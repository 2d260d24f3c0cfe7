"""What is wrong with a label key or resource name, in upstream's words; `api` only says whether one is well formed.

Rule: k8s.io/apimachinery v0.36 validation.IsQualifiedName.
"""

import re
from typing import Final

from kubesched.config.field_errors import FieldError

__all__ = ["qualified_name_errors"]

_NAME_FORMAT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SUBDOMAIN_FORMAT: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_NAME_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME_FORMAT}')"
)
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_FORMAT}')"
)
_TWO_SLASHES: Final = (
    f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def qualified_name_errors(path: str, name: str) -> list[FieldError]:
    """One finding per rule that a label key or resource name breaks: `name` or `dns.subdomain/name`."""
    return [FieldError.invalid(path, name, fault) for fault in _faults(name)]


def _faults(text: str) -> list[str]:
    *prefixes, name = text.split("/")
    if len(prefixes) > 1:
        return [_TWO_SLASHES]
    faults = [f"prefix part {fault}" for prefix in prefixes for fault in _subdomain_faults(prefix)]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        faults.append("name part must be no more than 63 bytes")
    if re.fullmatch(_NAME_FORMAT, name) is None:
        faults.append(f"name part {_NAME_RULE}")
    return faults


def _subdomain_faults(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    faults = ["must be no more than 253 bytes"] if len(prefix.encode()) > 253 else []
    if re.fullmatch(_SUBDOMAIN_FORMAT, prefix) is None:
        faults.append(_SUBDOMAIN_RULE)
    return faults
