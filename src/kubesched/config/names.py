"""Findings about label keys and resource names in a configuration."""

from kubesched.api import qualified_name_faults
from kubesched.config.field_errors import FieldError

__all__ = ["qualified_name_errors"]


def qualified_name_errors(path: str, name: str) -> list[FieldError]:
    """One finding per rule that a label key or resource name breaks: `name` or `dns.subdomain/name`."""
    return [FieldError.invalid(path, name, fault) for fault in qualified_name_faults(name)]
