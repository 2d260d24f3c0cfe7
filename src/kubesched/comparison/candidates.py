"""The two sides of a comparison: a configuration with its plugins, under a name, read once for many runs."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kubesched.config import KubeSchedulerConfiguration, effective
from kubesched.errors import ConfigError
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.setup import ArgsLike, ConfigurationLike, PluginLike, Setup, find_plugins, load_configuration, set_up

_NO_ARGS: Mapping[str, ArgsLike] = {}


class Candidate(msgspec.Struct, frozen=True, eq=False):
    """A side of a comparison.

    Attributes:
        name: what reports call it.
        configuration, plugins, plugin_args: what decides, as for load_configuration.
        release: the version of Kubernetes whose rules decide; None for that of the cluster.
        rejected: why its version does not start with it, where that is known before the configuration is read.
        undecided: why kubesched cannot decide as its version; then it has no runs, and at most the other side rejects.
        is_packed: whether NodeResourcesFit has the strategy MostAllocated, whatever the configuration says.

    Example:
        with_plugin = Candidate("TeamZone", None, [TeamZone], {"TeamZone": {"owners": {"shop": "a"}}})
    """

    name: str
    configuration: ConfigurationLike = None
    plugins: Iterable[PluginLike] = ()
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS
    release: Release | None = None
    is_packed: bool = False
    rejected: str = ""
    undecided: str = ""


class ReadCandidate:
    """A candidate whose files are read and whose plugins are imported.

    Attributes:
        name: as given.
        release: the version of Kubernetes whose rules decide.
        configuration: complete and valid.
        plugins: the classes of the user's plugins.
        scheduler_names: of its profiles.

    Raises:
        InputError, ConfigError, PluginDefinitionError: as from load_configuration.
    """

    def __init__(self, candidate: Candidate, release: Release = DEFAULT_RELEASE) -> None:
        self.name = candidate.name
        self.release = release if candidate.release is None else candidate.release
        if candidate.rejected:
            raise ConfigError(candidate.rejected)
        registry = find_plugins(candidate.plugins, release=self.release)
        self.plugins = [registry[name].plugin_class for name in registry.loaded]
        self.configuration: KubeSchedulerConfiguration = load_configuration(
            candidate.configuration, self.plugins, candidate.plugin_args, release=self.release
        )
        if candidate.is_packed:
            document = _packed(self.configuration, self.release)
            self.configuration = load_configuration(document, self.plugins, release=self.release)
        self.scheduler_names = [profile.scheduler_name for profile in self.configuration.profiles]

    def set_up(self) -> Setup:
        """New profiles, for one run."""
        return set_up(self.configuration, self.plugins, release=self.release)


def packed(candidate: Candidate) -> Candidate:
    """The same configuration with NodeResourcesFit's strategy MostAllocated in every profile.

    The weights of the resources stay.

    Example:
        comparison = compare(load_snapshot("cluster.json"), None, packed(Candidate("MostAllocated")), seeds=5)
    """
    return msgspec.structs.replace(candidate, is_packed=True)


def _packed(configuration: KubeSchedulerConfiguration, release: Release) -> bytes:
    """The whole configuration with the other strategy, as JSON."""
    document: dict[str, Any] = effective(configuration, release)
    for profile in document["profiles"]:
        for entry in profile.get("pluginConfig", ()):
            if entry["name"] == "NodeResourcesFit":
                strategy = entry["args"]["scoringStrategy"]
                strategy["type"] = "MostAllocated"
                strategy.pop("requestedToCapacityRatio", None)
    return msgspec.json.encode(document)
