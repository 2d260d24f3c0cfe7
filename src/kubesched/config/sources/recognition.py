"""Tells scheduler configurations from other objects and texts."""

import re
from typing import Any, Final

from kubesched.config.parsed_text import parse_value
from kubesched.config.sources.given_objects import text_at
from kubesched.config.type_meta import GROUP, KIND, POLICY, policy_fields
from kubesched.errors import ConfigError

_MARKS: Final = (KIND, GROUP, POLICY)
_POLICY_MARKS: Final = ("predicates", "priorities", "extenders")
_MEANT: Final = re.compile(
    rf"""^[ {{]*["']?(?:kind["']?: *["']?{KIND}|apiVersion["']?: *["']?{re.escape(GROUP)}/)""", re.MULTILINE
)


def is_configuration(value: Any) -> bool:
    """Whether an object is a KubeSchedulerConfiguration or a Policy of any version, valid or not.

    A Policy can be without kind and apiVersion, or without one of them; the loader then says which.

    Example:
        assert is_configuration({"predicates": [{"name": "HostName"}]})
        assert is_configuration({"kind": "Policy", "apiVersion": "v1"})
        assert not is_configuration({"kind": "Policy", "apiVersion": "kyverno.io/v1"})
    """
    kind, version = text_at(value, "kind"), text_at(value, "apiVersion")
    if kind == KIND or version.startswith(f"{GROUP}/") or (kind == POLICY and version == "v1"):
        return True
    return kind in ("", POLICY) and version in ("", "v1") and bool(policy_fields(value))


def is_policy(value: Any) -> bool:
    """Whether a configuration is a Policy, which a KubeSchedulerConfiguration may name, and which names none."""
    return text_at(value, "kind") == POLICY or bool(policy_fields(value))


def may_hold_configurations(text: str) -> bool:
    """Whether a text has a word of those of which each configuration has one."""
    return any(mark in text for mark in _MARKS) or any(mark in text.lower() for mark in _POLICY_MARKS)


def holds_configuration(text: str) -> bool:
    """Whether a text is meant to be a configuration, valid or not."""
    if not may_hold_configurations(text):
        return False
    try:
        return is_configuration(parse_value(text).value)
    except ConfigError:
        return _MEANT.search(text) is not None


def is_meant_as_configuration(text: str) -> bool:
    """Whether a file that is named as a configuration is one, or has a word of one and cannot be read.

    Messages show nothing of any other file: the author of a manifest chooses its name.
    """
    if not may_hold_configurations(text):
        return False
    try:
        return is_configuration(parse_value(text).value)
    except ConfigError:
        return True


def may_be_policy(text: str) -> bool:
    """Whether a text can be the Policy that a configuration names: it is one, or is not readable.

    A KubeSchedulerConfiguration is not one, even if it is named as one.
    """
    try:
        value = parse_value(text).value
    except ConfigError:
        return True
    return is_policy(value) or not is_configuration(value)
