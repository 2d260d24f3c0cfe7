"""Merge patches: the difference of two documents as a document."""

from collections.abc import Mapping
from typing import Any, Final

_NO_KEYS: Final[Mapping[str, str]] = {}


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any], keys: Mapping[str, str] = _NO_KEYS) -> dict[str, Any]:
    """The patch that makes the new document of the old one; empty if they are equal.

    Rule: RFC 7386: objects are merged, null removes a field, and anything else is replaced, lists as a whole.
    Rule: strategic merge patches of Kubernetes: lists of some fields are merged by a field of their entries, and
    `$patch: replace` replaces such a list.

    Args:
        keys: field with a list -> the field of its entries by which these are merged.

    Example:
        assert merge_patch({"a": 1, "b": {"c": 2}}, {"b": {"c": 3}}) == {"a": None, "b": {"c": 3}}
    """
    patch: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        was = old.get(name)
        if was == value:
            continue
        if isinstance(was, Mapping) and isinstance(value, Mapping):
            patch[name] = merge_patch(was, value, keys)
        elif isinstance(was, list) and isinstance(value, list) and name in keys:
            patch[name] = _entries(was, value, keys[name], keys)
        else:
            patch[name] = value
    return patch


def _entries(old: list[Any], new: list[Any], key: str, keys: Mapping[str, str]) -> list[Any]:
    """The entries that change, each with its key; all of them where the keys are not the same or not unique."""
    before, after = {one.get(key): one for one in old}, {one.get(key): one for one in new}
    if before.keys() != after.keys() or len(before) < len(old) or len(after) < len(new):
        return [{"$patch": "replace"}, *new]
    return [{key: name, **merge_patch(before[name], one, keys)} for name, one in after.items() if one != before[name]]
