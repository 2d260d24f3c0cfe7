"""What the advice looks at: the effective configuration next to the document as it is written."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kubesched.config import (
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    Plugins,
    default_plugins,
    entry_path,
    points_without_hook,
    profile_document,
)
from kubesched.errors import PluginDefinitionError
from kubesched.setup import Registry, expand_points


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
        return _first(
            entry_path(self.document, f"plugins.{where}.disabled", named)
            for where in (point, "multiPoint")
            for named in (name, "*")
        )

    def enabling_path(self, point: str, name: str) -> str:
        """The entry that enables a plugin at a point, there or at multiPoint; else `plugins`."""
        return _first(entry_path(self.document, f"plugins.{where}.enabled", name) for where in (point, "multiPoint"))

    def enabled_at(self, point: str) -> set[str]:
        """The plugins at a point; at multiPoint, those at any."""
        return {name for at, names in self.points.items() if point in (at, "multiPoint") for name in names}

    def at(self, path: str) -> str:
        """The path of a field of this profile."""
        return f"{self.path}.{path}" if path else self.path


class Review(msgspec.Struct, frozen=True):
    """A configuration.

    Attributes:
        document: as it is written; its values may have any type.
    """

    configuration: KubeSchedulerConfiguration
    document: Mapping[str, Any]
    profiles: tuple[ReviewedProfile, ...]
    _registry: Registry

    @property
    def default_plugins(self) -> Plugins:
        """What the version that reads the configuration enables by default."""
        return default_plugins(self._registry.release)

    def points_of(self, name: str) -> frozenset[str] | None:
        """The extension points of a plugin, none if it does not load; None for an unknown name."""
        unused = points_without_hook(name, self._registry.release)
        if name not in self._registry:
            return unused or None
        try:
            return self._registry[name].plugin_class.extension_points() | unused
        except PluginDefinitionError:  # an installed plugin that nothing enables
            return frozenset()


def review_of(configuration: KubeSchedulerConfiguration, document: Mapping[str, Any], registry: Registry) -> Review:
    """What there is to look at in a configuration of v1."""
    profiles = []
    for i, profile in enumerate(configuration.profiles):
        points = expand_points(profile.plugins, registry)
        written = profile_document(document, i)
        profiles.append(ReviewedProfile(f"profiles[{i}]", profile, written, points, _weights(profile, points)))
    return Review(configuration, document, tuple(profiles), registry)


def _weights(profile: KubeSchedulerProfile, points: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """As score_weights gives them, also where their sum overflows."""
    entries = (*reversed(profile.plugins.multi_point.enabled), *reversed(profile.plugins.score.enabled))
    return {entry.name: entry.weight or 1 for entry in entries if entry.name in points["score"]}


def _first(paths: Iterator[str]) -> str:
    """The first path that is not empty, or the plugins of the profile."""
    return next(filter(None, paths), "plugins")
