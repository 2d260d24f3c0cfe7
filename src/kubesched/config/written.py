"""Finds places in a configuration as it was written: plain values of any type, by path."""

from collections.abc import Iterator, Mapping
from typing import Any


def dig(value: Any, *steps: str | int) -> Any:
    """The value under keys and indices; None if there is none."""
    for step in steps:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def profile_document(document: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """A profile of a configuration; empty if it is not an object."""
    profile = dig(document, "profiles", number)
    return profile if isinstance(profile, dict) else {}


def written_entries(document: Any, path: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each object of a list: its path, its name (empty if it has none), and itself.

    Args:
        path: of the list, such as `plugins.score.enabled`.
    """
    entries = dig(document, *path.split("."))
    for i, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict) and isinstance(name := entry.get("name") or "", str):
            yield f"{path}[{i}]", name, entry


def entry_path(document: Any, path: str, name: str, *, last: bool = False) -> str:
    """The path of the first (or last) entry of a name in a list, as in written_entries; empty if there is none."""
    paths = [where for where, named, _ in written_entries(document, path) if named == name]
    return paths[-1 if last else 0] if paths else ""
