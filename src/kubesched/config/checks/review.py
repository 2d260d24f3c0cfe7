"""What the advice looks at: the effective configuration next to the document as it is written."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kubesched.config.types import KubeSchedulerConfiguration, KubeSchedulerProfile


class PluginFacts(msgspec.Struct, frozen=True):
    """What is known of a plugin.

    Attributes:
        points: the extension points that it extends; none if it cannot be loaded.
    """

    points: frozenset[str]


class ReviewedProfile(msgspec.Struct, frozen=True):
    """A profile.

    Attributes:
        path: such as `profiles[0]`.
        document: as it is written; empty if it is not.
        points: its plugins at each extension point, in the order of the calls.
        weights: of the plugins that can score.
    """

    path: str
    written: KubeSchedulerProfile
    document: Mapping[str, Any]
    points: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]

    def disabling_path(self, point: str, name: str) -> str:
        """The entry that disables a plugin at a point: by its name or `*`, there or at multiPoint; else `plugins`."""
        return (
            first_path(
                entry_path(self.document, f"plugins.{where}.disabled", named)
                for where in (point, "multiPoint")
                for named in (name, "*")
            )
            or "plugins"
        )

    def enabling_path(self, point: str, name: str) -> str:
        """The entry that enables a plugin at a point, there or at multiPoint; else `plugins`."""
        return (
            first_path(entry_path(self.document, f"plugins.{where}.enabled", name) for where in (point, "multiPoint"))
            or "plugins"
        )

    def at(self, path: str) -> str:
        """The path of a field of this profile."""
        return f"{self.path}.{path}" if path else self.path


class Review(msgspec.Struct, frozen=True):
    """A configuration.

    Attributes:
        document: as it is written; its values may have any type.
        facts: of a plugin by its name; None if there is none of this name.
    """

    configuration: KubeSchedulerConfiguration
    document: Mapping[str, Any]
    profiles: tuple[ReviewedProfile, ...]
    facts: Callable[[str], PluginFacts | None]


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


def first_path(paths: Iterator[str]) -> str:
    """The first path that is not empty, or the empty one."""
    return next(filter(None, paths), "")
