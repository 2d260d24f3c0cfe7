"""Kinds of Kubernetes that tests of several rooms go through."""

from kubesched.api import KINDS

SERVED_KINDS = tuple(key for key, kind in KINDS.items() if not kind.is_optional)
"""The keys of the kinds that every API server has."""
